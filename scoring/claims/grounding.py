"""Grounding: for each claim the passage of the documents that has most of what it says."""

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, takewhile

import numpy as np
from numpy.typing import NDArray

from scoring.claims.claim_extraction import Claim, ClaimKind, ContentWord, claims, content_words
from scoring.figures.figure_checking import (
    DataSource,
    FigureClaim,
    FigureOutcome,
    check_clause,
    derivation_hints,
)
from scoring.figures.tables import listings
from scoring.text.prepared_text import PreparedExchange, PreparedPassage, PreparedText
from scoring.text.spans import sentence_tokens, token_span

Levels = NDArray[np.float32]

# How much of a word another one is: of one root with it ("approve", "approval"), a compound that begins or
# ends with it ("factuur", "conceptfactuur"), or the other way round a part of it.
_SAME, _OF_ONE_ROOT, _COMPOUND, _PART = 1.0, 0.9, 0.8, 0.5
_ROOT = 5
_ALIKE_LENGTH = 0.7
_SHORTEST_PART = 4
_SHORTEST_COMPOUND = 8
_LONGEST_COMPOUND = 40
# So many words of one beginning are compared; a document that has more is no help text.
_MOST_ALIKE = 40


@dataclass(frozen=True, slots=True, eq=False)
class SentenceIndex:
    """The sentences of a text: ``spans`` are their places, ``places`` tells in which of them a form stands.

    ``forms`` are the keys of ``places`` in order, ``endings`` the same reversed, in order too.
    """

    spans: tuple[tuple[int, int], ...]
    sentences_by_form: Mapping[str, NDArray[np.intp]]
    forms: tuple[str, ...]
    reversed_forms: tuple[str, ...]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the place of the sentences from one up to another."""
        return self.spans[first][0], self.spans[last][1]

    def match_levels(self, word: ContentWord) -> Levels:
        """Return for each sentence how far it has a word, in [0, 1]."""
        found = np.zeros(len(self.spans), dtype=np.float32)
        for form, level in self._similar_forms(word):
            places = self.sentences_by_form[form]
            found[places] = np.maximum(found[places], level)
        return found

    def sentence_count(self, word: ContentWord) -> int:
        """Return how many sentences have the word itself."""
        return max(
            (len(self.sentences_by_form[form]) for form in word.forms if form in self.sentences_by_form),
            default=0,
        )

    def _similar_forms(self, word: ContentWord) -> Iterator[tuple[str, float]]:
        for form in word.forms:
            yield from self._of_one_root(form)
            yield from self._compounds(form)
            yield from self._parts(form)
            if form in self.sentences_by_form:
                yield form, _SAME

    def _of_one_root(self, form: str) -> Iterator[tuple[str, float]]:
        if len(form) < _ROOT:
            return
        for other in _with_prefix(form[:_ROOT], self.forms):
            shorter, longer = sorted((form, other), key=len)
            if longer.startswith(shorter) or len(shorter) >= _ALIKE_LENGTH * len(longer):
                yield other, _OF_ONE_ROOT

    def _compounds(self, form: str) -> Iterator[tuple[str, float]]:
        if len(form) < _ROOT:
            return
        least = max(_SHORTEST_COMPOUND, len(form) + _SHORTEST_PART)
        ended = (other[::-1] for other in _with_prefix(form[::-1], self.reversed_forms))
        for other in chain(_with_prefix(form, self.forms), ended):
            if len(other) >= least:
                yield other, _COMPOUND

    def _parts(self, form: str) -> Iterator[tuple[str, float]]:
        if not _SHORTEST_COMPOUND <= len(form) <= _LONGEST_COMPOUND:
            return
        for cut in range(_SHORTEST_PART, len(form) - _SHORTEST_PART + 1):
            parts = [part for part in (form[:cut], form[cut:]) if part in self.sentences_by_form]
            for part in parts:
                yield part, _COMPOUND if len(parts) > 1 else _PART


def sentence_index(text: PreparedText) -> SentenceIndex:
    """Return the sentences of a text with the words that stand in them."""
    runs = sentence_tokens(text)
    places: defaultdict[str, list[int]] = defaultdict(list)
    for number, run in enumerate(runs):
        for form in {form for word in content_words(text, run) for form in word.forms}:
            places[form].append(number)
    forms = tuple(sorted(places))
    return SentenceIndex(
        spans=tuple(token_span(text, run) for run in runs),
        sentences_by_form={form: np.array(numbers, dtype=np.intp) for form, numbers in places.items()},
        forms=forms,
        reversed_forms=tuple(sorted(form[::-1] for form in forms)),
    )


def _with_prefix(beginning: str, ordered: tuple[str, ...]) -> Iterator[str]:
    first = bisect_left(ordered, beginning)
    return takewhile(lambda form: form.startswith(beginning), islice(ordered, first, first + _MOST_ALIKE))


# A sign is no word, so a claim that begins or ends with one ends before it: "€ 57", "50%".
_SIGN_BEFORE = re.compile(r"[€$£][ \u00a0]?\Z")
_SIGN_AFTER = re.compile(r"[ \u00a0]?[%€$£]")
_WIDEST_SIGN = 2


def figure_claims(exchange: PreparedExchange) -> tuple[FigureClaim, ...]:
    """Return what the answer claims that follows from data of the documents, in order.

    Only texts as they came are computed with: a translation may have changed how a number is written.
    """
    return () if exchange.answer.source is not None else tuple(_figure_claims(exchange))


def figure_claim(claim: Claim, exchange: PreparedExchange) -> FigureClaim | None:
    """Return the figure of a claim that might follow from data, or None where it has none."""
    return next(
        (
            found
            for found in exchange.cached(figure_claims)
            if claim.start - _WIDEST_SIGN <= found.start and found.end <= claim.end + _WIDEST_SIGN
        ),
        None,
    )


def has_uncomputed_figure(claim: Claim, exchange: PreparedExchange) -> bool:
    """Say whether a claim is about a figure that may follow from data, and could not be computed."""
    found = figure_claim(claim, exchange)
    return found is not None and found.outcome is FigureOutcome.NOT_CHECKABLE


def derivable_figure_spans(exchange: PreparedExchange) -> tuple[tuple[int, int], ...]:
    """Return the places of the answer's figures that follow from data or, as far as can be told, may."""
    found = exchange.cached(figure_claims)
    confirmed = ((each.start, each.end) for each in found if each.outcome is FigureOutcome.CONFIRMED)
    return (*confirmed, *(span for each in found for span in each.open_spans))


def _figure_claims(exchange: PreparedExchange) -> Iterator[FigureClaim]:
    # Several passages may be of one document, so each is named by its place in the context.
    sources = [
        DataSource(str(place), document.text.cached(listings), document.text.cached(derivation_hints))
        for place, document in enumerate(exchange.context)
        if document.body_start is not None
    ]
    answer = exchange.answer
    for claim in answer.cached(claims) if sources else ():
        if claim.kind is ClaimKind.CLAIM:
            start, end = span_with_signs(answer, claim)
            if found := check_clause(answer.original[start:end], start, answer.lexicon, sources):
                yield found


def span_with_signs(answer: PreparedText, claim: Claim) -> tuple[int, int]:
    """Return the place of a claim with the signs of its first and last figure."""
    before = _SIGN_BEFORE.search(answer.original[max(claim.start - _WIDEST_SIGN, answer.start) : claim.start])
    after = _SIGN_AFTER.match(answer.original, claim.end, answer.end)
    return claim.start - len(before.group() if before else ""), after.end() if after else claim.end


# A word that the question supplies is no invention, and yet no support either.
_QUESTION_WEIGHT = 0.7
# A sentence beside the best one is quoted with it where it adds more than that.
_MIN_ADDED_SHARE = 0.03
_TIE_BREAK = 1e-6

_Gains = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grounding:
    """Where a claim stands best, and how much of it.

    ``share``: of its words by weight, in [0, 1], what the passage and the question have; ``weight``: that of
    all its words. ``document``: which of the documents, None where none has any of it; ``first`` and
    ``last``: the sentences of the passage there.
    """

    share: float
    weight: float
    document_index: int | None = None
    first_sentence: int = 0
    last_sentence: int = 0


def ground_words(
    words: Sequence[ContentWord], documents: Sequence[SentenceIndex], question: SentenceIndex | None
) -> Grounding:
    """Return where the words stand together best: in three sentences that follow each other.

    A word weighs the more the fewer sentences have it. It counts whole where it stands in the passage, in
    part where only one alike does (see :class:`Passages`), and to 70% where it is in the question alone.

    Args:
        words: the content words of a claim, at least one.
        documents: those of the context.
        question: the question; None to leave it out.
    """
    sentences = sum(len(document.spans) for document in documents)
    weights = np.array([_weight(word, documents, sentences) for word in words])
    total = math.fsum(weights)
    known = np.array([_QUESTION_WEIGHT * _question_level(question, word) for word in words])
    best = Grounding(math.fsum(weights * known) / total, total)
    for place, document in enumerate(documents):
        if document.spans:
            gains = np.maximum([document.match_levels(word) for word in words], known[:, np.newaxis])
            found = _best_passage(gains * weights[:, np.newaxis], total, place)
            best = max(best, found, key=lambda each: each.share)  # the first of equals
    return best


def _best_passage(gains: _Gains, total: float, place: int) -> Grounding:
    """Return the best passage of the document at ``place``: what each word (row) gains in each sentence."""
    wide = gains.copy()
    wide[:, 1:] = np.maximum(wide[:, 1:], gains[:, :-1])
    wide[:, :-1] = np.maximum(wide[:, :-1], gains[:, 1:])
    sums = wide.sum(axis=0)
    # Of neighbours that have the same, the one that has most by itself.
    middle = int((sums + _TIE_BREAK * gains.sum(axis=0)).argmax())
    first, last = _narrowest_span(gains, middle, float(sums[middle]) - _MIN_ADDED_SHARE * total)
    return Grounding(min(float(sums[middle]) / total, 1.0), total, place, first, last)


def _narrowest_span(gains: _Gains, middle: int, enough: float) -> tuple[int, int]:
    """Return the fewest of the three sentences around ``middle`` that together gain enough."""
    ends = max(middle - 1, 0), min(middle + 1, gains.shape[1] - 1)
    spans = ((middle, middle), (ends[0], middle), (middle, ends[1]), ends)
    return next(
        ((first, last) for first, last in spans if gains[:, first : last + 1].max(axis=1).sum() >= enough),
        ends,
    )


def _weight(word: ContentWord, documents: Sequence[SentenceIndex], sentences: int) -> float:
    return (
        math.log(1 + sentences / (sum(document.sentence_count(word) for document in documents) + 0.5)) or 1.0
    )


def _question_level(question: SentenceIndex | None, word: ContentWord) -> float:
    return 0.0 if question is None else float(question.match_levels(word).max(initial=0.0))


# From there on a passage has a claim as it stands, and nothing of it need be computed.
_FULL_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class GroundedClaim:
    """A claim of the answer; ``grounding`` is None for what claims nothing of the product.

    Also for a figure that may follow from the documents' data and that cannot be computed: its words stand
    nowhere together, whether it is true or not.
    """

    claim: Claim
    grounding: Grounding | None


def grounded_claims(exchange: PreparedExchange) -> tuple[GroundedClaim, ...]:
    """Return the claims of the answer in order, each compared with all documents."""
    documents = [document.text.cached(sentence_index) for document in exchange.context]
    asked = exchange.question.cached(sentence_index)
    return tuple(
        GroundedClaim(claim, _grounding(claim, documents, asked, exchange))
        for claim in exchange.answer.cached(claims)
    )


def question_coverage(exchange: PreparedExchange) -> float:
    """Return how far the documents speak of what was asked: the best passage's share of the question's words.

    In [0, 1], by weight; 0 for a question without any word that carries content.
    """
    return question_coverage_by(exchange.context, exchange.question)


def question_coverage_by(context: Iterable[PreparedPassage], question: PreparedText) -> float:
    """Return the same for some of the documents."""
    words = [word for claim in question.cached(claims) for word in claim.words]
    documents = [document.text.cached(sentence_index) for document in context]
    return ground_words(words, documents, None).share if words else 0.0


def _grounding(
    claim: Claim, documents: Sequence[SentenceIndex], question: SentenceIndex, exchange: PreparedExchange
) -> Grounding | None:
    if claim.kind is not ClaimKind.CLAIM or not claim.words:
        return None
    found = ground_words(claim.words, documents, question)
    return None if found.share < _FULL_SHARE and has_uncomputed_figure(claim, exchange) else found
