"""The answers that were sent and blocked, by whether they are true, and those of them that went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import EVERY, Case, Group
from scoring.evaluation.routing import RoutingRow, routing_row
from scoring.evaluation.statistics import Share
from scoring.values.opinion import Label
from scoring.values.types import Decision

# What nobody would have wanted: what a person holds can still go either way.
_WRONG = frozenset({(Label.FALSE, Decision.AUTO_SEND), (Label.TRUE, Decision.BLOCKED)})


@dataclass(frozen=True, slots=True)
class Sending:
    """Where the TRUE answers and the untrue ones (FALSE) went.

    ``untrue_of_sent`` is the share of untrue ones among all that were sent, whatever they are; None where
    none was.
    """

    true: RoutingRow
    untrue: RoutingRow
    untrue_of_sent: Share | None


@dataclass(frozen=True, slots=True)
class SendingTable:
    """The decisions on the rated answers of one group; ``counted_out`` of them for want of a translation."""

    group: Group
    sending: Sending
    counted_out: int


@dataclass(frozen=True, slots=True)
class Misrouted:
    """An untrue answer that was sent, or a true one that was blocked; ``score`` and ``reasons`` say why."""

    answer_id: str
    language: str | None
    rating: int
    decision: Decision
    score: float | None
    reasons: tuple[str, ...]


def sending_of(decided: Sequence[tuple[Label | None, Decision]]) -> Sending:
    """Count where answers went, each given by what it is and what was decided."""
    true, untrue = (
        routing_row([decision for truth, decision in decided if truth is label])
        for label in (Label.TRUE, Label.FALSE)
    )
    sent = [truth for truth, decision in decided if decision is Decision.AUTO_SEND]
    return Sending(true, untrue, Share.of(sent.count(Label.FALSE), len(sent)))


def sending_table(cases: Sequence[Case], group: Group = EVERY) -> SendingTable:
    """Count where the rated answers of a group went; what could not be translated is counted out."""
    rated = [case for case in group.of(cases) if case.rating is not None]
    members = [case for case in rated if case.as_asked]
    found = sending_of([(case.truth, case.decision) for case in members])
    return SendingTable(group, found, counted_out=len(rated) - len(members))


def misrouted(cases: Sequence[Case]) -> tuple[Misrouted, ...]:
    """Return the answers that were routed wrongly, the sent ones first, otherwise in their order."""
    wrong = [
        Misrouted(case.answer_id, case.language, case.rating, case.decision, case.score, case.reasons)
        for case in cases
        if case.rating is not None and case.as_asked and (case.truth, case.decision) in _WRONG
    ]
    return tuple(sorted(wrong, key=lambda each: list(Decision).index(each.decision)))
