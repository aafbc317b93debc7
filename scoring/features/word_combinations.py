"""Pairs of words, phrases and subjects that the answer has in common with the context (paper, V-B)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.claims.grounding import grounded_claims
from scoring.features import Feature
from scoring.text.parsing import NON_WORD_POS, Parse
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import is_word, span_evidence
from scoring.values.exchange import FeatureValue

Hashes = NDArray[np.uint64]

UNSUPPORTED_WORDS = "unsupported_words"

#: The sizes of the sliding windows, in words: neighbours, a phrase, and the ten of Lund & Burgess.
WINDOWS = (2, 5, 10)
_MAX_WINDOW = max(WINDOWS)
_MIN_WORDS = 2
# Odd constants that spread sums of hashes over all 64 bits.
_SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class Hal(Feature):
    """Share of the answer's pairs of neighbouring words that are neighbours in the context too.

    Heuristic: "Off-context". An answer may be right in every word and yet combine words that the documents
    keep apart. After the Hyperspace Analogue to Language (K. Lund and C. Burgess, "Producing high-dimensional
    semantic spaces from lexical co-occurrence", 1996): windows of several sizes slide over the lemmas; in a
    window of ``n`` words two words at distance ``d`` count ``n - d``. A pair of the answer is found if a
    document or the question has it, in either order, in a window of the same size. The value is the weight of
    the pairs found / the weight of all, over all windows, in [0, 1].

    Only words that documents or question have, and numbers, form pairs: an unknown word shows nothing about
    what belongs together, and paraphrase is no fault. On the development answers that raises the feature's
    Spearman from .24 to .38 (English) and from .19 to .43 (Dutch). An answer without any pair has the value
    0; not applicable with fewer than two different words.

    Stop words are left out, but negations are kept. The paper does so in English only (VI-A); in Dutch too it
    raises Spearman, from .33 to .43, since function words have the same neighbours in any text.

    Evidence: ``unsupported_words``, runs of known words that are together in no window of any text.

    >>> document = "Paid leave ends in May. The bonus follows in June."
    >>> value = Hal().measure(PreparedExchange.of_texts("", "Paid leave ends in June.", document))
    >>> 0 < value.value < 1
    True
    """

    name = "hal"
    uses_translation = True
    evidence_rules = ((UNSUPPORTED_WORDS, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return the weighted share of the answer's pairs that the context has."""
        answer = exchange.answer.cached(_sequence)
        if len(np.unique(answer.words)) < _MIN_WORDS:
            return FeatureValue(self.name, None)
        texts = [exchange.question, *(document.text for document in exchange.context)]
        known = [text.cached(neighbours) for text in texts]
        is_comparable = answer.is_number
        for text in known:
            is_comparable = is_comparable | np.isin(answer.words, text.words)
        pairs = _pairs(answer.words).restricted_to(is_comparable)
        keys = pairs.keys(answer.words)
        nearest = np.full(len(keys), _MAX_WINDOW, dtype=np.uint8)
        for text in known:
            nearest = np.minimum(nearest, text.distances(keys))
        unsupported = pairs.left[(pairs.distance == 1) & (nearest == _MAX_WINDOW)]
        evidence = span_evidence(UNSUPPORTED_WORDS, exchange.answer, _unsupported_spans(answer, unsupported))
        return FeatureValue(self.name, _share(pairs.distance, nearest), evidence)


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The words of a text, and its pairs of words within the widest window with their least distance.

    Words and pairs are sorted hashes, a tenth of the size of a dictionary of words.
    """

    words: Hashes
    pairs: Hashes
    nearest: NDArray[np.uint8]

    def distances(self, pairs: Hashes) -> NDArray[np.uint8]:
        """Return the least distance of each pair; the size of the widest window for a pair in no window."""
        if not len(self.pairs):
            return np.full(len(pairs), _MAX_WINDOW, dtype=np.uint8)
        indices = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        return np.where(self.pairs[indices] == pairs, self.nearest[indices], np.uint8(_MAX_WINDOW))


@dataclass(frozen=True, slots=True, eq=False)
class _WordSequence:
    words: Hashes
    is_number: NDArray[np.bool_]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Pairs of indices into a sequence of words, the nearest pairs first."""

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    distance: NDArray[np.intp]

    def restricted_to(self, is_allowed: NDArray[np.bool_]) -> _Pairs:
        kept = is_allowed[self.left] & is_allowed[self.right]
        return _Pairs(self.left[kept], self.right[kept], self.distance[kept])

    def keys(self, words: Hashes) -> Hashes:
        left, right = words[self.left], words[self.right]
        low, high = _SPREAD
        keys = np.minimum(left, right) * low + np.maximum(left, right) * high
        return keys.astype(np.uint64, copy=False)


def neighbours(text: PreparedText) -> Neighbours:
    """Return the pairs of neighbouring words of a text."""
    words = _sequence(text).words
    pairs = _pairs(words)
    # The nearest pairs come first, so the first occurrence of a key has its least distance.
    keys, first = np.unique(pairs.keys(words), return_index=True)
    return Neighbours(np.unique(words), keys, pairs.distance[first].astype(np.uint8))


def _sequence(text: PreparedText) -> _WordSequence:
    parse = text.parse
    kept = np.array([pos not in NON_WORD_POS for pos in parse.pos], dtype=np.bool_) & ~parse.is_stop
    # Python's string hash is constant within a process, which suffices.
    words = np.array([hash(lemma) for lemma in parse.lemma], dtype=np.int64).view(np.uint64)
    is_number = np.array([any(map(str.isdigit, lemma)) for lemma in parse.lemma], dtype=np.bool_)
    return _WordSequence(words[kept], is_number[kept], parse.start[kept], parse.end[kept])


def _pairs(words: Hashes) -> _Pairs:
    """Return every pair of different words within the widest window."""
    lefts = [np.arange(max(len(words) - distance, 0)) for distance in range(1, _MAX_WINDOW)]
    distance = np.repeat(np.arange(1, _MAX_WINDOW), [len(indices) for indices in lefts])
    left = np.concatenate(lefts)
    different = words[left] != words[left + distance]
    return _Pairs(left[different], (left + distance)[different], distance[different])


def _share(distance: NDArray[np.intp], nearest: NDArray[np.uint8]) -> float:
    found = total = 0
    for size in WINDOWS:
        weights = np.maximum(size - distance, 0)
        total += int(weights.sum())
        found += int(weights[nearest < size].sum())
    return found / total if total else 0.0


def _unsupported_spans(answer: _WordSequence, first_words: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    """Yield the spans of runs of adjacent pairs, given the index of each pair's first word."""
    for run in np.split(first_words, np.flatnonzero(np.diff(first_words) > 1) + 1):
        if len(run):
            yield int(answer.starts[run[0]]), int(answer.ends[run[-1] + 1])


# Odd constants that spread hashes over all 64 bits, one for each position in a phrase.
_PHRASE_SPREAD = (0x1E3779B97F4A7C15, 0x42B2AE3D27D4EB4F, 0x165667B19E3779F9)

_Hashes = NDArray[np.int64]


class PhrasesKnown(Feature):
    """Share of the phrases of the answer's claims that a document or the question has word for word.

    A phrase is the lemmas of three consecutive words, including function words: an answer that repeats the
    documents repeats such phrases, an invented one does not. The value is in [0, 1]; not applicable where no
    claim has three words.

    Evidence: none.

    >>> document = "The link in the mail works for a day."
    >>> PhrasesKnown().measure(PreparedExchange.of_texts("", "The link works for a day.", document)).value
    0.5
    """

    name = "phrases_known"

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return known phrases / phrases."""
        parse = exchange.answer.parse
        by_claim = [
            _phrases(parse, grounded.claim.tokens)
            for grounded in exchange.cached(grounded_claims)
            if grounded.grounding
        ]
        phrases = np.concatenate(by_claim) if by_claim else np.empty(0, dtype=np.int64)
        if not len(phrases):
            return FeatureValue(self.name, None)
        texts = (exchange.question, *(document.text for document in exchange.context))
        known = np.concatenate([text.cached(known_phrases) for text in texts])
        return FeatureValue(self.name, float(np.isin(phrases, known).mean()))


def known_phrases(text: PreparedText) -> _Hashes:
    """Return the distinct phrases of a text as hashes of their lemmas."""
    parse = text.parse
    return np.unique(_phrases(parse, (index for index in range(len(parse)) if is_word(parse, index))))


def _phrases(parse: Parse, tokens: Iterable[int]) -> _Hashes:
    """Return one hash for every three consecutive tokens."""
    # Python's string hash is constant within a process, which suffices.
    words = np.fromiter((hash(parse.lemma[index]) for index in tokens), dtype=np.int64)
    count = max(len(words) - len(_PHRASE_SPREAD) + 1, 0)
    phrases = np.zeros(count, dtype=np.int64)
    for position, odd in enumerate(_PHRASE_SPREAD):
        phrases ^= words[position : position + count] * np.int64(odd)
    return phrases


UNSUPPORTED_SUBJECT = "unsupported_subject"

_SUBJECTS = frozenset({"nsubj", "nsubj:pass"})


class SubjectCombination(Feature):
    """Share of the answer's pairs of a verb and its nominal subject that the context has.

    Heuristics: "Non-appearing Statements" and "Off-context". A pair is the lemma of the head and that of its
    ``nsubj`` or ``nsubj:pass``. Pronouns are left out, since their referent is elsewhere. The value is the
    distinct pairs found in any document / the distinct pairs of the answer, in [0, 1]. Not applicable where
    the answer has no pair.

    Evidence: ``unsupported_subject``, the span from subject to verb of each pair that no document has.

    >>> texts = "The employee approves the leave.", "The manager approves the leave."
    >>> SubjectCombination().measure(PreparedExchange.of_texts("", *texts)).value
    0.0
    """

    name = "subject_combination"
    uses_translation = True
    evidence_rules = ((UNSUPPORTED_SUBJECT, None),)

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return pairs that the context has / pairs of the answer."""
        pairs = exchange.answer.cached(subject_spans)
        if not pairs:
            return FeatureValue(self.name, None)
        known = [document.text.cached(subject_spans) for document in exchange.context]
        missing = [span for pair, span in pairs.items() if not any(pair in other for other in known)]
        evidence = span_evidence(UNSUPPORTED_SUBJECT, exchange.answer, missing)
        return FeatureValue(self.name, 1 - len(missing) / len(pairs), evidence)


def subject_spans(text: PreparedText) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the pairs (verb, subject) of a text, each with its first span, in order."""
    parse = text.parse
    spans: dict[tuple[str, str], tuple[int, int]] = {}
    for subject, relation in enumerate(parse.dep):
        if relation not in _SUBJECTS or parse.pos[subject] == "PRON":
            continue
        verb = int(parse.head[subject])
        span = int(parse.start[min(subject, verb)]), int(parse.end[max(subject, verb)])
        spans.setdefault((parse.lemma[verb], parse.lemma[subject]), span)
    return spans
