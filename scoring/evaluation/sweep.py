"""What other thresholds for sending would have meant: the share sent, and how much of it is untrue."""

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import ALL_CASES, EvaluationCase
from scoring.evaluation.routing import routed_cases
from scoring.evaluation.statistics import Share
from scoring.values.exchange import MAX_SCORE, MIN_SCORE
from scoring.values.opinion import Label

_STEPS_PER_POINT = 10


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """The rated answers with at least a score: sending these, and no others.

    ``coverage`` is their share of all, an answer without a score being among all; ``risk`` that of the untrue
    ones among them, None where there are none; ``true_sent`` the share of the true answers.
    """

    threshold: float
    coverage: Share
    risk: Share | None
    true_sent: Share | None


def sweep(cases: Sequence[EvaluationCase]) -> tuple[SweepPoint, ...]:
    """Return a point per tenth of a score, from the lowest on; none without rated answers.

    By the score alone: a rule that blocks gives the lowest score and one that sends the highest, but what a
    policy reviews for another reason would still be reviewed.
    """
    members, _ = routed_cases(cases, ALL_CASES)
    first, last = round(MIN_SCORE * _STEPS_PER_POINT), round(MAX_SCORE * _STEPS_PER_POINT)
    points = (_point(members, step / _STEPS_PER_POINT) for step in range(first, last + 1))
    return tuple(point for point in points if point is not None)


def _point(members: Sequence[EvaluationCase], threshold: float) -> SweepPoint | None:
    sent = [case.truth for case in members if case.score is not None and case.score >= threshold]
    if (coverage := Share.of(len(sent), len(members))) is None:
        return None
    true = sum(case.truth is Label.TRUE for case in members)
    return SweepPoint(
        threshold,
        coverage,
        risk=Share.of(sent.count(Label.FALSE), len(sent)),
        true_sent=Share.of(sent.count(Label.TRUE), true),
    )
