"""The message type of a question (paper, section V-A), and how far an answer refuses."""

from dataclasses import dataclass

from scoring.features.error_mismatch import error_codes
from scoring.lexicon import MessageTypePatterns, RefusalWords
from scoring.text.characters import sentence_ends_between
from scoring.text.prepared_text import PreparedText, Word, clause_starts
from scoring.text.spans import content_stems, span_evidence
from scoring.values.exchange import Evidence, MessageType, RefusalKind


def message_type(question: PreparedText) -> MessageType:
    """Return the type of the first list of the question's lexicon that has a hit.

    The lists have the paper's order (error, general, reasoning, instruction, binary), after one for
    ``action``, for which the paper had none: a text to be written may be about anything. Two things differ,
    as the figures below justify. Lists have exceptions ("what is" is general, "what is the cause" is not).
    And the paper takes every message without a question mark that none of its first lists matches for
    ``reasoning``; here instruction and binary come first ("how do I do this" without its mark), then two
    lists for statements, complaints (``error``) and wishes (``instruction``), and the lexicon decides on the
    rest: a question is binary, a statement unspecified.

    Measured (share of messages with the right type; F1 of "is binary or instruction"), the paper's lists to
    the letter against these: 80 development questions, on which the lists were written, Dutch .79; .87
    against 1.00; 1.00, English .81; .90 against 1.00; 1.00. 100 questions on another product, Dutch .60; .90
    against .66; .90, English .55; .88 against .67; .92.

    >>> from scoring.lexicon import load_shipped
    >>> message_type(PreparedText.of("How would I adjust tax rates?", load_shipped()["en"])).value
    'instruction'
    """
    lexicon = question.lexicon
    for patterns in lexicon.message_types:
        if _hits(patterns, question):
            return patterns.type
    return lexicon.if_question if "?" in question.compared_text else lexicon.if_statement


def _hits(patterns: MessageTypePatterns, question: PreparedText) -> bool:
    if patterns.type is MessageType.ERROR and not patterns.in_statements and question.cached(error_codes):
        return True
    starts = clause_starts(question)
    excluded = _question_word_indices(question, starts) if patterns.in_statements else frozenset()
    return any(first not in excluded for first, _ in patterns.hits(question.word_texts, starts))


def _question_word_indices(question: PreparedText, starts: frozenset[int]) -> frozenset[int]:
    """Return the indices of the words in clauses that end with a question mark."""
    indices: set[int] = set()
    clause_start = 0
    for index, word in enumerate(question.words):
        clause_start = index if index in starts else clause_start
        next_start = question.words[index + 1].start if index + 1 < len(question.words) else question.end
        if "?" in question.original[word.end : next_start]:
            indices.update(range(clause_start, index + 1))
    return frozenset(indices)


REFUSAL = "refusal"

# Advice names a person and a topic: "ask your account manager about your licence".
_MAX_ADVICE_WORDS = 3
# A word repeats one of the question that it contains: "omzetten" for "zet ... om". A verb's prefix is short,
# and the limits bound the search.
_MAX_PREFIX = 5
_MIN_STEM = 3
_MAX_STEM = 20


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal: FULL where the answer says nothing else, otherwise PARTIAL.

    Evidence: the refusing sentences.
    """

    kind: RefusalKind
    evidence: tuple[Evidence, ...]


def find_refusal(answer: PreparedText, question: PreparedText) -> Refusal | None:
    """Return how an answer refuses, or None where it does not.

    An answer refuses where a sentence has a phrase of the lexicon's ``refusal``. The refusal is full where
    nothing in the answer is about the product: every content word is part of such a phrase, is one of the
    refusal words ("documentation"), or repeats the question in a refusing sentence; advice ("contact your
    account manager") may have three others. So a button, a number or a verb of its own makes it partial, and
    so do "yes", "no" and "that can be done".

    >>> from scoring.lexicon import load_shipped
    >>> english = load_shipped()["en"]
    >>> question = PreparedText.of("How do I copy a schedule?", english)
    >>> answers = "I could not find how to copy a schedule.", "I could not find that, but click Copy."
    >>> [find_refusal(PreparedText.of(answer, english), question).kind.name for answer in answers]
    ['FULL', 'PARTIAL']
    """
    words = answer.lexicon.refusal
    sentences = _sentences(answer, words)
    refusing = [sentence for sentence in sentences if words.phrases.occurs(_texts(sentence))]
    if not refusing:
        return None
    question_stems = question.cached(content_stems)
    is_partial = answer.words[0].text in words.verdicts or any(
        _has_own_content(sentence, answer, question_stems) for sentence in sentences
    )
    spans = ((sentence[0].start, sentence[-1].end) for sentence in refusing)
    kind = RefusalKind.PARTIAL if is_partial else RefusalKind.FULL
    return Refusal(kind, span_evidence(REFUSAL, answer, spans))


def _sentences(answer: PreparedText, refusal_words: RefusalWords) -> list[list[Word]]:
    """Return the words by sentence; a contrast word such as "but" starts a sentence too."""
    sentences: list[list[Word]] = []
    for word in answer.words:
        if (
            not sentences
            or word.text in refusal_words.contrasts
            or sentence_ends_between(answer.original, sentences[-1][-1].end, word.start)
        ):
            sentences.append([])
        sentences[-1].append(word)
    return sentences


def _occurs_in_question(stem: str, question_stems: frozenset[str]) -> bool:
    """Return whether a stem, or a part of it, is a content word of the question."""
    return any(
        stem[start:end] in question_stems
        for start in range(min(len(stem), _MAX_PREFIX + 1))
        for end in range(start + _MIN_STEM, min(len(stem), _MAX_STEM) + 1)
    )


def _has_own_content(sentence: list[Word], answer: PreparedText, question_stems: frozenset[str]) -> bool:
    lexicon, words = answer.lexicon, answer.lexicon.refusal
    texts = _texts(sentence)
    refusing, advising = (
        {index for first, end in phrases.find(texts) for index in range(first, end)}
        for phrases in (words.phrases, words.advice)
    )
    content = [
        word
        for index, word in enumerate(sentence)
        if index not in refusing | advising
        and word.text not in lexicon.function_words | words.words | words.contrasts
    ]
    new = [word for word in content if not _occurs_in_question(lexicon.stem(word.text), question_stems)]
    if advising and not refusing:
        return len(new) > _MAX_ADVICE_WORDS or any(_may_be_name(word, answer) for word in new)
    if refusing:
        return bool(new)
    # "The invoice can be deleted" only repeats the question, and "that can be done" has no content word, and
    # yet they answer.
    return bool(content) or (words.words.isdisjoint(texts) and len(texts) > 1)


def _may_be_name(word: Word, answer: PreparedText) -> bool:
    """Return whether a word may be a name, a number or a verb for using a component."""
    lexicon = answer.lexicon
    verbs = lexicon.action_verbs | lexicon.instruction_verbs | lexicon.component_nouns
    return not answer.original[word.start].islower() or not word.text.isalpha() or word.text in verbs


def _texts(words: list[Word]) -> tuple[str, ...]:
    return tuple(word.text for word in words)
