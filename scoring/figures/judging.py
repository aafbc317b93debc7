"""What one grid says of what a clause asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from scoring.figures.asking import Reading
from scoring.figures.case import Case, Computed
from scoring.figures.clause import Figure
from scoring.figures.columns import columns
from scoring.figures.computing import compute
from scoring.figures.naming import named
from scoring.figures.reading.cells import Cell
from scoring.figures.reading.numbers import Convention
from scoring.figures.recognising import Bound, Meant
from scoring.figures.rounding import Closeness, closeness
from scoring.figures.values import Obstacle, Operation, Outcome

_ON_ALL = frozenset({Operation.SUM, Operation.AVERAGE, Operation.HIGHEST, Operation.LOWEST})
_WITHOUT_FIGURE = frozenset(
    {
        Operation.TREND,
        Operation.OUTLIER,
        Operation.HIGHEST,
        Operation.LOWEST,
        Operation.DIFFERENCE,
        Operation.GROWTH,
    }
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a reading holds, with the figure that it claims and what was computed, as far as it was."""

    outcome: Outcome
    figure: Figure | None = None
    computed: Computed | None = None
    obstacle: Obstacle | None = None


def judge(reading: Reading) -> Judgement:
    """Say whether what a clause claims is so: by any way to read the numbers, and refuted only by all."""
    found = columns(reading)
    if isinstance(found, Obstacle):
        return _blocked(found)
    column, whole = found
    case = Case(
        reading.clause, reading.grid, reading.named, reading.asked, reading.scope, column, whole, None, False
    )
    return _best([_by(convention, reading, case) for convention in reading.grid.conventions])


def _by(convention: Convention, reading: Reading, case: Case) -> Judgement:
    """Judge by one convention; what is computed depends on the unit of the figure that is claimed."""
    if not reading.figures:
        return _judged(reading, case, convention, None)
    judged = _blocked(Obstacle.FIGURE)
    for unit in dict.fromkeys(figure.amount.unit for figure in reading.figures):
        told = replace(case, unit=unit, has_figure=True)
        computed = compute(told, convention)
        if isinstance(computed, Obstacle):
            judged = _blocked(computed)
        elif (figure := _claimed(reading.figures, computed)) and figure.amount.unit == unit:
            return _judged(reading, told, convention, figure)
    return judged


def _blocked(obstacle: Obstacle) -> Judgement:
    return Judgement(Outcome.NOT_CHECKABLE, obstacle=obstacle)


def _best(judged: Sequence[Judgement]) -> Judgement:
    """Return what holds by either convention; a claim without a figure must hold by both."""
    confirmed = [each for each in judged if each.outcome is Outcome.CONFIRMED]
    if confirmed and (confirmed[0].figure or len(confirmed) == len(judged)):
        return confirmed[0]
    if confirmed:
        return _blocked(Obstacle.CELLS)
    return next((each for each in judged if each.outcome is Outcome.NOT_CHECKABLE), judged[0])


def _judged(reading: Reading, case: Case, convention: Convention, figure: Figure | None) -> Judgement:
    computed = compute(case, convention)
    if isinstance(computed, Obstacle):
        return _blocked(computed)
    if figure is None and case.asked.operation not in _WITHOUT_FIGURE:
        return _blocked(Obstacle.FIGURE)
    outcome = _compared(reading, computed, figure, case.column)
    if isinstance(outcome, Obstacle):
        return replace(_blocked(outcome), figure=figure, computed=computed)
    return Judgement(outcome, figure, computed)


def _claimed(figures: Sequence[Figure], computed: Computed) -> Figure | None:
    """Return the figure that is claimed: the only one that does not just repeat a cell."""
    if len(figures) > 1:
        figures = [each for each in figures if not any(_repeats(each, cell) for cell in computed.operands)]
    return figures[0] if len(figures) == 1 else None


def _repeats(figure: Figure, cell: Cell) -> bool:
    if cell.amount is None or len({cell.unit, figure.amount.unit} - {None}) > 1:
        return False
    return not set(figure.amount.number.values).isdisjoint(cell.amount.number.values)


def _compared(reading: Reading, computed: Computed, figure: Figure | None, column: int) -> Outcome | Obstacle:
    """Say whether a clause holds by what was computed."""
    refuted: Outcome | Obstacle = (
        Outcome.REFUTED if _may_refute(reading, computed, figure, column) else Obstacle.ROWS
    )
    if computed.holds is None:
        return Obstacle.OPERATION
    if figure is None or not computed.values:
        return Outcome.CONFIRMED if computed.holds else refuted
    unit = figure.amount.unit
    if unit and computed.unit and unit != computed.unit:
        return Obstacle.UNITS
    close = _closest(_in_full(computed, figure), figure, reading.meant)
    if close is Closeness.SAME:
        return Outcome.CONFIRMED if computed.holds else refuted
    if close is Closeness.NEAR or _closest(computed.maybe, figure, reading.meant) is Closeness.SAME:
        return Obstacle.ROUNDING
    return Obstacle.UNITS if unit and computed.unit is None else refuted


def _in_full(computed: Computed, figure: Figure) -> list[Decimal]:
    """Return the values that a figure may have: in full, without a unit also as they stand in the data."""
    full = [value.scaleb(computed.power) for value in computed.values]
    return full if figure.amount.unit or not computed.power else [*full, *computed.values]


def _closest(values: Iterable[Decimal], figure: Figure, how: Meant) -> Closeness:
    bound = how.bounds.get(figure.first, Bound.EXACT)
    found = [closeness(value, claimed, bound) for value in values for claimed in figure.amount.number.values]
    return max(found, default=Closeness.OFF)


def _may_refute(reading: Reading, computed: Computed, figure: Figure | None, column: int) -> bool:
    """Say whether nothing else can be meant, as a row that was named before."""
    mentions = (*reading.named.rows, *reading.named.columns)
    if not (computed.is_firm and reading.is_linked) or any(mention.is_partial for mention in mentions):
        return False
    if reading.asked.operation not in _ON_ALL or not reading.scope.is_all:
        return True
    if reading.before and named(reading.before, reading.grid).rows:
        return False
    cells = [row[column] for row in reading.grid.cells]
    return figure is None or not any(_repeats(figure, cell) for cell in cells)
