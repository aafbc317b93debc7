"""The worth of each feature alone: the paper selects features by their correlation (section V-B)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import EVERY, RATINGS, Case, Group
from scoring.evaluation.statistics import Estimate, auroc, spearman, spearman_p

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

    group: Group
    rows: tuple[FeatureRow, ...]


def feature_table(cases: Sequence[Case], group: Group = EVERY) -> FeatureTable:
    """Measure the score and each feature on its own."""
    compared = [case for case in group.of(cases) if case.counted_out is None]
    names = dict.fromkeys(name for case in compared for name in case.features)
    rows = [_row(SCORE, [(case.score, case.rating) for case in compared])]
    rows += [_row(name, [(case.features.get(name), case.rating) for case in compared]) for name in names]
    return FeatureTable(group, tuple(rows))


def _row(name: str, pairs: Sequence[tuple[float | None, int | None]]) -> FeatureRow:
    applicable = [(value, rating) for value, rating in pairs if value is not None and rating is not None]
    values, ratings = [value for value, _ in applicable], [rating for _, rating in applicable]
    untrue, true = (
        [value for value, rating in applicable if rating == extreme] for extreme in (RATINGS[0], RATINGS[-1])
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
