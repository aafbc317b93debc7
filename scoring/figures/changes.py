"""Differences between two rows, growth and trends along rows in order of time."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from scoring.figures.case import Case, Computed, show, unit_of, values_of
from scoring.figures.reading.amounts import PERCENT
from scoring.figures.reading.cells import Cell
from scoring.figures.reading.numbers import Convention
from scoring.figures.scope import in_order
from scoring.figures.values import Obstacle

_HUNDRED = Decimal(100)
_TWO = 2


def difference(case: Case, convention: Convention) -> Computed | Obstacle:
    """Return by how much one row is more or less than another."""
    pair = _pair(case)
    if isinstance(pair, Obstacle):
        return pair
    cells = case.cells(pair)
    unit = unit_of(cells)
    if isinstance(unit, Obstacle):
        return unit
    one, other = values_of(cells, convention)
    off = (one - other) * case.asked.direction if case.asked.direction else abs(one - other)
    return _off(case, cells, off, (one, other), unit)


def _off(
    case: Case, cells: list[Cell], off: Decimal, pair: tuple[Decimal, Decimal], unit: str | None
) -> Computed | Obstacle:
    """Return a difference, in percent of the second where the claim is in percent."""
    one, other = pair
    high, low = (one, other) if off == one - other else (other, one)
    formula = f"{show(high)} - {show(low)} = {show(off)}"
    plain = Computed((off,), tuple(cells), formula, unit, holds=None, operands=tuple(cells))
    if not case.has_figure:
        return replace(plain, values=(), holds=off > 0)
    holds = True if not case.asked.direction else off >= 0
    if case.unit != PERCENT:
        return replace(plain, holds=holds)
    if other == 0 or not case.asked.direction:
        return Obstacle.UNITS
    share = off / abs(other) * _HUNDRED
    values = (share, off) if unit == PERCENT else (share,)
    relative = f"({show(high)} - {show(low)}) / {show(other)} x 100% = {show(share)}%"
    # Of percents, so many may be meant as well.
    formula = f"{formula}; {relative}" if unit == PERCENT else relative
    return replace(plain, values=values, formula=formula, unit=PERCENT, holds=holds)


def _pair(case: Case) -> tuple[int, int] | Obstacle:
    """Return the two rows of a difference: what is more or less, and than what."""
    rows, asked = case.named.rows, case.asked
    if len(rows) != _TWO or not all(mention.is_one for mention in rows):
        return Obstacle.ROWS
    first, last = rows
    if not asked.direction:
        return first.places[0], last.places[0]
    if asked.than is None or not first.last <= asked.than < last.first:
        return Obstacle.ROWS
    return first.places[0], last.places[0]


def growth(case: Case, convention: Convention) -> Computed | Obstacle:
    """Return by how much a later row is more or less than an earlier one."""
    found = _ends(case)
    if isinstance(found, Obstacle):
        return found
    base, target, is_firm = found
    cells = case.cells((target, base))
    unit = unit_of(cells)
    if isinstance(unit, Obstacle):
        return unit
    after, before = values_of(cells, convention)
    off = (after - before) * case.asked.direction
    computed = _off(case, cells, off, (after, before), unit)
    return computed if isinstance(computed, Obstacle) else replace(computed, is_firm=is_firm)


def _ends(case: Case) -> tuple[int, int, bool] | Obstacle:
    """Return the earlier and the later row, and whether the clause surely means these."""
    rows, grid = case.named.rows, case.grid
    if not all(mention.is_one for mention in rows) or not in_order(grid, range(len(grid.rows))):
        return Obstacle.ROWS
    if len(rows) == _TWO:
        low, high = sorted(mention.places[0] for mention in rows)
        return low, high, True
    if len(rows) == 1 and rows[0].places[0] > 0:
        return rows[0].places[0] - 1, rows[0].places[0], False
    if not rows:
        told = case.scope.rows
        return told[0], told[-1], (len(told) == _TWO and grid.is_complete) or not case.scope.is_all
    return Obstacle.ROWS


def trend(case: Case, convention: Convention) -> Computed | Obstacle:
    """Say whether rows rise or fall at every step."""
    if not in_order(case.grid, case.scope.rows):
        return Obstacle.ROWS
    cells = case.cells(case.scope.rows)
    unit = unit_of(cells)
    if isinstance(unit, Obstacle):
        return unit
    steps = [
        (later - earlier) * case.asked.direction for earlier, later in pairwise(values_of(cells, convention))
    ]
    if len(steps) < _TWO or case.has_figure:
        return Obstacle.ROWS
    holds = True if min(steps) > 0 else None if min(steps) == 0 else False
    formula = f"steps: {', '.join(show(step * case.asked.direction) for step in steps)}"
    return Computed((), tuple(cells), formula, unit, holds=holds, is_firm=case.grid.is_complete)
