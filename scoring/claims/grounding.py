"""The passage of the documents that has most of what a claim says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.claims.passages import Passages
from scoring.claims.words import ContentWord

# A word that the question supplies is no invention, and yet no support either.
_ASKED = 0.7
# A sentence beside the best one is quoted with it where it adds more than that.
_ADDS = 0.03
_OWN = 1e-6

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
    document: int | None = None
    first: int = 0
    last: int = 0


def grounding(
    words: Sequence[ContentWord], documents: Sequence[Passages], asked: Passages | None
) -> Grounding:
    """Return where the words stand together best: in three sentences that follow each other.

    A word weighs the more the fewer sentences have it. It counts whole where it stands in the passage, in
    part where only one alike does (see :class:`Passages`), and to 70% where it is in the question alone.

    Args:
        words: the content words of a claim, at least one.
        documents: those of the context.
        asked: the question; None to leave it out.
    """
    sentences = sum(len(document.spans) for document in documents)
    weights = np.array([_weight(word, documents, sentences) for word in words])
    total = math.fsum(weights)
    known = np.array([_ASKED * _most(asked, word) for word in words])
    best = Grounding(math.fsum(weights * known) / total, total)
    for place, document in enumerate(documents):
        if document.spans:
            gains = np.maximum([document.levels(word) for word in words], known[:, np.newaxis])
            found = _best_of(gains * weights[:, np.newaxis], total, place)
            best = max(best, found, key=lambda each: each.share)  # the first of equals
    return best


def _best_of(gains: _Gains, total: float, place: int) -> Grounding:
    """Return the best passage of the document at ``place``: what each word (row) gains in each sentence."""
    wide = gains.copy()
    wide[:, 1:] = np.maximum(wide[:, 1:], gains[:, :-1])
    wide[:, :-1] = np.maximum(wide[:, :-1], gains[:, 1:])
    sums = wide.sum(axis=0)
    # Of neighbours that have the same, the one that has most by itself.
    middle = int((sums + _OWN * gains.sum(axis=0)).argmax())
    first, last = _narrowed(gains, middle, float(sums[middle]) - _ADDS * total)
    return Grounding(min(float(sums[middle]) / total, 1.0), total, place, first, last)


def _narrowed(gains: _Gains, middle: int, enough: float) -> tuple[int, int]:
    """Return the fewest of the three sentences around ``middle`` that together gain enough."""
    ends = max(middle - 1, 0), min(middle + 1, gains.shape[1] - 1)
    spans = ((middle, middle), (ends[0], middle), (middle, ends[1]), ends)
    return next(
        ((first, last) for first, last in spans if gains[:, first : last + 1].max(axis=1).sum() >= enough),
        ends,
    )


def _weight(word: ContentWord, documents: Sequence[Passages], sentences: int) -> float:
    return math.log(1 + sentences / (sum(document.count(word) for document in documents) + 0.5)) or 1.0


def _most(asked: Passages | None, word: ContentWord) -> float:
    return 0.0 if asked is None else float(asked.levels(word).max(initial=0.0))
