"""Sums, averages, shares and counts of rows."""

from __future__ import annotations

from decimal import Decimal

from scoring.figures.case import Case, Computed, joined, rows_are_sure, show, unit_of, values_of
from scoring.figures.reading.amounts import PERCENT
from scoring.figures.reading.numbers import Convention
from scoring.figures.values import Obstacle

_HUNDRED = Decimal(100)


def total(case: Case, convention: Convention) -> Computed | Obstacle:
    """Return the sum of the rows that are meant; the data must agree with their own total."""
    cells = case.cells(case.scope.rows)
    unit = unit_of(cells)
    if isinstance(unit, Obstacle):
        return unit
    values = values_of(cells, convention)
    total = sum(values, Decimal(0))
    told = case.grid.totals.get(case.column) if case.scope.is_all else None
    if told and told.amount and told.amount.number.read(convention) != total:
        return Obstacle.CELLS
    is_firm = rows_are_sure(case) and len(cells) > 1
    return Computed(
        (total,),
        tuple(cells),
        f"{joined(values)} = {show(total)}",
        unit,
        is_firm=is_firm,
        operands=tuple(cells),
    )


def average(case: Case, convention: Convention) -> Computed | Obstacle:
    """Return the mean of the rows that are meant."""
    cells = case.cells(case.scope.rows)
    unit = unit_of(cells)
    if isinstance(unit, Obstacle):
        return unit
    values = values_of(cells, convention)
    mean = sum(values, Decimal(0)) / len(values)
    formula = f"({joined(values)}) / {len(values)} = {show(mean)}"
    is_firm = rows_are_sure(case) and len(cells) > 1
    return Computed((mean,), tuple(cells), formula, unit, is_firm=is_firm, operands=tuple(cells))


def share(case: Case, convention: Convention) -> Computed | Obstacle:
    """Return what part of a column some rows are, or one column of another, in percent."""
    every = range(len(case.grid.rows))
    of_rows = case.whole is None
    if of_rows and (case.scope.is_all or not case.grid.is_complete):
        return Obstacle.ROWS
    parts = case.cells(case.scope.rows)
    wholes = case.cells(every) if of_rows else case.cells(case.scope.rows, case.whole)
    units = unit_of(parts), unit_of(wholes)
    if units[0] == PERCENT or units[0] != units[1] or any(isinstance(unit, Obstacle) for unit in units):
        return Obstacle.UNITS
    part, whole = (sum(values_of(cells, convention), Decimal(0)) for cells in (parts, wholes))
    if whole <= 0:
        return Obstacle.CELLS
    share = part / whole * _HUNDRED
    formula = f"{show(part)} / ({joined(values_of(wholes, convention))}) x 100% = {show(share)}%"
    cells = tuple(dict.fromkeys((*parts, *wholes)))
    return Computed((share,), cells, formula, PERCENT, operands=cells)


def count(case: Case, convention: Convention) -> Computed | Obstacle:  # noqa: ARG001 - counts no numbers
    """Return how many rows there are."""
    grid = case.grid
    cells = tuple(case.cells(range(len(grid.rows))))
    count = Decimal(len(grid.rows))
    is_firm = grid.is_complete and not grid.is_turned
    return Computed((count,), cells, f"{len(cells)} rows", None, is_firm=is_firm)
