"""The answers that a worker is given: as many as asked for, of one language, with their documents inline.

Each is one of the sample's, about a document of which there are several variations; documents repeat as at
a help desk (Zipf). What is exchanged in a document is exchanged in question and answer alike, so that what
was quoted stays quoted, and two words of each answer are its own: no answer comes twice, and all are as
long as those of the sample.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from schemas import ChatbotAnswer, ContextPassage
from streams.cli.demo.sample import Language, sample_answers, sample_documents
from tests.benchmarks.varied import WORD, other_word, words_of

#: Of each document; with the sample's 36 in a language, some hundred and eighty are in use.
_VARIATIONS = 5
_OWN_WORDS = 2
_IN_CONVERSATION = 3


def answers(language: Language, count: int) -> list[ChatbotAnswer]:
    """Give so many answers, always the same ones, three to a conversation."""
    words, chance = words_of(sample_documents(language), language), random.Random(language)
    bases = [answer for number in range(_VARIATIONS) for answer in _varied(language, number, words)]
    documents = sorted({answer.context[0].document_id for answer in bases})
    chance.shuffle(documents)
    rank = {document: number for number, document in enumerate(documents, 1)}
    weights = [1 / rank[answer.context[0].document_id] for answer in bases]
    drawn = chance.choices(bases, weights, k=count)
    return [_with_own_words(answer, number, chance, words) for number, answer in enumerate(drawn)]


def _varied(language: Language, number: int, words: Sequence[str]) -> list[ChatbotAnswer]:
    """Give the sample's answers that name documents, in variation ``number`` of all of their texts."""
    passages = {
        one.document_id: ContextPassage(
            f"{one.document_id}.{number}", _variation(one.text, number, words), f"{one.title} {number}"
        )
        for one in sample_documents(language)
    }
    return [
        replace(
            answer,
            question=_variation(answer.question, number, words),
            answer=_variation(answer.answer, number, words),
            document_ids=(),
            context=tuple(passages[i] for i in answer.document_ids),
        )
        for answer in sample_answers(language)
        if answer.document_ids
    ]


def _variation(text: str, number: int, words: Sequence[str]) -> str:
    """Exchange words of a text: in one variation the same word for the same other one everywhere."""
    return WORD.sub(lambda found: other_word(found[0], random.Random(f"{number} {found[0]}"), words), text)


def _with_own_words(
    answer: ChatbotAnswer, number: int, chance: random.Random, words: Sequence[str]
) -> ChatbotAnswer:
    text = answer.answer
    for word in chance.sample(found := WORD.findall(text), min(_OWN_WORDS, len(found))):
        text = text.replace(word, chance.choice(words), 1)
    conversation = f"c-{number // _IN_CONVERSATION}"
    return replace(answer, answer_id=f"a-{number}", conversation_id=conversation, answer=text)
