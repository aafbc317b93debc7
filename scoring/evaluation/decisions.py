"""Two ways of scoring compared by what they decide about the same answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import EVERY, Case, Group
from scoring.evaluation.statistics import Share
from scoring.values.types import Decision


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """What the second way decided about the answers that the first one decided on like this.

    ``auto_send``, ``review`` and ``blocked`` count answers; ``changed`` is the share of those with another
    decision, None where there are no answers.
    """

    decision: Decision
    answers: int
    auto_send: int
    review: int
    blocked: int
    changed: Share | None


@dataclass(frozen=True, slots=True)
class DecisionTable:
    """The decisions of two ways on the answers of one group, rated or not.

    ``same`` is the share of answers with equal decisions, None where there are none. Answers that either
    way could not judge as it should, for want of a translation, are ``counted_out``.
    """

    group: Group
    answers: int
    counted_out: int
    same: Share | None
    rows: tuple[DecisionRow, ...]


def decision_table(first: Sequence[Case], second: Sequence[Case], group: Group = EVERY) -> DecisionTable:
    """Compare the decisions on the same answers, in the same order."""
    members = [(one, other) for one, other in zip(first, second, strict=True) if group.holds(one)]
    pairs = Counter(
        (one.decision, other.decision) for one, other in members if one.as_asked and other.as_asked
    )
    answers = pairs.total()
    return DecisionTable(
        group=group,
        answers=answers,
        counted_out=len(members) - answers,
        same=Share.of(sum(pairs[each, each] for each in Decision), answers),
        rows=tuple(_row(each, pairs) for each in Decision),
    )


def _row(first: Decision, pairs: Counter[tuple[Decision, Decision]]) -> DecisionRow:
    answers = sum(pairs[first, other] for other in Decision)
    return DecisionRow(
        decision=first,
        answers=answers,
        auto_send=pairs[first, Decision.AUTO_SEND],
        review=pairs[first, Decision.REVIEW],
        blocked=pairs[first, Decision.BLOCKED],
        changed=Share.of(answers - pairs[first, first], answers),
    )
