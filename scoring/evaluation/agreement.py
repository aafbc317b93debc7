"""The agreement of two raters: no score can be expected to agree better with either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scoring.evaluation.cases import Case
from scoring.evaluation.statistics import Estimate, Numbers, Share, paired_estimate, spearman


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two ratings of the same answers.

    ``kappa`` is Cohen's with quadratic weights (1968): 1 is full agreement, 0 that of chance.
    ``spearman`` and ``kappa`` are None where all ratings are equal or too few.
    """

    answers: int
    exact: Share | None
    within_1: Share | None
    spearman: Estimate | None
    kappa: Estimate | None


def agreement(cases: Sequence[Case]) -> Agreement | None:
    """Compare first and second ratings; None where no answer has both."""
    pairs = [
        (case.rating, case.rating_second)
        for case in cases
        if case.rating is not None and case.rating_second is not None
    ]
    if not pairs:
        return None
    first, second = zip(*pairs, strict=True)
    apart = [abs(one - other) for one, other in pairs]
    return Agreement(
        answers=len(pairs),
        exact=Share.of(apart.count(0), len(apart)),
        within_1=Share.of(sum(distance <= 1 for distance in apart), len(apart)),
        spearman=spearman(first, second),
        kappa=paired_estimate(_quadratic_kappa, first, second),
    )


def _quadratic_kappa(first: Numbers, second: Numbers, axis: int) -> Numbers:
    # The mean squared distance of all pairs that chance could make needs no table of them.
    by_chance = first.var(axis) + second.var(axis) + (first.mean(axis) - second.mean(axis)) ** 2
    with np.errstate(invalid="ignore"):
        return np.asarray(1 - ((first - second) ** 2).mean(axis) / by_chance)
