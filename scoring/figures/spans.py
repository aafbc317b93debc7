"""The time between two dates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from scoring.figures.case import Case, Computed
from scoring.figures.naming import Mention
from scoring.figures.reading.amounts import SPANS
from scoring.figures.reading.numbers import Convention
from scoring.figures.values import Obstacle

_TWO = 2
_DAYS_OF_WEEK = 7
_DAYS_OF_MONTH = 30
_MONTHS = 12


def time_between(case: Case, convention: Convention) -> Computed | Obstacle:  # noqa: ARG001 - dates have none
    """Return the time between two dates in the unit of the claimed figure; their order must be right."""
    rows = case.named.rows
    if len(rows) != _TWO or not all(mention.is_one for mention in rows) or case.unit not in SPANS:
        return Obstacle.ROWS
    cells = case.cells(mention.places[0] for mention in rows)
    days = [cell.day for cell in cells if cell.day]
    if len(days) != _TWO:
        return Obstacle.CELLS
    early, late = sorted(days)
    span = Decimal((late - early).days)
    value = _in_unit(early, late, case.unit)
    formula = f"{late.isoformat()} - {early.isoformat()} = {span} days"
    # Whether the first day counts is not told.
    maybe = (value + 1,) if case.unit == "day" else ()
    holds = _in_that_order(case, rows, days)
    return Computed((value,), tuple(cells), formula, case.unit, holds, maybe=maybe)


def _in_unit(early: date, late: date, unit: str | None) -> Decimal:
    days = Decimal((late - early).days)
    if unit == "day":
        return days
    if unit == "week":
        return days / _DAYS_OF_WEEK
    months = (late.year - early.year) * _MONTHS + late.month - early.month
    whole = Decimal(months) + Decimal(late.day - early.day) / _DAYS_OF_MONTH
    return whole if unit == "month" else whole / _MONTHS


def _in_that_order(case: Case, rows: Sequence[Mention], days: Sequence[date]) -> bool | None:
    """Say whether what is said to come "after" another does; None where that is not clear."""
    lists, words = case.clause.lists, case.clause.words
    if any(word.text in lists.than for word in words):
        return None
    for mention, own, other in ((rows[0], days[0], days[1]), (rows[1], days[1], days[0])):
        near = [words[place].text for place in range(max(mention.first - 2, 0), mention.first)]
        if any(word in lists.after for word in near):
            return own <= other
        if any(word in lists.before for word in near):
            return own >= other
    return True
