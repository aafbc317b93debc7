"""The correlation of scores with what people say of the answers (paper, VI-B2, Table IV)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import EVERY, Case, Group
from scoring.evaluation.statistics import (
    Estimate,
    Numbers,
    paired_estimate,
    rank_correlation,
    spearman,
    spearman_p,
)


@dataclass(frozen=True, slots=True)
class CountedOut:
    """How many answers could not be compared, and why: ``unrated`` or the code of a verdict."""

    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's correlation in [-1, 1] of score and rating in one group.

    ``answers`` are compared, ``counted_out`` the others of the group; ``translated`` of those compared
    were scored on their translation. ``spearman`` is None of fewer than three answers and where all
    scores or all ratings are equal; ``p`` is two-sided.
    """

    group: Group
    answers: int
    translated: int
    spearman: Estimate | None
    p: float | None
    counted_out: tuple[CountedOut, ...]


@dataclass(frozen=True, slots=True)
class Gain:
    """How much better the second way of scoring ranks the answers that both ways have scored."""

    group: Group
    answers: int
    difference: Estimate | None


def correlation(cases: Sequence[Case], group: Group = EVERY) -> Correlation:
    """Correlate scores and ratings of the group's answers that have both."""
    members = group.of(cases)
    compared = [case for case in members if case.counted_out is None]
    scores, ratings = _scores(compared), _ratings(compared)
    found = spearman(scores, ratings)
    reasons = Counter(case.counted_out for case in members if case.counted_out is not None)
    return Correlation(
        group=group,
        answers=len(compared),
        translated=sum(case.translated for case in compared),
        spearman=found,
        p=spearman_p(scores, ratings) if found else None,
        counted_out=tuple(CountedOut(reason, count) for reason, count in reasons.most_common()),
    )


def gain(first: Sequence[Case], second: Sequence[Case], group: Group = EVERY) -> Gain:
    """Compare two ways of scoring the same answers, in the same order, by their correlations.

    The interval resamples answers with both of their scores, so that it is one of the difference.
    """
    both = [
        (one, other)
        for one, other in zip(first, second, strict=True)
        if group.holds(one) and one.counted_out is None and other.counted_out is None
    ]
    ones, others = [one for one, _ in both], [other for _, other in both]
    difference = paired_estimate(difference_of_correlations, _scores(ones), _scores(others), _ratings(ones))
    return Gain(group, len(both), difference)


def difference_of_correlations(first: Numbers, second: Numbers, ratings: Numbers, axis: int) -> Numbers:
    """Return how much better the second scores correlate with the ratings than the first, along an axis."""
    return rank_correlation(second, ratings, axis) - rank_correlation(first, ratings, axis)


def _scores(cases: Sequence[Case]) -> list[float]:
    return [case.score for case in cases if case.score is not None]


def _ratings(cases: Sequence[Case]) -> list[int]:
    return [case.rating for case in cases if case.rating is not None]
