"""What a clause asks of a grid, ready to compute, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from scoring.figures.clause import Clause
from scoring.figures.naming import Named
from scoring.figures.reading.cells import Cell
from scoring.figures.reading.grids import Grid
from scoring.figures.reading.numbers import Convention
from scoring.figures.recognising import Asked
from scoring.figures.scope import Scope, in_order
from scoring.figures.values import Obstacle

# A formula with more terms is told by its ends.
_MOST_TERMS = 12
_SHOWN_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Case:
    """What a clause asks of a grid: the operation, the rows, and the column that they are read in.

    ``whole``: a second column, of which the first is a share; ``unit``: that of the claimed figure.
    """

    clause: Clause
    grid: Grid
    named: Named
    asked: Asked
    scope: Scope
    column: int
    whole: int | None = None
    unit: str | None = None
    has_figure: bool = True

    def cells(self, rows: Iterable[int], column: int | None = None) -> list[Cell]:
        """Return the cells of rows in a column, its own where none is given."""
        return [self.grid.cells[row][self.column if column is None else column] for row in rows]


@dataclass(frozen=True, slots=True)
class Computed:
    """What is true by the data.

    - ``values``: what the claimed figure must be, several where it can be meant in several ways, none where
      it claims none.
    - ``holds``: whether what it says besides its figure is so; None where that is not clear.
    - ``unit``: that of the value, None where the data do not tell; ``is_firm``: any other is surely wrong.
    - ``operands``: cells whose figures the clause may repeat; ``maybe``: values that may be meant as well.
    - ``power``: that of ten that the values are told in.
    """

    values: tuple[Decimal, ...]
    cells: tuple[Cell, ...]
    formula: str
    unit: str | None = None
    holds: bool | None = True
    is_firm: bool = True
    operands: tuple[Cell, ...] = ()
    maybe: tuple[Decimal, ...] = ()
    power: int = 0


def unit_of(cells: Sequence[Cell]) -> str | Obstacle | None:
    """Return the unit that cells share; an obstacle where they have no figure or are not of one kind."""
    kinds = {(cell.unit, cell.rest) for cell in cells}
    if any(cell.amount is None for cell in cells):
        return Obstacle.CELLS
    if len(kinds) != 1:
        return Obstacle.UNITS
    return kinds.pop()[0]


def values_of(cells: Sequence[Cell], convention: Convention) -> list[Decimal]:
    """Return the values of cells, read by a convention."""
    found = (cell.amount.number.read(convention) for cell in cells if cell.amount)
    return [value for value in found if value is not None]


def rows_are_sure(case: Case) -> bool:
    """Say whether no other rows can be meant: those that are named, or plainly all of them."""
    grid = case.grid
    if not case.scope.is_all:
        return True
    has_series = not grid.is_turned or in_order(grid, range(len(grid.rows)))
    # "Together" speaks of what was named before, but "the three plans together" of all.
    is_told = not case.asked.is_joint or bool(case.scope.taken)
    return grid.is_complete and has_series and is_told


def show(value: Decimal) -> str:
    """Return a value as a formula shows it."""
    rounded = round(value, _SHOWN_DECIMALS)
    text = format(rounded, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def joined(values: Sequence[Decimal]) -> str:
    """Return the terms of a sum as a formula shows them."""
    if len(values) <= _MOST_TERMS:
        return " + ".join(map(show, values))
    return f"{show(values[0])} + … + {show(values[-1])} ({len(values)} cells)"
