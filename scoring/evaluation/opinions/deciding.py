"""The decisions that opinions lead to, and who is sent and blocked by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scoring.evaluation.opinions.flags import TAUS
from scoring.evaluation.opinions.judged import Judged, rated
from scoring.evaluation.routing import Routing, routing, routing_row
from scoring.evaluation.sending import sending_of
from scoring.evaluation.statistics import Share
from scoring.policy import Policy, with_judges
from scoring.values.reasons import Reason
from scoring.values.types import Decision, MessageType, Refuses

Decide = Callable[[Judged, float], Decision]

_SHIPPED = Policy().thresholds(MessageType.UNSPECIFIED, None)
#: Reasons to hold an answer that let an opinion send it; all others are rules that speak against it.
_OPEN = frozenset(Reason) - {Reason.MESSAGE_TYPE_NOT_SCORED}


@dataclass(frozen=True, slots=True)
class SendingRow:
    """What becomes of rated answers at one threshold of confidence.

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


def by_opinion(judged: Judged, tau: float) -> Decision:
    """Decide by the opinion alone, from this confidence on, as the shipped policy does what checks hold."""
    return _decided(Decision.REVIEW, judged, tau, may_be_sent=True)


def by_both(judged: Judged, tau: float) -> Decision:
    """Decide by the checks, and by the opinion on what they do not block, as the shipped policy does.

    A refusal and what could not be checked stay with a person.
    """
    case = judged.case
    if case.decision is Decision.BLOCKED or case.degraded or case.reason == Reason.REFUSAL:
        return case.decision
    return _decided(case.decision, judged, tau, may_be_sent=case.reason in _OPEN)


def _decided(by_checks: Decision, judged: Judged, tau: float, *, may_be_sent: bool) -> Decision:
    thresholds = replace(_SHIPPED, send_confidence=tau, block_confidence=tau)
    said = thresholds.judged([judged.opinion], Refuses.NOT)
    return with_judges(by_checks, said, declined=Decision.REVIEW, may_be_sent=may_be_sent)


def sending_rows(
    judged: Sequence[Judged], decide: Decide, taus: Sequence[float] = TAUS
) -> tuple[SendingRow, ...]:
    """Count what each threshold sends and blocks."""
    known = rated(judged)
    return tuple(sending(known, [decide(each, tau) for each in known], tau) for tau in taus)


def sending(judged: Sequence[Judged], decisions: Sequence[Decision], tau: float) -> SendingRow:
    """Count what some decisions, one for each answer, send and block."""
    found = sending_of([(each.truth, made) for each, made in zip(judged, decisions, strict=True)])
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
