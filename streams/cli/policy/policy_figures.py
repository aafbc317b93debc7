"""What a fit showed, as its proposal carries it for whoever approves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from schemas import (
    PolicyAlphaCost,
    PolicyCalibration,
    PolicyCalibrationBin,
    PolicyFigures,
    PolicyTested,
    PolicyTestedPoint,
)
from scoring.values.exchange import Decision

if TYPE_CHECKING:
    from scoring.guarantees.policy_report import AlphaCost, FitReport
    from scoring.guarantees.risk_fitting import FittedRisk, RatingsMissing


def to_figures(report: FitReport, levels: Mapping[Decision, float]) -> PolicyFigures:
    """Return the figures of a fit; ``levels`` are the shares of mistakes that thresholds were tested for."""
    tested = [
        PolicyTested(
            decision,
            groups,
            levels[decision],
            tuple(PolicyTestedPoint(each.coverage, each.estimate, each.bound) for each in tests),
        )
        for decision, groups, tests in report.proposal.tested
    ]
    costs = [found for each in report.costs for found in _costs(each, report.answers)]
    return PolicyFigures(tuple(tested), tuple(costs), _calibration(report.proposal.risk))


def _costs(cost: AlphaCost, answers: int) -> Iterator[PolicyAlphaCost]:
    if not cost.shares:
        yield PolicyAlphaCost(cost.alpha, answers, 0)
    for each in cost.shares:
        true_sent = each.true_sent.value if each.true_sent else None
        yield PolicyAlphaCost(cost.alpha, each.answers, each.sent, true_sent, each.name)


def _calibration(risk: FittedRisk | RatingsMissing) -> PolicyCalibration | None:
    from scoring.guarantees.risk_fitting import FittedRisk  # noqa: PLC0415 - needs scipy

    if not isinstance(risk, FittedRisk):
        return None
    found = risk.calibration
    bins = (PolicyCalibrationBin(each.risk, each.mistakes.total, each.mistakes.count) for each in found.bins)
    return PolicyCalibration(
        risk.ratings, found.brier, found.brier_score_alone, found.brier_constant, tuple(bins)
    )
