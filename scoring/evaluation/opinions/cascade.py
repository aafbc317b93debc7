"""The cascade's curve: quality against the share of the answers that a judge is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.evaluation.cases import NEUTRAL
from scoring.evaluation.opinions.deciding import SendingRow, by_both, sending
from scoring.evaluation.opinions.judged import Judged, rated
from scoring.evaluation.opinions.ranking import Ranking, checks_score, judge_score, ranking
from scoring.values.opinion import Label, Opinion
from scoring.values.types import HIGHEST, LOWEST

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

    First come those that an opinion may send as well as hold or block, as a worker asks first where its
    budget runs short; then those that it may only block; last those that the checks block, which a worker
    asks about only where its policy says so. Among these the checks are least sure of what has no score, and
    then of what is near the middle. Where they are equally sure, chance decides, always the same way: the
    order of files must not.

    ``tau`` is the confidence from which an opinion decides. An answer that is not asked about keeps the
    score and the decision of the checks; of those that are, the decision is :func:`by_both`.
    """
    every = rated(judged)
    shuffled = (every[place] for place in np.random.default_rng(0).permutation(len(every)))
    known = sorted(shuffled, key=_certainty)
    return tuple(_point(known, tau, share) for share in shares) if known else ()


def _certainty(judged: Judged) -> tuple[int, float]:
    """Return how many ways are closed to an opinion, and how far the score is from saying nothing."""
    sure = Opinion("", (), "", Label.TRUE, 1.0, HIGHEST), Opinion("", (), "", Label.FALSE, 1.0, LOWEST)
    ways = {by_both(replace(judged, opinion=opinion), 1.0) for opinion in sure}
    score = judged.case.score
    return -len(ways), -1.0 if score is None else abs(score - NEUTRAL)


def _point(known: Sequence[Judged], tau: float, share: float) -> CurvePoint:
    asked = round(share * len(known))
    first, rest = known[:asked], known[asked:]
    scores = [*map(judge_score, first), *map(checks_score, rest)]
    decisions = [*(by_both(each, tau) for each in first), *(each.case.decision for each in rest)]
    ratings = [each.case.rating or 0 for each in known]
    return CurvePoint(share, asked, ranking(scores, ratings), sending(known, decisions, tau))
