"""The deviation of scores from ratings (paper, VI-B3, Table V)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import EVERY, NEUTRAL, RATINGS, Case, Group
from scoring.evaluation.statistics import Share
from scoring.values.types import HIGHEST, LOWEST

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

    group: Group
    overall: RatingRow
    ratings: tuple[RatingRow, ...]


def deviation(cases: Sequence[Case], group: Group = EVERY) -> Deviation:
    """Count how near the scores come to the ratings, and which of them a threshold of 3 would let pass."""
    compared = [
        (case.score, case.rating)
        for case in group.of(cases)
        if case.counted_out is None and case.score is not None and case.rating is not None
    ]
    rows = tuple(_row(rating, [pair for pair in compared if pair[1] == rating]) for rating in RATINGS)
    return Deviation(group, _row(None, compared), rows)


def _row(rating: int | None, compared: Sequence[tuple[float, int]]) -> RatingRow:
    def share(hits: Sequence[bool]) -> Share | None:
        return Share.of(sum(hits), len(hits))

    scores = [score for score, _ in compared]
    return RatingRow(
        rating=rating,
        answers=len(compared),
        within_margin=share([abs(score - rated) <= MARGIN + _ROUNDING for score, rated in compared]),
        score_1=share([score <= LOWEST + _ROUNDING for score in scores]),
        below_3=share([score < NEUTRAL - _ROUNDING for score in scores]),
        above_3=share([score > NEUTRAL + _ROUNDING for score in scores]),
        score_5=share([score >= HIGHEST - _ROUNDING for score in scores]),
    )
