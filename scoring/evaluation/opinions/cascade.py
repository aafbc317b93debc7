"""The cascade's curve: quality against the share of the answers that a judge is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.deviation import NEUTRAL
from scoring.evaluation.opinions.deciding import SendingRow, by_both, sending
from scoring.evaluation.opinions.judged import Judged, rated
from scoring.evaluation.opinions.ranking import Ranking, checks_score, judge_score, ranking

SHARES = tuple(tenth / 10 for tenth in range(11))


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The quality where this share of the rated answers, ``asked`` of them, is asked about."""

    share: float
    asked: int
    ranking: Ranking
    sending: SendingRow


def curve(judged: Sequence[Judged], tau: float, shares: Sequence[float] = SHARES) -> tuple[CurvePoint, ...]:
    """Ask about more and more of the answers, the most doubtful first.

    ``tau`` is the confidence from which an opinion decides. An answer that is not asked about keeps the
    score and the decision of the checks; of those that are, the decision is :func:`by_both`.
    """
    known = sorted(rated(judged), key=_certainty)
    return tuple(_point(known, tau, share) for share in shares) if known else ()


def _certainty(judged: Judged) -> float:
    """Return how sure the checks are: not at all without a score, else by its distance from the middle.

    Those that are equally sure stay in their order.
    """
    score = judged.case.score
    return -1.0 if score is None else abs(score - NEUTRAL)


def _point(known: Sequence[Judged], tau: float, share: float) -> CurvePoint:
    asked = round(share * len(known))
    first, rest = known[:asked], known[asked:]
    scores = [*map(judge_score, first), *map(checks_score, rest)]
    decisions = [*(by_both(each, tau) for each in first), *(each.case.decision for each in rest)]
    ratings = [each.case.rating or 0 for each in known]
    return CurvePoint(share, asked, ranking(scores, ratings), sending(known, decisions, tau))
