"""Several rankings made one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

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
