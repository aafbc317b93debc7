"""The precision of each check: how many untrue answers it finds, and how many true ones it takes for such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import EVERY, Case, Group
from scoring.evaluation.statistics import Share
from scoring.values.opinion import Label


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

    group: Group
    rows: tuple[CheckRow, ...]


def check_table(cases: Sequence[Case], group: Group = EVERY) -> CheckTable:
    """Count in how many answers each check found something, whatever was decided in the end."""
    members = [case for case in group.of(cases) if case.rating is not None and case.as_asked]
    reasons = dict.fromkeys(reason for case in cases for reason in case.checks)
    sides = [
        [case for case in members if case.truth is Label.FALSE],
        [case for case in members if case.truth is Label.TRUE],
        [case for case in members if case.truth not in (Label.FALSE, Label.TRUE)],
    ]
    return CheckTable(
        group, tuple(CheckRow(each, *(_found(each, side) for side in sides)) for each in reasons)
    )


def _found(reason: str, cases: Sequence[Case]) -> Share | None:
    return Share.of(sum(case.checks.get(reason, False) for case in cases), len(cases))
