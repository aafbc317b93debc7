"""Computing what a clause claims of one grid, and comparing that with the figure that it tells."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from scoring.figures.calendar_periods import CalendarPeriod
from scoring.figures.clause import (
    Bound,
    ClaimedOperation,
    Clause,
    Closeness,
    Figure,
    FigureBounds,
    claimed_operation,
    closeness,
    figure_bounds,
    is_share,
    word_indices,
)
from scoring.figures.figure_claims import FigureOutcome, Obstacle, Operation
from scoring.figures.grids import Grid
from scoring.figures.quantities import CALENDAR_UNITS, CURRENCIES, PERCENT, NumberConvention
from scoring.figures.table_cells import AxisLabel, DataCell
from scoring.text.prepared_text import folded_words

_HUNDRED = Decimal(100)
_TWO = 2
_DAYS = {"day": 1, "week": 7}
_FIRST_YEAR, _LAST_YEAR = 1900, 2099
# A formula with more terms is told by its ends.
_MOST_TERMS = 12
_SHOWN_DECIMALS = 4
_TWO_ROW_OPERATIONS = frozenset({Operation.DIFFERENCE, Operation.GROWTH, Operation.TIME_BETWEEN})
_PERCENT_OPERATIONS = frozenset({Operation.SHARE, Operation.GROWTH, Operation.DIFFERENCE})
#: The highest and the lowest of rows.
EXTREMES = frozenset({Operation.HIGHEST, Operation.LOWEST})
_ALL_ROW_OPERATIONS = EXTREMES | {Operation.SUM, Operation.AVERAGE}
_WITHOUT_FIGURE = EXTREMES | {Operation.DIFFERENCE, Operation.GROWTH}


@dataclass(frozen=True, slots=True)
class NamedLabels:
    """Rows or columns that a clause names, in its order; ``firsts`` is where the name of each begins.

    ``is_clear``: no two are named by the same words.
    """

    label_indices: tuple[int, ...]
    word_starts: tuple[int, ...]
    word_indices: frozenset[int]
    is_unambiguous: bool


@dataclass(frozen=True, slots=True)
class Computation:
    """What is true by a grid.

    ``values``: what the figure that is claimed may be, none where it claims none; ``holds``: whether what it
    says besides is so, None where that is not clear.
    """

    values: tuple[Decimal, ...]
    cells: tuple[DataCell, ...]
    formula: str
    unit: str | None = None
    is_true: bool | None = True


@dataclass(frozen=True, slots=True)
class GridFinding:
    """What a grid says of a clause, the figure that is claimed, and what was computed, as far as it was.

    ``names``: how many rows and columns the clause names; ``score``: how much of it the grid accounts for.
    """

    grid: Grid
    outcome: FigureOutcome = FigureOutcome.NOT_CHECKABLE
    operation: Operation | None = None
    obstacle: Obstacle | None = None
    figure: Figure | None = None
    computation: Computation | None = None
    name_count: int = 0
    score: int = 0


@dataclass(frozen=True, slots=True)
class _GridClaim:
    """A clause read against a grid: the rows and the column that are meant, and what figures it has.

    ``is_all``: the rows are all, since none is named; ``is_told``: the clause says that they are all.
    """

    clause: Clause
    grid: Grid
    claimed: ClaimedOperation
    bounds: FigureBounds
    named_rows: NamedLabels
    rows: tuple[int, ...]
    says_all_rows: bool
    column: int
    figures: tuple[Figure, ...]

    @property
    def is_all_rows(self) -> bool:
        return not self.named_rows.label_indices

    def cells(self, rows: Sequence[int]) -> tuple[DataCell, ...]:
        return tuple(self.grid.cells[row][self.column] for row in rows)

    def all_cells(self) -> tuple[DataCell, ...]:
        return self.cells(range(len(self.grid.rows)))


def check_grid(
    clause: Clause, grid: Grid, preceding_clause: Clause | None, *, is_whole: bool
) -> GridFinding | None:
    """Return what a grid says of a clause; None where that asks nothing, or nothing of this grid.

    ``before`` is what was said right before: rows that it names may be meant still. ``is_whole``: nothing of
    the document can have been cut off.
    """
    grid = replace(grid, is_complete=grid.is_complete and (is_whole or not grid.may_be_truncated))
    rows, columns = _named_labels(clause, grid, grid.rows), _named_labels(clause, grid, grid.columns)
    taken = rows.word_indices | columns.word_indices
    how = figure_bounds(clause, taken)
    found = (
        None if isinstance(how, Obstacle) else _grid_operation(clause, grid, rows, taken | how.word_indices)
    )
    if found is None or isinstance(how, Obstacle):
        return None
    above = {
        n
        for n in clause.content_indices
        if n not in taken and not grid.heading_words.isdisjoint(_forms(clause, n))
    }
    names = len(rows.label_indices) + len(columns.label_indices)
    operation = found.operation if isinstance(found, ClaimedOperation) else None
    unclear = GridFinding(grid, operation=operation, name_count=names, score=_TWO * len(taken) + len(above))
    case = found if isinstance(found, Obstacle) else _grid_claim(clause, grid, found, how, rows, columns)
    judged = replace(unclear, obstacle=case) if isinstance(case, Obstacle) else _evaluate(case, unclear)
    if not (names or (above and judged.obstacle is None)):
        return None
    # A unit may stand above anything.
    is_linked = names > 0 or any(clause.words[n].text not in clause.figure_words.unit_of for n in above)
    is_sure = not isinstance(case, Obstacle) and is_linked and _is_sure(case, judged, preceding_clause)
    if judged.outcome is FigureOutcome.REFUTED and not is_sure:
        return replace(judged, outcome=FigureOutcome.NOT_CHECKABLE, obstacle=Obstacle.ROWS)
    return judged


def _is_sure(case: _GridClaim, finding: GridFinding, preceding_clause: Clause | None) -> bool:
    """Say whether nothing else can be meant, as rows that were named before or that the table lacks."""
    operation, grid = case.claimed.operation, case.grid
    if operation not in _ALL_ROW_OPERATIONS:
        return operation is not Operation.SHARE or grid.is_complete
    # "Together" speaks of what was named before, but "the three plans together" of all.
    is_told = case.says_all_rows or not case.claimed.is_joint
    is_whole = grid.is_complete and is_told and not (case.is_all_rows and grid.is_transposed)
    if not case.is_all_rows:
        return is_whole if operation in EXTREMES else len(case.rows) >= _TWO
    if not is_whole or (preceding_clause and _named_labels(preceding_clause, grid, grid.rows).label_indices):
        return False
    return finding.figure is None or not any(_repeats(finding.figure, cell) for cell in case.all_cells())


def _forms(clause: Clause, place: int) -> tuple[str, str]:
    return clause.words[place].text, clause.stems[place]


def _named_labels(clause: Clause, grid: Grid, labels: Sequence[AxisLabel]) -> NamedLabels:
    """Return what is named: by all words of a label that do not go without saying, or by its time."""
    lists = clause.figure_words
    small = grid.heading_words | grid.row_nouns | lists.unit_of.keys() | lists.fillers
    at = {form: n for n in reversed(clause.content_indices) for form in _forms(clause, n)}
    found: dict[int, frozenset[int]] = {}
    for place, label in enumerate(labels):
        stems = {stem for stem in label.stems if stem not in small} or set(label.stems)
        if label.period is None and stems and stems <= at.keys():
            found[place] = frozenset(
                at[stem] for stem in (*label.stems, *label.bracketed_stems) if stem in at
            )
    found = {n: words for n, words in found.items() if not any(words < other for other in found.values())}
    above: frozenset[int] = frozenset()
    for time, words in _clause_periods(clause):
        fitting = [n for n, label in enumerate(labels) if _is_same_period(time, label, grid)]
        found.update((n, words) for n in fitting)
        if not fitting and all(clause.words[n].text in grid.heading_words for n in words):
            above |= words
    every = Counter(n for words in found.values() for n in words)
    # "Start date" begins at "start", not at what it shares with "end date".
    firsts = {place: min(words, key=lambda n: (every[n], n)) for place, words in found.items()}
    kept = tuple(sorted(found, key=firsts.__getitem__))
    stems = {stem for n in kept for stem in labels[n].stems}
    again = {n for n in clause.content_indices if clause.stems[n] in stems}
    return NamedLabels(
        kept, tuple(sorted(firsts.values())), above.union(every, again), len({*firsts.values()}) == len(kept)
    )


def _clause_periods(clause: Clause) -> Iterator[tuple[CalendarPeriod, frozenset[int]]]:
    for when in clause.periods:
        yield when.period, frozenset(range(when.word_start, when.word_end))
    for figure in clause.figures:
        value, written = figure.quantity.number.values[0], clause.words[figure.word_start].text
        if figure.quantity.unit is None and written.isdigit() and _FIRST_YEAR <= value <= _LAST_YEAR:
            yield CalendarPeriod(year=int(value)), frozenset({figure.word_start})


def _is_same_period(time: CalendarPeriod, label: AxisLabel, grid: Grid) -> bool:
    """Say whether a label tells this very time; its year may stand above the grid."""
    if label.period is None or time.finest_unit != label.period.finest_unit:
        return False
    if time.year is not None and label.period.year is None:
        return str(time.year) in grid.heading_words and replace(time, year=None).covers(label.period)
    return time.covers(label.period)


def _grid_operation(
    clause: Clause, grid: Grid, rows: NamedLabels, taken: frozenset[int]
) -> ClaimedOperation | Obstacle | None:
    """Return what a clause asks of a grid: the time between two dates needs no word for it."""
    found = claimed_operation(clause, taken)
    has_span = any(
        each.quantity.unit in CALENDAR_UNITS and each.word_start not in rows.word_indices
        for each in clause.figures
    )
    if (
        not has_span
        or len(rows.label_indices) != _TWO
        or not any(cell.day for row in grid.cells for cell in row)
    ):
        return None if isinstance(found, ClaimedOperation) and found.operation is Operation.COUNT else found
    if isinstance(found, ClaimedOperation) and found.operation not in {Operation.DIFFERENCE, Operation.COUNT}:
        return Obstacle.OPERATION
    taken = found.word_indices if isinstance(found, ClaimedOperation) else frozenset()
    return found if isinstance(found, Obstacle) else ClaimedOperation(Operation.TIME_BETWEEN, taken)


def _grid_claim(
    clause: Clause,
    grid: Grid,
    claimed: ClaimedOperation,
    bounds: FigureBounds,
    rows: NamedLabels,
    columns: NamedLabels,
) -> _GridClaim | Obstacle:
    """Read a clause against a grid; an obstacle where a word is left that may change what it claims."""
    lists, taken = (
        clause.figure_words,
        rows.word_indices | columns.word_indices | bounds.word_indices | claimed.word_indices,
    )
    nouns = _row_words(clause, grid)
    scope = rows.label_indices or tuple(range(len(grid.rows)))
    all_of = {last for _, last in clause.find_phrases(lists.all_of, taken)}
    told = {
        figure
        for figure in (*clause.number_words, *clause.figures)
        if (figure.word_end in nouns or figure.word_start in all_of)
        and figure.word_start not in taken
        and set(figure.quantity.number.values) == {Decimal(len(scope))}
    }
    both = {n for n, word in enumerate(clause.words) if word.text in lists.both}
    if not (rows.is_unambiguous and columns.is_unambiguous) or (both and len(scope) != _TWO):
        return Obstacle.ROWS
    taken |= both | {n for each in told for n in range(each.word_start, each.word_end)}
    figures = tuple(each for each in clause.figures if each.word_start not in taken)
    taken |= {n for each in figures for n in range(each.word_start, each.word_end)} | nouns
    if _has_unknown(clause, grid, claimed.operation, rows, columns, taken):
        return Obstacle.UNKNOWN_WORDS
    case = _GridClaim(clause, grid, claimed, bounds, rows, scope, bool(told or both), 0, figures)
    column = columns.label_indices[0] if columns.label_indices else _implied_column(case)
    if len(columns.label_indices) > 1 or column is None or (claimed.is_price and not _is_money(grid, column)):
        return Obstacle.COLUMN
    return replace(case, column=column) if _may_be_extreme(case, column) else Obstacle.COLUMN


def _may_be_extreme(case: _GridClaim, column: int) -> bool:
    """Say whether a column can be what a word such as "largest" asks for."""
    clause, grid, found = case.clause, case.grid, case.claimed
    if found.operation not in EXTREMES:
        return True
    after = {n + 1 for n in found.word_indices if n + 1 < len(clause.words)}
    # "The lowest budget" is one of the budgets, not of what else a row has.
    if not after.isdisjoint(case.named_rows.word_starts) or any(
        clause.stems[n] in grid.column_nouns for n in after
    ):
        return False
    # The largest region may be so by any of its figures, but not in a year.
    is_any = len(grid.columns) > 1 and grid.columns[column].period is None and not found.is_price
    return not is_any or after.isdisjoint(_row_words(clause, grid))


def _row_words(clause: Clause, grid: Grid) -> frozenset[int]:
    """Return the places of words for what each row is: "month", or what stands above the labels."""
    finest = {row.period.finest_unit if row.period else None for row in grid.rows}
    units = finest if len(finest) == 1 else set[str | None]()
    return frozenset(
        place
        for place, word in enumerate(clause.words)
        if clause.stems[place] in grid.row_nouns
        or clause.figure_words.unit_of.get(word.text, word.text) in units
    )


def _has_unknown(
    clause: Clause,
    grid: Grid,
    operation: Operation,
    rows: NamedLabels,
    columns: NamedLabels,
    taken: frozenset[int],
) -> bool:
    """Say whether a word is left that may change what is claimed."""
    lists, negations = clause.figure_words, clause.lexicon.negations
    cells = [cell for row in grid.cells for cell in row if cell.quantity]
    rests = {cell.suffix for cell in cells}
    words = lists.fillers | (set(folded_words(rests.pop())) if len(rests) == 1 else set[str]())
    if all(cell.unit in CURRENCIES for cell in cells):
        words |= lists.prices
    if operation is Operation.TIME_BETWEEN:
        words |= lists.after | lists.before | lists.elapsed
    phrases = [
        lists.all_of,
        lists.counts,
        *((lists.between, lists.through, lists.until) * (operation in _TWO_ROW_OPERATIONS)),
    ]
    known = taken | word_indices([span for each in phrases for span in clause.find_phrases(each, taken)])
    known |= {
        n for n in range(len(clause.words)) if clause.words[n].text in lists.kinds and _is_beside(n, rows)
    }
    if operation is Operation.AVERAGE:
        known |= {first for first, last in clause.find_phrases(lists.every, taken) if last in taken}
    # "Revenue per employee" is told by no column.
    if any(first and clause.words[first - 1].text in lists.per for first in columns.word_starts):
        return True
    return any(
        word.text in negations
        or not (word.text in words or not grid.heading_words.isdisjoint(_forms(clause, n)))
        for n, word in enumerate(clause.words)
        if n not in known
    )


def _is_beside(place: int, rows: NamedLabels) -> bool:
    return place + 1 in rows.word_indices or place - 1 in rows.word_indices


def _implied_column(case: _GridClaim) -> int | None:
    """Return the one column that can be meant where none is named: by the unit of the claimed figure."""
    grid, every = case.grid, range(len(case.grid.columns))
    if case.claimed.operation is Operation.TIME_BETWEEN:
        fitting = [n for n in every if any(row[n].day for row in grid.cells)]
    elif case.claimed.is_price:
        fitting = [n for n in every if _is_money(grid, n)]
    else:
        no_unit = {PERCENT, None} if case.claimed.operation in _PERCENT_OPERATIONS else {None}
        units = {figure.quantity.unit for figure in case.figures} - no_unit
        fitting = [n for n in every if len(units) != 1 or units <= _units(grid, n)]
        fitting = fitting or [n for n in every if _units(grid, n) == {None}]
    return fitting[0] if len(fitting) == 1 else None


def _units(grid: Grid, column: int) -> set[str | None]:
    return {cell.unit for row in grid.cells if (cell := row[column]).quantity}


def _is_money(grid: Grid, column: int) -> bool:
    return not CURRENCIES.isdisjoint(_units(grid, column) - {None})


def _evaluate(case: _GridClaim, unclear: GridFinding) -> GridFinding:
    """Judge by either way to read the numbers; what claims no figure must hold by both."""
    judged = [_evaluate_convention(convention, case, unclear) for convention in case.grid.conventions]
    confirmed = [each for each in judged if each.outcome is FigureOutcome.CONFIRMED]
    if confirmed and (confirmed[0].figure or len(confirmed) == len(judged)):
        return confirmed[0]
    if confirmed:
        return replace(unclear, obstacle=Obstacle.CELLS)
    return next((each for each in judged if each.outcome is FigureOutcome.NOT_CHECKABLE), judged[0])


def _evaluate_convention(convention: NumberConvention, case: _GridClaim, unclear: GridFinding) -> GridFinding:
    """Judge by one convention; what is computed depends on the unit of the figure that is claimed."""
    judged = replace(unclear, obstacle=Obstacle.FIGURE)
    if not case.figures and case.claimed.operation not in _WITHOUT_FIGURE:
        return judged
    for unit in dict.fromkeys(each.quantity.unit for each in case.figures) or (None,):
        computed = _COMPUTERS[case.claimed.operation](case, convention, unit)
        if isinstance(computed, Obstacle):
            judged = replace(unclear, obstacle=computed)
            continue
        # One that only repeats a cell is not what is claimed.
        figures = [each for each in case.figures if not any(_repeats(each, cell) for cell in computed.cells)]
        figures = figures if len(case.figures) > 1 else list(case.figures)
        figure = figures[0] if len(figures) == 1 else None
        if (figure is None and case.figures) or (figure and figure.quantity.unit != unit):
            continue
        outcome = _compare_figure(case, computed, figure)
        if isinstance(outcome, Obstacle):
            return replace(unclear, obstacle=outcome, figure=figure, computation=computed)
        return replace(unclear, outcome=outcome, figure=figure, computation=computed)
    return judged


def _repeats(figure: Figure, cell: DataCell) -> bool:
    if cell.quantity is None or len({cell.unit, figure.quantity.unit} - {None}) > 1:
        return False
    return not set(figure.quantity.number.values).isdisjoint(cell.quantity.number.values)


def _compare_figure(
    case: _GridClaim, computed: Computation, figure: Figure | None
) -> FigureOutcome | Obstacle:
    """Say whether a clause holds by what was computed."""
    if computed.is_true is None:
        return Obstacle.OPERATION
    holds = FigureOutcome.CONFIRMED if computed.is_true else FigureOutcome.REFUTED
    if figure is None or not computed.values:
        return holds
    unit, bound = figure.quantity.unit, case.bounds.by_word.get(figure.word_start, Bound.EXACT)
    if unit and computed.unit and unit != computed.unit:
        return Obstacle.UNITS
    values = list(computed.values)
    # In thousands: in full, without a unit also as it stands in the data.
    power = max(label.power for label in (case.grid.columns[case.column], *case.grid.rows))
    if power and computed.unit != PERCENT and case.claimed.operation is not Operation.TIME_BETWEEN:
        values = [value.scaleb(power) for value in values] + values * (unit is None)
    close = max(closeness(v, each, bound) for v in values for each in figure.quantity.number.values)
    if close is Closeness.SAME:
        return holds
    if close is Closeness.NEAR or (unit and computed.unit is None):
        return Obstacle.ROUNDING if close is Closeness.NEAR else Obstacle.UNITS
    return FigureOutcome.REFUTED


def _values(
    cells: Sequence[DataCell], convention: NumberConvention
) -> tuple[list[Decimal], str | None] | Obstacle:
    """Return the values of cells and the unit that they share; an obstacle where they are not of one kind."""
    read = [cell.quantity.number.by_convention(convention) if cell.quantity else None for cell in cells]
    values = [value for value in read if value is not None]
    kinds = {(cell.unit, cell.suffix) for cell in cells}
    if len(values) < len(cells):
        return Obstacle.CELLS
    return (values, cells[0].unit) if len(kinds) == 1 else Obstacle.UNITS


def _total(case: _GridClaim, convention: NumberConvention, unit: str | None) -> Computation | Obstacle:
    """Return the sum or the mean of the rows; the data must agree with their own total."""
    cells = case.cells(case.rows)
    found = _values(cells, convention)
    if isinstance(found, Obstacle):
        return found
    values, unit = found
    total = sum(values, Decimal(0))
    if case.claimed.operation is Operation.AVERAGE:
        mean = total / len(values)
        return Computation(
            (mean,), cells, f"({_joined(values)}) / {len(values)} = {format_value(mean)}", unit
        )
    told = case.grid.totals.get(case.column) if case.is_all_rows else None
    if told and told.quantity and told.quantity.number.by_convention(convention) != total:
        return Obstacle.CELLS
    return Computation((total,), cells, f"{_joined(values)} = {format_value(total)}", unit)


def _share(case: _GridClaim, convention: NumberConvention, _: str | None) -> Computation | Obstacle:
    """Return what part of a column some rows are, in percent."""
    # "40% of North", "40% of the revenue of North": a share of a row is not one of the column.
    after = next(
        (each.word_end for each in case.figures if is_share(case.clause, each)), len(case.clause.words)
    )
    if case.is_all_rows or any(_is_whole(case.clause, first, after) for first in case.named_rows.word_starts):
        return Obstacle.ROWS
    found, part = _values(case.all_cells(), convention), _values(case.cells(case.rows), convention)
    if isinstance(found, Obstacle) or isinstance(part, Obstacle) or found[1] == PERCENT:
        return Obstacle.UNITS
    own, whole = sum(part[0], Decimal(0)), sum(found[0], Decimal(0))
    if whole <= 0:
        return Obstacle.CELLS
    share = own / whole * _HUNDRED
    return Computation(
        (share,),
        case.all_cells(),
        f"{format_value(own)} / ({_joined(found[0])}) x 100% = {format_value(share)}%",
        PERCENT,
    )


def _is_whole(clause: Clause, first: int, after: int) -> bool:
    """Say whether a row is named after a figure and "of", with only small words in between."""
    small, of = clause.lexicon.function_words, clause.figure_words.of
    place = first - 1
    while place > after and clause.words[place].text in small - of:
        place -= 1
    return after <= place < first and clause.words[place].text in of


def _difference(  # noqa: PLR0911 - one for each way that it is not clear
    case: _GridClaim, convention: NumberConvention, unit: str | None
) -> Computation | Obstacle:
    """Return by how much one row is more or less than another, or a later one than an earlier one."""
    asked, rows = case.claimed, case.named_rows
    if len(rows.label_indices) != _TWO:
        return Obstacle.ROWS
    one, other = rows.label_indices
    if asked.operation is Operation.GROWTH:
        times = [row.period for row in case.grid.rows if row.period]
        if len(times) < len(case.grid.rows) or len({time.precision for time in times}) > 1:
            return Obstacle.ROWS
        other, one = sorted((one, other), key=lambda n: times[n].sort_key)
    elif asked.direction and not (
        asked.than_index and rows.word_starts[0] < asked.than_index < rows.word_starts[1]
    ):
        return Obstacle.ROWS
    cells = case.cells((one, other))
    found = _values(cells, convention)
    if isinstance(found, Obstacle):
        return found
    (first, last), its = found
    off = (first - last) * asked.direction if asked.direction else abs(first - last)
    if not case.figures:
        return Computation(
            (),
            cells,
            f"{format_value(first)} - {format_value(last)} = {format_value(first - last)}",
            its,
            off > 0,
        )
    high, low = (first, last) if off == first - last else (last, first)
    holds = off >= 0 if asked.direction else None if unit == PERCENT and its != PERCENT else True
    if unit != PERCENT:
        return Computation(
            (off,), cells, f"{format_value(high)} - {format_value(low)} = {format_value(off)}", its, holds
        )
    if last == 0 or holds is None:
        return Obstacle.UNITS
    share = off / abs(last) * _HUNDRED
    formula = (
        f"({format_value(high)} - {format_value(low)}) / {format_value(last)} x 100% = {format_value(share)}%"
    )
    # Of percents, so many may be meant as well.
    return Computation((share, off) if its == PERCENT else (share,), cells, formula, PERCENT, holds)


def _extreme(case: _GridClaim, convention: NumberConvention, _: str | None) -> Computation | Obstacle:
    """Return the highest or lowest of all rows, and say whether the row that is named has it."""
    if len(case.named_rows.label_indices) > 1:
        return Obstacle.ROWS
    found = _values(case.all_cells(), convention)
    if isinstance(found, Obstacle):
        return found
    values, unit = found
    choose = max if case.claimed.operation is Operation.HIGHEST else min
    best = choose(values)
    holders = [row for row, value in enumerate(values) if value == best]
    labels = ", ".join(case.grid.rows[row].text for row in holders)
    formula = f"{choose.__name__}({_joined(values, ', ')}) = {format_value(best)} ({labels})"
    holds = case.is_all_rows or case.named_rows.label_indices[0] in holders
    return Computation((best,) if case.figures else (), case.all_cells(), formula, unit, holds)


def _time_between(case: _GridClaim, _: NumberConvention, unit: str | None) -> Computation | Obstacle:
    """Return the days or weeks between two dates; their order must be as it is told."""
    cells = case.cells(case.named_rows.label_indices)
    days = [cell.day for cell in cells if cell.day]
    if len(days) != _TWO or unit not in _DAYS:
        return Obstacle.CELLS
    early, late = sorted(days)
    span = (late - early).days
    holds = True
    for own, first in enumerate(case.named_rows.word_starts):
        near = {word.text for word in case.clause.words[max(first - 2, 0) : first]}
        if near & (case.clause.figure_words.after | case.clause.figure_words.before):
            holds = (
                days[own] <= days[1 - own]
                if near & case.clause.figure_words.after
                else days[own] >= days[1 - own]
            )
            break
    value = Decimal(span) / _DAYS[unit]
    formula = f"{late.isoformat()} - {early.isoformat()} = {span} days"
    # Whether the first day counts is not told.
    maybe = {value + 1} & {v for each in case.figures for v in each.quantity.number.values if unit == "day"}
    return Computation((value,), cells, formula, unit, None if maybe else holds)


def format_value(value: Decimal) -> str:
    """Return a value as a formula shows it."""
    text = format(round(value, _SHOWN_DECIMALS), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _joined(values: Sequence[Decimal], sign: str = " + ") -> str:
    if len(values) <= _MOST_TERMS:
        return sign.join(map(format_value, values))
    return f"{format_value(values[0])}{sign}…{sign}{format_value(values[-1])} ({len(values)} cells)"


_COMPUTERS: Mapping[
    Operation, Callable[[_GridClaim, NumberConvention, str | None], Computation | Obstacle]
] = {
    Operation.SUM: _total,
    Operation.AVERAGE: _total,
    Operation.DIFFERENCE: _difference,
    Operation.SHARE: _share,
    Operation.GROWTH: _difference,
    Operation.HIGHEST: _extreme,
    Operation.LOWEST: _extreme,
    Operation.TIME_BETWEEN: _time_between,
}
