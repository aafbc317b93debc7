"""Decisions by rating: sent, reviewed and blocked answers, and the precision of each check."""

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import ALL_CASES, RATINGS, CaseGroup, EvaluationCase
from scoring.evaluation.statistics import Share
from scoring.values.exchange import Decision
from scoring.values.opinion import Label


@dataclass(frozen=True, slots=True)
class RoutingRow:
    """Where answers of one rating went, or of several (``rating`` None); no shares where there are none."""

    rating: int | None
    answers: int
    auto_send: Share | None
    review: Share | None
    blocked: Share | None


@dataclass(frozen=True, slots=True)
class Routing:
    """The decisions on the rated answers of one group; ``counted_out`` of them for want of a translation."""

    group: CaseGroup
    ratings: tuple[RoutingRow, ...]
    counted_out: int


def routing(cases: Sequence[EvaluationCase], group: CaseGroup = ALL_CASES) -> Routing:
    """Count the decisions for each rating; the answers that have no score are among them.

    Those that were not scored by the variant that was asked for are not: the other variant decided
    about them.
    """
    members, counted_out = routed_cases(cases, group)
    rows = tuple(
        routing_row([case.decision for case in members if case.rounded_rating == rating], rating)
        for rating in RATINGS
    )
    return Routing(group, rows, counted_out)


def routed_cases(cases: Sequence[EvaluationCase], group: CaseGroup) -> tuple[list[EvaluationCase], int]:
    """Return the rated answers of a group that were scored as requested, and how many were not."""
    rated = [case for case in group.select(cases) if case.rating is not None]
    members = [case for case in rated if case.is_scored_as_requested]
    return members, len(rated) - len(members)


def routing_row(decisions: Sequence[Decision], rating: int | None = None) -> RoutingRow:
    """Count the decisions on some answers."""
    shares = {each.value: Share.of(decisions.count(each), len(decisions)) for each in Decision}
    return RoutingRow(rating, len(decisions), **shares)


# Wrong decisions; an answer under review can still go either way.
_WRONG = frozenset({(Label.FALSE, Decision.AUTO_SEND), (Label.TRUE, Decision.BLOCKED)})


@dataclass(frozen=True, slots=True)
class SendingShares:
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

    group: CaseGroup
    sending: SendingShares
    counted_out: int


@dataclass(frozen=True, slots=True)
class Misrouted:
    """An untrue answer that was sent, or a true one that was blocked; ``score`` and ``reasons`` say why."""

    answer_id: str
    language: str | None
    rating: float
    decision: Decision
    score: float | None
    reasons: tuple[str, ...]


def sending_shares(decided: Sequence[tuple[Label | None, Decision]]) -> SendingShares:
    """Count where answers went, each given by what it is and what was decided."""
    true, untrue = (
        routing_row([decision for truth, decision in decided if truth is label])
        for label in (Label.TRUE, Label.FALSE)
    )
    sent = [truth for truth, decision in decided if decision is Decision.AUTO_SEND]
    return SendingShares(true, untrue, Share.of(sent.count(Label.FALSE), len(sent)))


def sending_table(cases: Sequence[EvaluationCase], group: CaseGroup = ALL_CASES) -> SendingTable:
    """Count where the rated answers of a group went; what could not be translated is counted out."""
    members, counted_out = routed_cases(cases, group)
    found = sending_shares([(case.truth, case.decision) for case in members])
    return SendingTable(group, found, counted_out)


def misrouted(cases: Sequence[EvaluationCase]) -> tuple[Misrouted, ...]:
    """Return the answers that were routed wrongly, the sent ones first, otherwise in their order."""
    wrong = [
        Misrouted(case.answer_id, case.language, case.rating, case.decision, case.score, case.reasons)
        for case in cases
        if case.rating is not None and case.is_scored_as_requested and (case.truth, case.decision) in _WRONG
    ]
    return tuple(sorted(wrong, key=lambda each: list(Decision).index(each.decision)))


@dataclass(frozen=True, slots=True)
class CheckRow:
    """The answers in which evidence for a rule was found, as shares of the untrue, true and other ones.

    ``reason`` names the rule. The others are rated, and neither true nor untrue. A share is None where there
    are no such answers.
    """

    reason: str
    untrue: Share | None
    true: Share | None
    others: Share | None


@dataclass(frozen=True, slots=True)
class CheckTable:
    """The rules of the profile, in its order, on the rated answers of one group.

    A rule that sends is among them: its evidence speaks for an answer, so it should be found in true ones.
    Answers that the profile does not score have no evidence, and count as such.
    """

    group: CaseGroup
    rows: tuple[CheckRow, ...]


def check_table(cases: Sequence[EvaluationCase], group: CaseGroup = ALL_CASES) -> CheckTable:
    """Count in how many answers each check found something, whatever was decided in the end."""
    members, _ = routed_cases(cases, group)
    reasons = dict.fromkeys(reason for case in cases for reason in case.checks)
    sides = [
        [case for case in members if case.truth is Label.FALSE],
        [case for case in members if case.truth is Label.TRUE],
        [case for case in members if case.truth not in (Label.FALSE, Label.TRUE)],
    ]
    return CheckTable(
        group, tuple(CheckRow(each, *(_share_found(each, side) for side in sides)) for each in reasons)
    )


def _share_found(reason: str, cases: Sequence[EvaluationCase]) -> Share | None:
    return Share.of(sum(case.checks.get(reason, False) for case in cases), len(cases))
