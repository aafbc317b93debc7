"""Several rankings made one, and the choice of those ranked that do not all say the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)


def fuse(rankings: Iterable[tuple[float, Sequence[Key]]], k: int) -> dict[Key, float]:
    """Fuse rankings by reciprocal rank.

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods" (2009): a key scores the sum of ``weight / (k + rank)`` over the rankings that
    it is in, where ranks count from 1. Scores of searches that have nothing in common, such as BM25 and
    cosines, are thus never compared.

    Args:
        rankings: each with its weight, the best key first, no key twice.
        k: 60 in the paper; the larger, the less the first ranks count above the others.

    Returns:
        The scores, the highest first; equal ones in the order in which the keys come.

    >>> list(fuse([(1, ["a", "b"]), (1, ["b", "c"])], k=60))
    ['b', 'a', 'c']
    """
    scores: dict[Key, float] = {}
    for weight, ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def choose_diverse(
    relevance: NDArray[np.floating[Any]], vectors: NDArray[np.float32], count: int, weight: float
) -> list[int]:
    """Choose by maximal marginal relevance.

    Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and
    Producing Summaries" (1998): again and again the one with the highest
    ``weight * relevance - (1 - weight) * (its greatest similarity to those chosen before)``.

    Args:
        relevance: of each, on the scale of the similarities, in about [0, 1].
        vectors: of each, a row of length 1; the similarity of two is their cosine.
        count: how many to choose at most.
        weight: in [0, 1]; 1 chooses by relevance alone.

    Returns:
        The indices of the chosen, in the order in which they were chosen.
    """
    chosen: list[int] = []
    nearest = np.zeros(len(relevance))
    left = np.ones(len(relevance), dtype=bool)
    while left.any() and len(chosen) < count:
        marginal = weight * relevance - (1 - weight) * nearest
        best = int(np.argmax(np.where(left, marginal, -np.inf)))
        chosen.append(best)
        left[best] = False
        nearest = np.maximum(nearest, vectors @ vectors[best])
    return chosen
