"""The column of a grid that a clause speaks of."""

from __future__ import annotations

from scoring.figures.asking import Reading
from scoring.figures.clause import Clause
from scoring.figures.naming import Mention
from scoring.figures.reading.amounts import CURRENCIES, PERCENT
from scoring.figures.reading.grids import Grid
from scoring.figures.recognising import is_share
from scoring.figures.scope import row_words
from scoring.figures.values import Obstacle, Operation

_TWO = 2
_RELATIVE = frozenset({Operation.SHARE, Operation.GROWTH, Operation.DIFFERENCE})


def columns(reading: Reading) -> tuple[int, int | None] | Obstacle:
    """Return the column that is meant, and for a share of one column in another that as well."""
    named, operation = reading.named.columns, reading.asked.operation
    if any(mention.is_unclear or not mention.is_one for mention in named):
        return Obstacle.COLUMN
    if operation is Operation.SHARE:
        return _of_share(reading)
    if len(named) > 1:
        return Obstacle.COLUMN
    column = named[0].places[0] if named else _unnamed(reading)
    if isinstance(column, Obstacle):
        return column
    return (column, None) if _fits_words(reading, column) else Obstacle.COLUMN


def _unnamed(reading: Reading) -> int | Obstacle:
    """Return the one column that can be meant where none is named."""
    grid, operation = reading.grid, reading.asked.operation
    if operation is Operation.COUNT:
        return 0
    if operation is Operation.TIME_BETWEEN:
        fitting = [n for n in range(len(grid.columns)) if any(row[n].day for row in grid.cells)]
    elif reading.asked.is_price:
        fitting = [n for n in range(len(grid.columns)) if _is_money(grid, n)]
    else:
        fitting = _of_unit(reading)
    return fitting[0] if len(fitting) == 1 else Obstacle.COLUMN


def _of_unit(reading: Reading) -> list[int]:
    """Return the columns of the claimed figure's unit, else those without one; all where it has none."""
    grid = reading.grid
    every = range(len(grid.columns))
    no_unit = {PERCENT, None} if reading.asked.operation in _RELATIVE else {None}
    units = {figure.amount.unit for figure in reading.figures} - no_unit
    if len(units) != 1:
        return list(every)
    wanted = units.pop()
    of_unit = [n for n in every if wanted in _units(grid, n)]
    return of_unit or [n for n in every if _units(grid, n) == {None}]


def _of_share(reading: Reading) -> tuple[int, int | None] | Obstacle:
    """Return the columns of a share: what stands after "of" is the whole."""
    clause, columns = reading.clause, reading.named.columns
    if len(columns) > _TWO:
        return Obstacle.COLUMN
    shares = [figure for figure in reading.figures if is_share(clause, figure)]
    after = shares[0].last if shares else 0
    following = sorted(
        (mention for mention in (*reading.named.rows, *columns) if mention.first >= after),
        key=lambda each: each.first,
    )
    # "40% of North", "40% of the revenue of North": a share of a row is not one of the column.
    if shares and any(_is_whole(clause, row, after) for row in reading.named.rows):
        return Obstacle.ROWS
    if len(columns) == _TWO:
        if not shares or not following or following[0] not in columns:
            return Obstacle.COLUMN
        whole = following[0].places[0]
        part = next(mention.places[0] for mention in columns if mention.places[0] != whole)
        return part, whole
    column = columns[0].places[0] if columns else _unnamed(reading)
    return column if isinstance(column, Obstacle) else (column, None)


def _is_whole(clause: Clause, row: Mention, after: int) -> bool:
    """Say whether a row is named after a figure and "of", with only small words in between."""
    small, of = clause.lexicon.function_words, clause.lists.of
    place = row.first - 1
    while place > after and clause.words[place].text in small - of:
        place -= 1
    return after <= place < row.first and clause.words[place].text in of


def _units(grid: Grid, column: int) -> set[str | None]:
    return {cell.unit for row in grid.cells if (cell := row[column]).amount}


def _is_money(grid: Grid, column: int) -> bool:
    return not CURRENCIES.isdisjoint(_units(grid, column) - {None})


def _fits_words(reading: Reading, column: int) -> bool:
    """Say whether a column can be what a word asks for: a price for "cheapest", any for "largest region"."""
    asks, clause, grid = reading.asked, reading.clause, reading.grid
    if asks.is_price:
        return _is_money(grid, column)
    if asks.operation not in {Operation.HIGHEST, Operation.LOWEST}:
        return True
    # "The lowest budget" is one of the budgets, not of what else a row has.
    if any(mention.first - 1 in asks.taken for mention in reading.named.rows):
        return False
    after = {place + 1 for place in asks.taken if place + 1 < len(clause.words)}
    if any(clause.stems[place] in grid.across for place in after):
        return False
    # The largest region may be so by any of its figures, but not in a year.
    is_any = len(grid.columns) > 1 and grid.columns[column].time is None
    return not is_any or after.isdisjoint(row_words(clause, grid))
