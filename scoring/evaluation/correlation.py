"""Agreement of raters, and correlation and deviation of scores from ratings (paper, VI-B2 and VI-B3)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scoring.evaluation.cases import ALL_CASES, NEUTRAL, RATINGS, CaseGroup, EvaluationCase, round_rating
from scoring.evaluation.statistics import (
    Estimate,
    FloatArray,
    Share,
    auroc,
    paired_estimate,
    rank_correlation,
    spearman,
    spearman_p,
)
from scoring.values.exchange import MAX_SCORE, MIN_SCORE


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


def agreement(cases: Sequence[EvaluationCase]) -> Agreement | None:
    """Compare first and second ratings; None where no answer has both.

    The first is ``rating_first``, or else ``rating``: after two reviewers settled on one, that agrees with
    both more than they did with each other.
    """
    firsts = (case.rating if case.rating_first is None else case.rating_first for case in cases)
    pairs = [
        (first, case.rating_second)
        for first, case in zip(firsts, cases, strict=True)
        if first is not None and case.rating_second is not None
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


def _quadratic_kappa(first: FloatArray, second: FloatArray, axis: int) -> FloatArray:
    # The mean squared distance of all pairs that chance could make needs no table of them.
    by_chance = first.var(axis) + second.var(axis) + (first.mean(axis) - second.mean(axis)) ** 2
    with np.errstate(invalid="ignore"):
        return np.asarray(1 - ((first - second) ** 2).mean(axis) / by_chance)


@dataclass(frozen=True, slots=True)
class ExclusionCount:
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

    group: CaseGroup
    answers: int
    translated: int
    spearman: Estimate | None
    p: float | None
    counted_out: tuple[ExclusionCount, ...]


@dataclass(frozen=True, slots=True)
class Gain:
    """How much better the second variant of scoring ranks the answers that both have scored."""

    group: CaseGroup
    answers: int
    difference: Estimate | None


def correlation(cases: Sequence[EvaluationCase], group: CaseGroup = ALL_CASES) -> Correlation:
    """Correlate scores and ratings of the group's answers that have both."""
    members = group.select(cases)
    compared = [case for case in members if case.exclusion_reason is None]
    scores, ratings = _scores(compared), _ratings(compared)
    found = spearman(scores, ratings)
    reasons = Counter(case.exclusion_reason for case in members if case.exclusion_reason is not None)
    return Correlation(
        group=group,
        answers=len(compared),
        translated=sum(case.translated for case in compared),
        spearman=found,
        p=spearman_p(scores, ratings) if found else None,
        counted_out=tuple(ExclusionCount(reason, count) for reason, count in reasons.most_common()),
    )


def gain(
    first: Sequence[EvaluationCase], second: Sequence[EvaluationCase], group: CaseGroup = ALL_CASES
) -> Gain:
    """Compare two ways of scoring the same answers, in the same order, by their correlations.

    The interval resamples answers with both of their scores, so that it is one of the difference.
    """
    both = [
        (one, other)
        for one, other in zip(first, second, strict=True)
        if group.contains(one) and one.exclusion_reason is None and other.exclusion_reason is None
    ]
    ones, others = [one for one, _ in both], [other for _, other in both]
    difference = paired_estimate(difference_of_correlations, _scores(ones), _scores(others), _ratings(ones))
    return Gain(group, len(both), difference)


def difference_of_correlations(
    first: FloatArray, second: FloatArray, ratings: FloatArray, axis: int
) -> FloatArray:
    """Return how much better the second scores correlate with the ratings than the first, along an axis."""
    return rank_correlation(second, ratings, axis) - rank_correlation(first, ratings, axis)


def _scores(cases: Sequence[EvaluationCase]) -> list[float]:
    return [case.score for case in cases if case.score is not None]


def _ratings(cases: Sequence[EvaluationCase]) -> list[float]:
    return [case.rating for case in cases if case.rating is not None]


MARGIN = 1.0
# A score is computed in binary fractions: 1 + 4 * 0.3 is a little less than 2.2.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class RatingRow:
    """One column of Table V: the scored answers of one rating, or of all (``rating`` None)."""

    rating: int | None
    answers: int
    within_margin: Share | None
    score_1: Share | None
    below_3: Share | None
    above_3: Share | None
    score_5: Share | None


@dataclass(frozen=True, slots=True)
class Deviation:
    """Table V for the answers of one group that have score and rating."""

    group: CaseGroup
    overall: RatingRow
    ratings: tuple[RatingRow, ...]


def deviation(cases: Sequence[EvaluationCase], group: CaseGroup = ALL_CASES) -> Deviation:
    """Count how near the scores come to the ratings, and which of them a threshold of 3 would let pass."""
    compared = [
        (case.score, case.rating)
        for case in group.select(cases)
        if case.exclusion_reason is None and case.score is not None and case.rating is not None
    ]
    rows = tuple(
        _row(rating, [pair for pair in compared if round_rating(pair[1]) == rating]) for rating in RATINGS
    )
    return Deviation(group, _row(None, compared), rows)


def _row(rating: int | None, compared: Sequence[tuple[float, float]]) -> RatingRow:
    def share(hits: Sequence[bool]) -> Share | None:
        return Share.of(sum(hits), len(hits))

    scores = [score for score, _ in compared]
    return RatingRow(
        rating=rating,
        answers=len(compared),
        within_margin=share([abs(score - rated) <= MARGIN + _ROUNDING for score, rated in compared]),
        score_1=share([score <= MIN_SCORE + _ROUNDING for score in scores]),
        below_3=share([score < NEUTRAL - _ROUNDING for score in scores]),
        above_3=share([score > NEUTRAL + _ROUNDING for score in scores]),
        score_5=share([score >= MAX_SCORE - _ROUNDING for score in scores]),
    )


SCORE = "score"


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """One feature over the scored answers that it applies to, or the score over all of them.

    ``spearman`` in [-1, 1] with the rating; ``auroc`` in [0, 1] is how often an answer of rating 5
    has a larger value than one of rating 1 (0.5 is chance); both None where undefined.
    """

    name: str
    answers: int
    untrue: int
    true: int
    spearman: Estimate | None
    p: float | None
    auroc: Estimate | None


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """The score and every feature of it, for the answers of one group that have score and rating."""

    group: CaseGroup
    rows: tuple[FeatureRow, ...]


def feature_table(cases: Sequence[EvaluationCase], group: CaseGroup = ALL_CASES) -> FeatureTable:
    """Measure the score and each feature on its own."""
    compared = [case for case in group.select(cases) if case.exclusion_reason is None]
    names = dict.fromkeys(name for case in compared for name in case.features)
    rows = [_feature_row(SCORE, [(case.score, case.rating) for case in compared])]
    rows += [
        _feature_row(name, [(case.features.get(name), case.rating) for case in compared]) for name in names
    ]
    return FeatureTable(group, tuple(rows))


def _feature_row(name: str, pairs: Sequence[tuple[float | None, float | None]]) -> FeatureRow:
    applicable = [(value, rating) for value, rating in pairs if value is not None and rating is not None]
    values, ratings = [value for value, _ in applicable], [rating for _, rating in applicable]
    untrue, true = (
        [value for value, rating in applicable if round_rating(rating) == extreme]
        for extreme in (RATINGS[0], RATINGS[-1])
    )
    found = spearman(values, ratings)
    return FeatureRow(
        name=name,
        answers=len(values),
        untrue=len(untrue),
        true=len(true),
        spearman=found,
        p=spearman_p(values, ratings) if found else None,
        auroc=auroc(untrue, true),
    )
