"""The decisions that opinions lead to, and who is sent and blocked by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scoring.evaluation.opinions.flags import TAUS
from scoring.evaluation.opinions.judged import Judged, rated
from scoring.evaluation.routing import Routing, routing, routing_row
from scoring.evaluation.sending import sending_of
from scoring.evaluation.statistics import Share
from scoring.values.opinion import Label
from scoring.values.reasons import Reason
from scoring.values.types import Decision

Decide = Callable[[Judged, float], Decision]

_BY_LABEL = {Label.TRUE: Decision.AUTO_SEND, Label.FALSE: Decision.BLOCKED}
_CODES = frozenset(Reason)


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
    """Decide by the opinion alone: a label with at least this confidence sends or blocks."""
    opinion = judged.opinion
    if opinion.label is None or opinion.confidence < tau:
        return Decision.REVIEW
    return _BY_LABEL.get(opinion.label, Decision.REVIEW)


def by_both(judged: Judged, tau: float) -> Decision:
    """Decide by the checks, and by the opinion on what they leave to a person.

    Of that, a refusal and what could not be checked stay with the person. Where a rule holds an answer, an
    opinion may block it, but not send it; nor does one block that has not read the documents whole.
    """
    case = judged.case
    if case.decision is not Decision.REVIEW or case.degraded or case.reason == Reason.REFUSAL:
        return case.decision
    found = by_opinion(judged, tau)
    held_by_rule = case.reason not in _CODES
    if (found is Decision.AUTO_SEND and held_by_rule) or (
        found is Decision.BLOCKED and judged.opinion.shortened
    ):
        return Decision.REVIEW
    return found


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
