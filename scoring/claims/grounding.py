"""Grounding: the passage of the documents that best matches each claim."""

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, takewhile

import numpy as np
from numpy.typing import NDArray

from scoring.claims.claim_extraction import Claim, ClaimKind, ContentWord, claims, content_words
from scoring.figures.figure_checking import FigureClaim, check_clause
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import sentence_tokens, token_span
from scoring.values.checked_claims import ClaimStatus

Levels = NDArray[np.float32]

# The match levels of two words: the same, with a common root ("approve", "approval"), a compound with the
# word ("factuur", "conceptfactuur"), or a part of the compound.
_SAME, _COMMON_ROOT, _COMPOUND, _PART = 1.0, 0.9, 0.8, 0.5
_ROOT = 5
_MIN_LENGTH_RATIO = 0.7
_MIN_PART = 4
_MIN_COMPOUND = 8
_MAX_COMPOUND = 40
# Words with a common prefix that are compared; no help text has more.
_MAX_SIMILAR = 40


@dataclass(frozen=True, slots=True, eq=False)
class SentenceIndex:
    """The sentences of a text by the forms of their words.

    ``spans``: their spans; ``forms``: the keys of ``sentences_by_form``, sorted; ``reversed_forms``: the same
    reversed, and sorted.
    """

    spans: tuple[tuple[int, int], ...]
    sentences_by_form: Mapping[str, NDArray[np.intp]]
    forms: tuple[str, ...]
    reversed_forms: tuple[str, ...]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the span of a range of sentences."""
        return self.spans[first][0], self.spans[last][1]

    def match_levels(self, word: ContentWord) -> Levels:
        """Return for each sentence how well it matches a word, in [0, 1]."""
        levels = np.zeros(len(self.spans), dtype=np.float32)
        for form, level in self._similar_forms(word):
            indices = self.sentences_by_form[form]
            levels[indices] = np.maximum(levels[indices], level)
        return levels

    def sentence_count(self, word: ContentWord) -> int:
        """Return how many sentences have the word itself."""
        return max(len(self.sentences_by_form.get(form, ())) for form in word)

    def _similar_forms(self, word: ContentWord) -> Iterator[tuple[str, float]]:
        for form in word:
            if len(form) >= _ROOT:
                yield from self._with_common_root(form)
                yield from self._compounds(form)
            if _MIN_COMPOUND <= len(form) <= _MAX_COMPOUND:
                yield from self._parts(form)
            if form in self.sentences_by_form:
                yield form, _SAME

    def _with_common_root(self, form: str) -> Iterator[tuple[str, float]]:
        for other in _with_prefix(form[:_ROOT], self.forms):
            shorter, longer = sorted((form, other), key=len)
            if longer.startswith(shorter) or len(shorter) >= _MIN_LENGTH_RATIO * len(longer):
                yield other, _COMMON_ROOT

    def _compounds(self, form: str) -> Iterator[tuple[str, float]]:
        min_length = max(_MIN_COMPOUND, len(form) + _MIN_PART)
        with_suffix = (other[::-1] for other in _with_prefix(form[::-1], self.reversed_forms))
        for other in chain(_with_prefix(form, self.forms), with_suffix):
            if len(other) >= min_length:
                yield other, _COMPOUND

    def _parts(self, form: str) -> Iterator[tuple[str, float]]:
        for cut in range(_MIN_PART, len(form) - _MIN_PART + 1):
            parts = [part for part in (form[:cut], form[cut:]) if part in self.sentences_by_form]
            for part in parts:
                yield part, _COMPOUND if len(parts) > 1 else _PART


def sentence_index(text: PreparedText) -> SentenceIndex:
    """Return the index of the sentences of a text."""
    sentences = sentence_tokens(text)
    indices: defaultdict[str, list[int]] = defaultdict(list)
    for index, tokens in enumerate(sentences):
        for form in set(chain(*content_words(text, tokens))):
            indices[form].append(index)
    return SentenceIndex(
        spans=tuple(token_span(text, tokens) for tokens in sentences),
        sentences_by_form={form: np.array(numbers, dtype=np.intp) for form, numbers in indices.items()},
        forms=tuple(sorted(indices)),
        reversed_forms=tuple(sorted(form[::-1] for form in indices)),
    )


def _with_prefix(prefix: str, forms: tuple[str, ...]) -> Iterator[str]:
    first = bisect_left(forms, prefix)
    return takewhile(lambda form: form.startswith(prefix), islice(forms, first, first + _MAX_SIMILAR))


# A sign is not a word, so the span of a claim excludes one before or after it: "€ 57", "50%".
_SIGN_BEFORE = re.compile(r"[€$£][ \u00a0]?\Z")
_SIGN_AFTER = re.compile(r"[ \u00a0]?[%€$£]")
_MAX_SIGN = 2


def figure_claims(exchange: PreparedExchange) -> tuple[FigureClaim, ...]:
    """Return the answer's figures that might follow from data of the documents, in order.

    Translations are not used, since they may have changed how a number is written.
    """
    return () if exchange.answer.source is not None else tuple(_figure_claims(exchange))


def _figure_claims(exchange: PreparedExchange) -> Iterator[FigureClaim]:
    # Several passages may be of one document, so each is named by its index in the context.
    documents = {
        str(index): document.text
        for index, document in enumerate(exchange.context)
        if document.body_start is not None
    }
    answer = exchange.answer
    for claim in answer.cached(claims) if documents else ():
        if claim.kind is ClaimKind.CLAIM:
            start, end = span_with_signs(answer, claim)
            if figure := check_clause(answer.original[start:end], start, answer.lexicon, documents):
                yield figure


def figure_claim(claim: Claim, exchange: PreparedExchange) -> FigureClaim | None:
    """Return the figure of a claim that might follow from data, if it has one."""
    start, end = claim.start - _MAX_SIGN, claim.end + _MAX_SIGN
    figures = exchange.cached(figure_claims)
    return next((figure for figure in figures if start <= figure.start and figure.end <= end), None)


def has_uncomputed_figure(claim: Claim, exchange: PreparedExchange) -> bool:
    """Return whether a claim has a figure that may follow from data, but could not be computed."""
    figure = figure_claim(claim, exchange)
    return figure is not None and figure.status is ClaimStatus.NOT_CHECKABLE


def derivable_figure_spans(exchange: PreparedExchange) -> tuple[tuple[int, int], ...]:
    """Return the spans of the answer's figures that follow from data, or may."""
    figures = exchange.cached(figure_claims)
    confirmed = ((each.start, each.end) for each in figures if each.status is ClaimStatus.SUPPORTED)
    return (*confirmed, *(span for each in figures for span in each.open_spans))


def span_with_signs(answer: PreparedText, claim: Claim) -> tuple[int, int]:
    """Return the span of a claim including the signs of its first and last figure."""
    before = _SIGN_BEFORE.search(answer.original[max(claim.start - _MAX_SIGN, answer.start) : claim.start])
    after = _SIGN_AFTER.match(answer.original, claim.end, answer.end)
    return claim.start - len(before.group() if before else ""), after.end() if after else claim.end


# A word of the question is not invented, but not supported either.
_QUESTION_WEIGHT = 0.7
# A passage includes a sentence next to the best one if it adds more than this share.
_MIN_ADDED_SHARE = 0.03
_TIE_BREAK = 1e-6

_Gains = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grounding:
    """The best passage for a claim.

    ``share``: the weighted share of the claim's words that passage and question have, in [0, 1]; ``weight``:
    that of all its words. ``document_index``: None where no document has any of them.
    """

    share: float
    weight: float
    document_index: int | None = None
    first_sentence: int = 0
    last_sentence: int = 0


def ground_words(
    words: Sequence[ContentWord], documents: Sequence[SentenceIndex], question: SentenceIndex | None
) -> Grounding:
    """Return the passage of three consecutive sentences with the most words.

    A word weighs more the fewer sentences have it. It counts fully where the passage has it, partially where
    the passage has a similar one (:class:`SentenceIndex`), and at 70% where only the question has it.

    Args:
        words: the content words of a claim, at least one.
        documents: those of the context.
        question: the question; None to ignore it.
    """
    sentence_count = sum(len(document.spans) for document in documents)
    # Inverse document frequency over sentences; 1 where there are none.
    weights = np.array(
        [
            math.log(1 + sentence_count / (sum(doc.sentence_count(word) for doc in documents) + 0.5)) or 1.0
            for word in words
        ]
    )
    total = math.fsum(weights)
    in_question = np.array(
        [
            _QUESTION_WEIGHT * float(question.match_levels(word).max(initial=0.0)) if question else 0.0
            for word in words
        ]
    )
    best = Grounding(math.fsum(weights * in_question) / total, total)
    for index, document in enumerate(documents):
        if document.spans:
            levels = [document.match_levels(word) for word in words]
            gains = np.maximum(levels, in_question[:, np.newaxis]) * weights[:, np.newaxis]
            # On a tie the first one stays.
            best = max(best, _best_passage(gains, total, index), key=lambda grounding: grounding.share)
    return best


def _best_passage(gains: _Gains, total: float, document_index: int) -> Grounding:
    """Return the best passage of a document from each word's (row's) gain in each sentence."""
    wide = gains.copy()
    wide[:, 1:] = np.maximum(wide[:, 1:], gains[:, :-1])
    wide[:, :-1] = np.maximum(wide[:, :-1], gains[:, 1:])
    sums = wide.sum(axis=0)
    # Of neighbours with the same sum, the sentence with the largest own gain.
    middle = int((sums + _TIE_BREAK * gains.sum(axis=0)).argmax())
    enough = float(sums[middle]) - _MIN_ADDED_SHARE * total
    widest = max(middle - 1, 0), min(middle + 1, gains.shape[1] - 1)
    first, last = next(
        (
            (first, last)
            for first, last in ((middle, middle), (widest[0], middle), (middle, widest[1]))
            if gains[:, first : last + 1].max(axis=1).sum() >= enough
        ),
        widest,
    )
    return Grounding(min(float(sums[middle]) / total, 1.0), total, document_index, first, last)


# A passage with such a share has the claim itself, so its figure need not be computed.
_FULL_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class GroundedClaim:
    """A claim of the answer; ``grounding`` is None where nothing about the product is claimed.

    It is also None for a figure that may follow from the documents' data and cannot be computed: true or not,
    no passage has its words.
    """

    claim: Claim
    grounding: Grounding | None


def grounded_claims(exchange: PreparedExchange) -> tuple[GroundedClaim, ...]:
    """Return the claims of the answer in order, each with its grounding in the documents."""
    documents = [document.text.cached(sentence_index) for document in exchange.context]
    question = exchange.question.cached(sentence_index)
    grounded = []
    for claim in exchange.answer.cached(claims):
        grounding = None
        if claim.kind is ClaimKind.CLAIM and claim.words:
            grounding = ground_words(claim.words, documents, question)
            if grounding.share < _FULL_SHARE and has_uncomputed_figure(claim, exchange):
                grounding = None
        grounded.append(GroundedClaim(claim, grounding))
    return tuple(grounded)


def question_coverage(exchange: PreparedExchange) -> float:
    """Return the weighted share of the question's words that the best passage has, in [0, 1].

    0 for a question without any content word.
    """
    words = [word for claim in exchange.question.cached(claims) for word in claim.words]
    documents = [document.text.cached(sentence_index) for document in exchange.context]
    return ground_words(words, documents, None).share if words else 0.0
