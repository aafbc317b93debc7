"""The decisions that opinions lead to, the cascade's curve, rankings and costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.evaluation.cases import NEUTRAL, RATINGS, round_rating
from scoring.evaluation.correlation import difference_of_correlations
from scoring.evaluation.opinion_accuracy import TAUS, JudgedCase, rated
from scoring.evaluation.routing import Routing, routing, routing_row, sending_shares
from scoring.evaluation.statistics import Estimate, Share, auroc, mean, paired_estimate, spearman
from scoring.policy import Policy, decide_with_opinion
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Decision, MessageType, RefusalKind
from scoring.values.opinion import Label, Opinion
from scoring.values.rules import Reason

DecideCase = Callable[[JudgedCase, float], Decision]

_SHIPPED = Policy().thresholds(MessageType.UNSPECIFIED, None)
#: Reasons for review that let an opinion send the answer; all others are rules that speak against it.
_SENDABLE_REASONS = frozenset(Reason) - {Reason.MESSAGE_TYPE_NOT_SCORED}


@dataclass(frozen=True, slots=True)
class SendingRow:
    """The decisions on rated answers at one threshold of confidence.

    ``true_sent`` and ``true_blocked`` are shares of the TRUE answers, ``untrue_sent`` and ``untrue_blocked``
    of the FALSE ones; ``untrue_of_sent`` is the share of FALSE ones among all that are sent, ``reviewed`` of
    all answers. ``routing`` has the decisions by rating.
    """

    tau: float
    true_sent: Share | None
    untrue_sent: Share | None
    untrue_of_sent: Share | None
    untrue_blocked: Share | None
    true_blocked: Share | None
    reviewed: Share | None
    routing: Routing


def decide_by_opinion(judged: JudgedCase, tau: float) -> Decision:
    """Decide by the opinion alone, from this confidence on, as the shipped policy does in review."""
    return _decide(Decision.REVIEW, judged, tau, may_be_sent=True)


def decide_by_both(judged: JudgedCase, tau: float) -> Decision:
    """Decide by the checks, and by the opinion on what they do not block, as the shipped policy does.

    A refusal and what could not be checked stay with a person.
    """
    case = judged.case
    if case.decision is Decision.BLOCKED or case.degraded or case.reason == Reason.REFUSAL:
        return case.decision
    return _decide(case.decision, judged, tau, may_be_sent=case.reason in _SENDABLE_REASONS)


def _decide(check_decision: Decision, judged: JudgedCase, tau: float, *, may_be_sent: bool) -> Decision:
    thresholds = replace(_SHIPPED, send_confidence=tau, block_confidence=tau)
    said = thresholds.opinion_reason([judged.opinion], RefusalKind.NONE)
    return decide_with_opinion(check_decision, said, declined=Decision.REVIEW, may_be_sent=may_be_sent)


def sending_rows(
    judged: Sequence[JudgedCase], decide: DecideCase, taus: Sequence[float] = TAUS
) -> tuple[SendingRow, ...]:
    """Count what each threshold sends and blocks."""
    known = rated(judged)
    return tuple(sending_row(known, [decide(each, tau) for each in known], tau) for tau in taus)


def sending_row(judged: Sequence[JudgedCase], decisions: Sequence[Decision], tau: float) -> SendingRow:
    """Count what some decisions, one for each answer, send and block."""
    found = sending_shares([(each.truth, made) for each, made in zip(judged, decisions, strict=True)])
    cases = [replace(each.case, decision=made) for each, made in zip(judged, decisions, strict=True)]
    return SendingRow(
        tau=tau,
        true_sent=found.true.auto_send,
        untrue_sent=found.untrue.auto_send,
        untrue_of_sent=found.untrue_of_sent,
        untrue_blocked=found.untrue.blocked,
        true_blocked=found.true.blocked,
        reviewed=routing_row(decisions).review,
        routing=routing(cases),
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """Spearman's correlation of score and rating, and the AUROC of ratings 5 against 1."""

    spearman: Estimate | None
    auroc: Estimate | None


@dataclass(frozen=True, slots=True)
class Rankings:
    """The same rated answers by the score of the checks alone, and with every answer asked about.

    An answer without any score counts as 3, which is to say nothing of it. ``gain`` is the difference of
    both correlations.
    """

    answers: int
    checks: Ranking
    judge: Ranking
    gain: Estimate | None


def rankings(judged: Sequence[JudgedCase]) -> Rankings:
    """Compare the scores of checks and of opinions."""
    known = rated(judged)
    ratings = [each.case.rating or 0 for each in known]
    checks, judge = [checks_score(each) for each in known], [judge_score(each) for each in known]
    return Rankings(
        answers=len(known),
        checks=ranking(checks, ratings),
        judge=ranking(judge, ratings),
        gain=paired_estimate(difference_of_correlations, checks, judge, ratings),
    )


def ranking(scores: Sequence[float], ratings: Sequence[float]) -> Ranking:
    """Compare scores with the ratings of the same answers."""
    worst, best = (
        [score for score, rating in zip(scores, ratings, strict=True) if round_rating(rating) == extreme]
        for extreme in (RATINGS[0], RATINGS[-1])
    )
    return Ranking(spearman(scores, ratings), auroc(worst, best))


def checks_score(judged: JudgedCase) -> float:
    """Return the score of the checks."""
    return NEUTRAL if judged.case.score is None else judged.case.score


def judge_score(judged: JudgedCase) -> float:
    """Return the score of the opinion; that of the checks where it has none."""
    score = judged.opinion.score
    return checks_score(judged) if score is None else score


SHARES = tuple(tenth / 10 for tenth in range(11))


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The quality where this share of the rated answers, ``asked`` of them, is asked about."""

    share: float
    asked: int
    ranking: Ranking
    sending: SendingRow


def curve(
    judged: Sequence[JudgedCase], tau: float, shares: Sequence[float] = SHARES
) -> tuple[CurvePoint, ...]:
    """Ask about more and more of the answers, the most doubtful first.

    First come those that an opinion may send or block, as a worker asks first where its budget runs short;
    then those that it may only block; last those that the checks block, which a worker
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


def _certainty(judged: JudgedCase) -> tuple[int, float]:
    """Return how many ways are closed to an opinion, and how far the score is from saying nothing."""
    sure = Opinion("", (), "", Label.TRUE, 1.0, MAX_SCORE), Opinion("", (), "", Label.FALSE, 1.0, MIN_SCORE)
    ways = {decide_by_both(replace(judged, opinion=opinion), 1.0) for opinion in sure}
    score = judged.case.score
    return -len(ways), -1.0 if score is None else abs(score - NEUTRAL)


def _point(known: Sequence[JudgedCase], tau: float, share: float) -> CurvePoint:
    asked = round(share * len(known))
    first, rest = known[:asked], known[asked:]
    scores = [*map(judge_score, first), *map(checks_score, rest)]
    decisions = [*(decide_by_both(each, tau) for each in first), *(each.case.decision for each in rest)]
    ratings = [each.case.rating or 0 for each in known]
    return CurvePoint(share, asked, ranking(scores, ratings), sending_row(known, decisions, tau))


@dataclass(frozen=True, slots=True)
class Costs:
    """Means over opinions; None of no opinions, and of what the replies did not tell.

    ``tokens`` are those of requests and replies together. ``seconds_per_token`` is the quotient of both
    means, as in the paper.
    """

    opinions: int
    requests: Estimate | None
    tokens: Estimate | None
    tokens_out: Estimate | None
    seconds: Estimate | None
    seconds_per_token: float | None


def costs(opinions: Sequence[Opinion]) -> Costs:
    """Measure what the opinions took."""
    used = [opinion.usage for opinion in opinions]
    tokens = _mean_if_reported([each.tokens_in + each.tokens_out for each in used])
    seconds = _mean_if_reported([each.seconds for each in used])
    return Costs(
        opinions=len(opinions),
        requests=mean([each.requests for each in used]),
        tokens=tokens,
        tokens_out=_mean_if_reported([each.tokens_out for each in used]),
        seconds=seconds,
        seconds_per_token=seconds.value / tokens.value if seconds and tokens else None,
    )


def _mean_if_reported(values: Sequence[float]) -> Estimate | None:
    return mean(values) if any(values) else None
