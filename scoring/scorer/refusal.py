"""The refusal: an answer that says it has none, and so is not wrong."""

from collections.abc import Iterator
from dataclasses import dataclass

from scoring.lexicon import Lexicon, PhraseList, RefusalWords
from scoring.text.characters import sentence_ends_between
from scoring.text.prepared_text import PreparedText, Word
from scoring.text.spans import content_stems, span_evidence
from scoring.values.exchange import Evidence, FeatureValue, RefusalKind

REFUSAL = "refusal"

# Whom to ask, and about what: "ask your account manager about your licence".
_MAX_ADVICE_WORDS = 3
# A word that holds one of the question's repeats it: "omzetten" where it was "zet ... om". A prefix
# that is put before a verb has few letters, and the limits bound the search.
_MAX_PREFIX = 5
_MIN_STEM = 3
_MAX_STEM = 20


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that says it has none; ``pure``: and says nothing else.

    Evidence: the sentences that refuse.
    """

    is_pure: bool
    evidence: tuple[Evidence, ...]


def find_refusal(answer: PreparedText, question: PreparedText) -> Refusal | None:
    """Return how an answer refuses, or None where it does not.

    An answer refuses where a sentence of it holds a phrase of the lexicon's ``refusal``. It is pure
    where nothing in it says anything of the product: every content word stands in such a phrase, is
    one of the list that refusals are made of ("documentation"), or repeats the question in a sentence
    that refuses; advice ("contact your account manager") may have three others. So a button, a number
    or a verb of its own make it an answer like any other, and so do "yes", "no" and "that can be done".

    >>> from scoring.lexicon import load_shipped
    >>> english = load_shipped()["en"]
    >>> question = PreparedText.of("How do I copy a schedule?", english)
    >>> refusal(PreparedText.of("I could not find how to copy a schedule.", english), question).pure
    True
    >>> refusal(PreparedText.of("I could not find that, but click Copy.", english), question).pure
    False
    """
    lists = answer.lexicon.refusal
    sentences = tuple(_sentences(answer, lists))
    refusing = [sentence for sentence in sentences if lists.phrases.occurs(_texts(sentence))]
    if not refusing:
        return None
    asked = question.cached(content_stems)
    pure = answer.words[0].text not in lists.verdicts and not any(
        _has_own_content(sentence, answer, asked) for sentence in sentences
    )
    spans = ((sentence[0].start, sentence[-1].end) for sentence in refusing)
    return Refusal(pure, span_evidence(REFUSAL, answer, spans))


def refusal_kind(refusal: Refusal | None) -> RefusalKind:
    """Return what the policy is told of an answer."""
    if refusal is None:
        return RefusalKind.NONE
    return RefusalKind.FULL if refusal.is_pure else RefusalKind.PARTIAL


def refusal_feature(refusal: Refusal | None) -> tuple[FeatureValue, ...]:
    """Return the evidence of a refusal as a feature without a value: it says nothing about the score."""
    return (FeatureValue(REFUSAL, None, refusal.evidence),) if refusal else ()


def _sentences(answer: PreparedText, lists: RefusalWords) -> Iterator[tuple[Word, ...]]:
    """Yield the words sentence by sentence; what follows a word such as "but" is one of its own."""
    words: list[Word] = []
    for word in answer.words:
        if words and (
            word.text in lists.contrasts or sentence_ends_between(answer.original, words[-1].end, word.start)
        ):
            yield tuple(words)
            words = []
        words.append(word)
    if words:
        yield tuple(words)


def _occurs_in_question(stem: str, question_stems: frozenset[str]) -> bool:
    """Say whether a stem, or a part of it, is a content word of the question."""
    return any(
        stem[start:end] in question_stems
        for start in range(min(len(stem), _MAX_PREFIX + 1))
        for end in range(start + _MIN_STEM, min(len(stem), _MAX_STEM) + 1)
    )


def _has_own_content(
    sentence: tuple[Word, ...], answer: PreparedText, question_stems: frozenset[str]
) -> bool:
    lexicon, lists = answer.lexicon, answer.lexicon.refusal
    texts = _texts(sentence)
    refused, advised = _phrase_indices(texts, lists.phrases), _phrase_indices(texts, lists.advice)
    left = [word for index, word in enumerate(sentence) if index not in refused | advised]
    own = [word for word in left if _is_content(word.text, lexicon)]
    new = [word for word in own if not _occurs_in_question(lexicon.stem(word.text), question_stems)]
    if advised and not refused:
        return len(new) > _MAX_ADVICE_WORDS or any(_may_be_name(word, answer) for word in new)
    if refused:
        return bool(new)
    # "The invoice can be deleted" has no word that is not the question's, and "that can be done" no
    # content word at all, and yet they answer.
    return bool(own) or (lists.words.isdisjoint(texts) and len(texts) > 1)


def _phrase_indices(texts: tuple[str, ...], phrases: PhraseList) -> set[int]:
    return {index for first, last in phrases.find(texts) for index in range(first, last)}


def _is_content(text: str, lexicon: Lexicon) -> bool:
    lists = lexicon.refusal
    return not any(text in words for words in (lexicon.function_words, lists.words, lists.contrasts))


def _may_be_name(word: Word, answer: PreparedText) -> bool:
    """Say whether a word may be a name, a number or what one does with a component."""
    lexicon = answer.lexicon
    verbs = lexicon.action_verbs | lexicon.instruction_verbs | lexicon.component_nouns
    return not answer.original[word.start].islower() or not word.text.isalpha() or word.text in verbs


def _texts(words: tuple[Word, ...]) -> tuple[str, ...]:
    return tuple(word.text for word in words)
