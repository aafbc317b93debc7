"""The choice of passages that do not all say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
