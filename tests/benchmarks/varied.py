"""As many documents as asked for, each unlike the others, made of those of the sample in both languages."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import get_args

from schemas import ChatbotAnswer, KnowledgeDocument
from streams.cli.demo.sample import Language, sample_answers, sample_documents

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
#: Of a hundred words, so many are exchanged for another of the language, and so many for a name.
_OTHER_WORDS, _NAMES = 10, 4
WORD = re.compile(r"[^\W\d_]{4,}")
_SYLLABLES = ("ba", "cor", "del", "fi", "gra", "lun", "mo", "nex", "pri", "sol", "tam", "vo", "wer", "zil")


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer of the sample, and the positions among the originals of the documents that it names."""

    answer: ChatbotAnswer
    documents: tuple[int, ...]


def originals() -> list[KnowledgeDocument]:
    """Give the documents of the sample, the languages in turn."""
    lists = [sample_documents(language) for language in get_args(Language)]
    return [document for group in zip(*lists, strict=True) for document in group]


def varied(count: int) -> Iterator[KnowledgeDocument]:
    """Give so many documents; number ``n`` varies the original ``n % len(originals())``."""
    bases = originals()
    words = {language: words_of(bases, language) for language in get_args(Language)}
    for number in range(count):
        base = bases[number % len(bases)]
        yield _variation(base, number, words[base.language])


def varied_id(base: KnowledgeDocument, number: int) -> str:
    """Give the id of document ``number``, which varies ``base``."""
    return f"{base.document_id}.{number}"


def asked() -> list[Asked]:
    """Give the answers of the sample, the languages in turn."""
    position = {(one.language, one.document_id): number for number, one in enumerate(originals())}
    lists = [sample_answers(language) for language in get_args(Language)]
    return [
        Asked(answer, tuple(position[answer.language or "", key] for key in answer.document_ids))
        for group in zip(*lists, strict=True)
        for answer in group
    ]


def _variation(base: KnowledgeDocument, number: int, words: Sequence[str]) -> KnowledgeDocument:
    chance = random.Random(number)
    text = WORD.sub(lambda found: other_word(found[0], chance, words), base.text)
    title = f"{base.title} {_name(chance)} {number}"
    return replace(base, document_id=varied_id(base, number), title=title, text=text, updated_at=WHEN)


def other_word(word: str, chance: random.Random, words: Sequence[str]) -> str:
    """Give the word, or at times another of the language, or a name."""
    drawn = chance.randrange(100)
    if drawn < _OTHER_WORDS:
        return chance.choice(words)
    return _name(chance) if drawn < _OTHER_WORDS + _NAMES else word


def _name(chance: random.Random) -> str:
    return "".join(chance.choices(_SYLLABLES, k=3)).title()


def words_of(documents: Sequence[KnowledgeDocument], language: str) -> list[str]:
    """Give the words of the documents of a language, each once, in order."""
    return sorted({word for one in documents if one.language == language for word in WORD.findall(one.text)})
