"""Computing what a clause claims of one grid, and comparing that with the figure that it tells."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from scoring.figures.clause import (
    Asked,
    Bound,
    Clause,
    Closeness,
    Figure,
    Meant,
    asked,
    closeness,
    is_share,
    meant,
    places,
)
from scoring.figures.grids import Grid
from scoring.figures.labels import Cell, Label
from scoring.figures.numbers import CURRENCIES, PERCENT, SPANS, Convention
from scoring.figures.times import Time
from scoring.figures.values import Obstacle, Operation, Outcome
from scoring.text.prepared import folded_words

_HUNDRED = Decimal(100)
_TWO = 2
_DAYS = {"day": 1, "week": 7}
_FIRST_YEAR, _LAST_YEAR = 1900, 2099
# A formula with more terms is told by its ends.
_MOST_TERMS = 12
_SHOWN_DECIMALS = 4
_OF_TWO = frozenset({Operation.DIFFERENCE, Operation.GROWTH, Operation.TIME_BETWEEN})
_RELATIVE = frozenset({Operation.SHARE, Operation.GROWTH, Operation.DIFFERENCE})
#: The highest and the lowest of rows.
EXTREMES = frozenset({Operation.HIGHEST, Operation.LOWEST})
_ON_ALL = EXTREMES | {Operation.SUM, Operation.AVERAGE}
_WITHOUT_FIGURE = EXTREMES | {Operation.DIFFERENCE, Operation.GROWTH}


@dataclass(frozen=True, slots=True)
class Named:
    """Rows or columns that a clause names, in its order; ``firsts`` is where the name of each begins.

    ``is_clear``: no two are named by the same words.
    """

    labels: tuple[int, ...]
    firsts: tuple[int, ...]
    taken: frozenset[int]
    is_clear: bool


@dataclass(frozen=True, slots=True)
class Computed:
    """What is true by a grid.

    ``values``: what the figure that is claimed may be, none where it claims none; ``holds``: whether what it
    says besides is so, None where that is not clear.
    """

    values: tuple[Decimal, ...]
    cells: tuple[Cell, ...]
    formula: str
    unit: str | None = None
    holds: bool | None = True


@dataclass(frozen=True, slots=True)
class Finding:
    """What a grid says of a clause, the figure that is claimed, and what was computed, as far as it was.

    ``names``: how many rows and columns the clause names; ``score``: how much of it the grid accounts for.
    """

    grid: Grid
    outcome: Outcome = Outcome.NOT_CHECKABLE
    operation: Operation | None = None
    obstacle: Obstacle | None = None
    figure: Figure | None = None
    computed: Computed | None = None
    names: int = 0
    score: int = 0


@dataclass(frozen=True, slots=True)
class _Case:
    """A clause read against a grid: the rows and the column that are meant, and what figures it has.

    ``is_all``: the rows are all, since none is named; ``is_told``: the clause says that they are all.
    """

    clause: Clause
    grid: Grid
    asked: Asked
    how: Meant
    named: Named
    rows: tuple[int, ...]
    is_told: bool
    column: int
    figures: tuple[Figure, ...]

    @property
    def is_all(self) -> bool:
        return not self.named.labels

    def cells(self, rows: Sequence[int]) -> tuple[Cell, ...]:
        return tuple(self.grid.cells[row][self.column] for row in rows)

    def every(self) -> tuple[Cell, ...]:
        return self.cells(range(len(self.grid.rows)))


def find(clause: Clause, grid: Grid, before: Clause | None, *, is_whole: bool) -> Finding | None:
    """Return what a grid says of a clause; None where that asks nothing, or nothing of this grid.

    ``before`` is what was said right before: rows that it names may be meant still. ``is_whole``: nothing of
    the document can have been cut off.
    """
    grid = replace(grid, is_complete=grid.is_complete and (is_whole or not grid.may_go_on))
    rows, columns = _named(clause, grid, grid.rows), _named(clause, grid, grid.columns)
    taken = rows.taken | columns.taken
    how = meant(clause, taken)
    found = None if isinstance(how, Obstacle) else _asked(clause, grid, rows, taken | how.taken)
    if found is None or isinstance(how, Obstacle):
        return None
    above = {n for n in clause.content if n not in taken and not grid.around.isdisjoint(_forms(clause, n))}
    names = len(rows.labels) + len(columns.labels)
    operation = found.operation if isinstance(found, Asked) else None
    unclear = Finding(grid, operation=operation, names=names, score=_TWO * len(taken) + len(above))
    case = found if isinstance(found, Obstacle) else _case(clause, grid, found, how, rows, columns)
    judged = replace(unclear, obstacle=case) if isinstance(case, Obstacle) else _judged(case, unclear)
    if not (names or (above and judged.obstacle is None)):
        return None
    # A unit may stand above anything.
    is_linked = names > 0 or any(clause.words[n].text not in clause.lists.unit_of for n in above)
    is_sure = not isinstance(case, Obstacle) and is_linked and _is_sure(case, judged, before)
    if judged.outcome is Outcome.REFUTED and not is_sure:
        return replace(judged, outcome=Outcome.NOT_CHECKABLE, obstacle=Obstacle.ROWS)
    return judged


def _is_sure(case: _Case, judged: Finding, before: Clause | None) -> bool:
    """Say whether nothing else can be meant, as rows that were named before or that the table lacks."""
    operation, grid = case.asked.operation, case.grid
    if operation not in _ON_ALL:
        return operation is not Operation.SHARE or grid.is_complete
    # "Together" speaks of what was named before, but "the three plans together" of all.
    is_told = case.is_told or not case.asked.is_joint
    is_whole = grid.is_complete and is_told and not (case.is_all and grid.is_turned)
    if not case.is_all:
        return is_whole if operation in EXTREMES else len(case.rows) >= _TWO
    if not is_whole or (before and _named(before, grid, grid.rows).labels):
        return False
    return judged.figure is None or not any(_repeats(judged.figure, cell) for cell in case.every())


def _forms(clause: Clause, place: int) -> tuple[str, str]:
    return clause.words[place].text, clause.stems[place]


def _named(clause: Clause, grid: Grid, labels: Sequence[Label]) -> Named:
    """Return what is named: by all words of a label that do not go without saying, or by its time."""
    lists = clause.lists
    small = grid.around | grid.corner | lists.unit_of.keys() | lists.fillers
    at = {form: n for n in reversed(clause.content) for form in _forms(clause, n)}
    found: dict[int, frozenset[int]] = {}
    for place, label in enumerate(labels):
        stems = {stem for stem in label.stems if stem not in small} or set(label.stems)
        if label.time is None and stems and stems <= at.keys():
            found[place] = frozenset(at[stem] for stem in (*label.stems, *label.aside) if stem in at)
    found = {n: words for n, words in found.items() if not any(words < other for other in found.values())}
    above: frozenset[int] = frozenset()
    for time, words in _times(clause):
        fitting = [n for n, label in enumerate(labels) if _fits(time, label, grid)]
        found.update((n, words) for n in fitting)
        if not fitting and all(clause.words[n].text in grid.around for n in words):
            above |= words
    every = Counter(n for words in found.values() for n in words)
    # "Start date" begins at "start", not at what it shares with "end date".
    firsts = {place: min(words, key=lambda n: (every[n], n)) for place, words in found.items()}
    kept = tuple(sorted(found, key=firsts.__getitem__))
    stems = {stem for n in kept for stem in labels[n].stems}
    again = {n for n in clause.content if clause.stems[n] in stems}
    return Named(
        kept, tuple(sorted(firsts.values())), above.union(every, again), len({*firsts.values()}) == len(kept)
    )


def _times(clause: Clause) -> Iterator[tuple[Time, frozenset[int]]]:
    for when in clause.times:
        yield when.time, frozenset(range(when.first, when.last))
    for figure in clause.figures:
        value, written = figure.amount.number.values[0], clause.words[figure.first].text
        if figure.amount.unit is None and written.isdigit() and _FIRST_YEAR <= value <= _LAST_YEAR:
            yield Time(year=int(value)), frozenset({figure.first})


def _fits(time: Time, label: Label, grid: Grid) -> bool:
    """Say whether a label tells this very time; its year may stand above the grid."""
    if label.time is None or time.finest != label.time.finest:
        return False
    if time.year is not None and label.time.year is None:
        return str(time.year) in grid.around and replace(time, year=None).covers(label.time)
    return time.covers(label.time)


def _asked(clause: Clause, grid: Grid, rows: Named, taken: frozenset[int]) -> Asked | Obstacle | None:
    """Return what a clause asks of a grid: the time between two dates needs no word for it."""
    found = asked(clause, taken)
    has_span = any(each.amount.unit in SPANS and each.first not in rows.taken for each in clause.figures)
    if not has_span or len(rows.labels) != _TWO or not any(cell.day for row in grid.cells for cell in row):
        return None if isinstance(found, Asked) and found.operation is Operation.COUNT else found
    if isinstance(found, Asked) and found.operation not in {Operation.DIFFERENCE, Operation.COUNT}:
        return Obstacle.OPERATION
    taken = found.taken if isinstance(found, Asked) else frozenset()
    return found if isinstance(found, Obstacle) else Asked(Operation.TIME_BETWEEN, taken)


def _case(
    clause: Clause, grid: Grid, found: Asked, how: Meant, rows: Named, columns: Named
) -> _Case | Obstacle:
    """Read a clause against a grid; an obstacle where a word is left that may change what it claims."""
    lists, taken = clause.lists, rows.taken | columns.taken | how.taken | found.taken
    nouns = _row_words(clause, grid)
    scope = rows.labels or tuple(range(len(grid.rows)))
    all_of = {last for _, last in clause.find(lists.all_of, taken)}
    told = {
        figure
        for figure in (*clause.number_words, *clause.figures)
        if (figure.last in nouns or figure.first in all_of)
        and figure.first not in taken
        and set(figure.amount.number.values) == {Decimal(len(scope))}
    }
    both = {n for n, word in enumerate(clause.words) if word.text in lists.both}
    if not (rows.is_clear and columns.is_clear) or (both and len(scope) != _TWO):
        return Obstacle.ROWS
    taken |= both | {n for each in told for n in range(each.first, each.last)}
    figures = tuple(each for each in clause.figures if each.first not in taken)
    taken |= {n for each in figures for n in range(each.first, each.last)} | nouns
    if _has_unknown(clause, grid, found.operation, rows, columns, taken):
        return Obstacle.UNKNOWN_WORDS
    case = _Case(clause, grid, found, how, rows, scope, bool(told or both), 0, figures)
    column = columns.labels[0] if columns.labels else _unnamed(case)
    if len(columns.labels) > 1 or column is None or (found.is_price and not _is_money(grid, column)):
        return Obstacle.COLUMN
    return replace(case, column=column) if _may_be_extreme(case, column) else Obstacle.COLUMN


def _may_be_extreme(case: _Case, column: int) -> bool:
    """Say whether a column can be what a word such as "largest" asks for."""
    clause, grid, found = case.clause, case.grid, case.asked
    if found.operation not in EXTREMES:
        return True
    after = {n + 1 for n in found.taken if n + 1 < len(clause.words)}
    # "The lowest budget" is one of the budgets, not of what else a row has.
    if not after.isdisjoint(case.named.firsts) or any(clause.stems[n] in grid.across for n in after):
        return False
    # The largest region may be so by any of its figures, but not in a year.
    is_any = len(grid.columns) > 1 and grid.columns[column].time is None and not found.is_price
    return not is_any or after.isdisjoint(_row_words(clause, grid))


def _row_words(clause: Clause, grid: Grid) -> frozenset[int]:
    """Return the places of words for what each row is: "month", or what stands above the labels."""
    finest = {row.time.finest if row.time else None for row in grid.rows}
    units = finest if len(finest) == 1 else set[str | None]()
    return frozenset(
        place
        for place, word in enumerate(clause.words)
        if clause.stems[place] in grid.corner or clause.lists.unit_of.get(word.text, word.text) in units
    )


def _has_unknown(
    clause: Clause, grid: Grid, operation: Operation, rows: Named, columns: Named, taken: frozenset[int]
) -> bool:
    """Say whether a word is left that may change what is claimed."""
    lists, negations = clause.lists, clause.lexicon.negations
    cells = [cell for row in grid.cells for cell in row if cell.amount]
    rests = {cell.rest for cell in cells}
    words = lists.fillers | (set(folded_words(rests.pop())) if len(rests) == 1 else set[str]())
    if all(cell.unit in CURRENCIES for cell in cells):
        words |= lists.prices
    if operation is Operation.TIME_BETWEEN:
        words |= lists.after | lists.before | lists.elapsed
    phrases = [
        lists.all_of,
        lists.counts,
        *((lists.between, lists.through, lists.until) * (operation in _OF_TWO)),
    ]
    known = taken | places([span for each in phrases for span in clause.find(each, taken)])
    known |= {
        n for n in range(len(clause.words)) if clause.words[n].text in lists.kinds and _is_beside(n, rows)
    }
    if operation is Operation.AVERAGE:
        known |= {first for first, last in clause.find(lists.every, taken) if last in taken}
    # "Revenue per employee" is told by no column.
    if any(first and clause.words[first - 1].text in lists.per for first in columns.firsts):
        return True
    return any(
        word.text in negations or not (word.text in words or not grid.around.isdisjoint(_forms(clause, n)))
        for n, word in enumerate(clause.words)
        if n not in known
    )


def _is_beside(place: int, rows: Named) -> bool:
    return place + 1 in rows.taken or place - 1 in rows.taken


def _unnamed(case: _Case) -> int | None:
    """Return the one column that can be meant where none is named: by the unit of the claimed figure."""
    grid, every = case.grid, range(len(case.grid.columns))
    if case.asked.operation is Operation.TIME_BETWEEN:
        fitting = [n for n in every if any(row[n].day for row in grid.cells)]
    elif case.asked.is_price:
        fitting = [n for n in every if _is_money(grid, n)]
    else:
        no_unit = {PERCENT, None} if case.asked.operation in _RELATIVE else {None}
        units = {figure.amount.unit for figure in case.figures} - no_unit
        fitting = [n for n in every if len(units) != 1 or units <= _units(grid, n)]
        fitting = fitting or [n for n in every if _units(grid, n) == {None}]
    return fitting[0] if len(fitting) == 1 else None


def _units(grid: Grid, column: int) -> set[str | None]:
    return {cell.unit for row in grid.cells if (cell := row[column]).amount}


def _is_money(grid: Grid, column: int) -> bool:
    return not CURRENCIES.isdisjoint(_units(grid, column) - {None})


def _judged(case: _Case, unclear: Finding) -> Finding:
    """Judge by either way to read the numbers; what claims no figure must hold by both."""
    judged = [_by(convention, case, unclear) for convention in case.grid.conventions]
    confirmed = [each for each in judged if each.outcome is Outcome.CONFIRMED]
    if confirmed and (confirmed[0].figure or len(confirmed) == len(judged)):
        return confirmed[0]
    if confirmed:
        return replace(unclear, obstacle=Obstacle.CELLS)
    return next((each for each in judged if each.outcome is Outcome.NOT_CHECKABLE), judged[0])


def _by(convention: Convention, case: _Case, unclear: Finding) -> Finding:
    """Judge by one convention; what is computed depends on the unit of the figure that is claimed."""
    judged = replace(unclear, obstacle=Obstacle.FIGURE)
    if not case.figures and case.asked.operation not in _WITHOUT_FIGURE:
        return judged
    for unit in dict.fromkeys(each.amount.unit for each in case.figures) or (None,):
        computed = _COMPUTERS[case.asked.operation](case, convention, unit)
        if isinstance(computed, Obstacle):
            judged = replace(unclear, obstacle=computed)
            continue
        # One that only repeats a cell is not what is claimed.
        figures = [each for each in case.figures if not any(_repeats(each, cell) for cell in computed.cells)]
        figures = figures if len(case.figures) > 1 else list(case.figures)
        figure = figures[0] if len(figures) == 1 else None
        if (figure is None and case.figures) or (figure and figure.amount.unit != unit):
            continue
        outcome = _compared(case, computed, figure)
        if isinstance(outcome, Obstacle):
            return replace(unclear, obstacle=outcome, figure=figure, computed=computed)
        return replace(unclear, outcome=outcome, figure=figure, computed=computed)
    return judged


def _repeats(figure: Figure, cell: Cell) -> bool:
    if cell.amount is None or len({cell.unit, figure.amount.unit} - {None}) > 1:
        return False
    return not set(figure.amount.number.values).isdisjoint(cell.amount.number.values)


def _compared(case: _Case, computed: Computed, figure: Figure | None) -> Outcome | Obstacle:
    """Say whether a clause holds by what was computed."""
    if computed.holds is None:
        return Obstacle.OPERATION
    holds = Outcome.CONFIRMED if computed.holds else Outcome.REFUTED
    if figure is None or not computed.values:
        return holds
    unit, bound = figure.amount.unit, case.how.bounds.get(figure.first, Bound.EXACT)
    if unit and computed.unit and unit != computed.unit:
        return Obstacle.UNITS
    values = list(computed.values)
    # In thousands: in full, without a unit also as it stands in the data.
    power = max(label.power for label in (case.grid.columns[case.column], *case.grid.rows))
    if power and computed.unit != PERCENT and case.asked.operation is not Operation.TIME_BETWEEN:
        values = [value.scaleb(power) for value in values] + values * (unit is None)
    close = max(closeness(v, each, bound) for v in values for each in figure.amount.number.values)
    if close is Closeness.SAME:
        return holds
    if close is Closeness.NEAR or (unit and computed.unit is None):
        return Obstacle.ROUNDING if close is Closeness.NEAR else Obstacle.UNITS
    return Outcome.REFUTED


def _values(cells: Sequence[Cell], convention: Convention) -> tuple[list[Decimal], str | None] | Obstacle:
    """Return the values of cells and the unit that they share; an obstacle where they are not of one kind."""
    read = [cell.amount.number.read(convention) if cell.amount else None for cell in cells]
    values = [value for value in read if value is not None]
    kinds = {(cell.unit, cell.rest) for cell in cells}
    if len(values) < len(cells):
        return Obstacle.CELLS
    return (values, cells[0].unit) if len(kinds) == 1 else Obstacle.UNITS


def _total(case: _Case, convention: Convention, unit: str | None) -> Computed | Obstacle:
    """Return the sum or the mean of the rows; the data must agree with their own total."""
    cells = case.cells(case.rows)
    found = _values(cells, convention)
    if isinstance(found, Obstacle):
        return found
    values, unit = found
    total = sum(values, Decimal(0))
    if case.asked.operation is Operation.AVERAGE:
        mean = total / len(values)
        return Computed((mean,), cells, f"({_joined(values)}) / {len(values)} = {show(mean)}", unit)
    told = case.grid.totals.get(case.column) if case.is_all else None
    if told and told.amount and told.amount.number.read(convention) != total:
        return Obstacle.CELLS
    return Computed((total,), cells, f"{_joined(values)} = {show(total)}", unit)


def _share(case: _Case, convention: Convention, _: str | None) -> Computed | Obstacle:
    """Return what part of a column some rows are, in percent."""
    # "40% of North", "40% of the revenue of North": a share of a row is not one of the column.
    after = next((each.last for each in case.figures if is_share(case.clause, each)), len(case.clause.words))
    if case.is_all or any(_is_whole(case.clause, first, after) for first in case.named.firsts):
        return Obstacle.ROWS
    found, part = _values(case.every(), convention), _values(case.cells(case.rows), convention)
    if isinstance(found, Obstacle) or isinstance(part, Obstacle) or found[1] == PERCENT:
        return Obstacle.UNITS
    own, whole = sum(part[0], Decimal(0)), sum(found[0], Decimal(0))
    if whole <= 0:
        return Obstacle.CELLS
    share = own / whole * _HUNDRED
    return Computed(
        (share,), case.every(), f"{show(own)} / ({_joined(found[0])}) x 100% = {show(share)}%", PERCENT
    )


def _is_whole(clause: Clause, first: int, after: int) -> bool:
    """Say whether a row is named after a figure and "of", with only small words in between."""
    small, of = clause.lexicon.function_words, clause.lists.of
    place = first - 1
    while place > after and clause.words[place].text in small - of:
        place -= 1
    return after <= place < first and clause.words[place].text in of


def _difference(  # noqa: PLR0911 - one for each way that it is not clear
    case: _Case, convention: Convention, unit: str | None
) -> Computed | Obstacle:
    """Return by how much one row is more or less than another, or a later one than an earlier one."""
    asked, rows = case.asked, case.named
    if len(rows.labels) != _TWO:
        return Obstacle.ROWS
    one, other = rows.labels
    if asked.operation is Operation.GROWTH:
        times = [row.time for row in case.grid.rows if row.time]
        if len(times) < len(case.grid.rows) or len({time.kind for time in times}) > 1:
            return Obstacle.ROWS
        other, one = sorted((one, other), key=lambda n: times[n].order)
    elif asked.direction and not (asked.than and rows.firsts[0] < asked.than < rows.firsts[1]):
        return Obstacle.ROWS
    cells = case.cells((one, other))
    found = _values(cells, convention)
    if isinstance(found, Obstacle):
        return found
    (first, last), its = found
    off = (first - last) * asked.direction if asked.direction else abs(first - last)
    if not case.figures:
        return Computed((), cells, f"{show(first)} - {show(last)} = {show(first - last)}", its, off > 0)
    high, low = (first, last) if off == first - last else (last, first)
    holds = off >= 0 if asked.direction else None if unit == PERCENT and its != PERCENT else True
    if unit != PERCENT:
        return Computed((off,), cells, f"{show(high)} - {show(low)} = {show(off)}", its, holds)
    if last == 0 or holds is None:
        return Obstacle.UNITS
    share = off / abs(last) * _HUNDRED
    formula = f"({show(high)} - {show(low)}) / {show(last)} x 100% = {show(share)}%"
    # Of percents, so many may be meant as well.
    return Computed((share, off) if its == PERCENT else (share,), cells, formula, PERCENT, holds)


def _extreme(case: _Case, convention: Convention, _: str | None) -> Computed | Obstacle:
    """Return the highest or lowest of all rows, and say whether the row that is named has it."""
    if len(case.named.labels) > 1:
        return Obstacle.ROWS
    found = _values(case.every(), convention)
    if isinstance(found, Obstacle):
        return found
    values, unit = found
    choose = max if case.asked.operation is Operation.HIGHEST else min
    best = choose(values)
    holders = [row for row, value in enumerate(values) if value == best]
    labels = ", ".join(case.grid.rows[row].text for row in holders)
    formula = f"{choose.__name__}({_joined(values, ', ')}) = {show(best)} ({labels})"
    holds = case.is_all or case.named.labels[0] in holders
    return Computed((best,) if case.figures else (), case.every(), formula, unit, holds)


def _time_between(case: _Case, _: Convention, unit: str | None) -> Computed | Obstacle:
    """Return the days or weeks between two dates; their order must be as it is told."""
    cells = case.cells(case.named.labels)
    days = [cell.day for cell in cells if cell.day]
    if len(days) != _TWO or unit not in _DAYS:
        return Obstacle.CELLS
    early, late = sorted(days)
    span = (late - early).days
    holds = True
    for own, first in enumerate(case.named.firsts):
        near = {word.text for word in case.clause.words[max(first - 2, 0) : first]}
        if near & (case.clause.lists.after | case.clause.lists.before):
            holds = (
                days[own] <= days[1 - own] if near & case.clause.lists.after else days[own] >= days[1 - own]
            )
            break
    value = Decimal(span) / _DAYS[unit]
    formula = f"{late.isoformat()} - {early.isoformat()} = {span} days"
    # Whether the first day counts is not told.
    maybe = {value + 1} & {v for each in case.figures for v in each.amount.number.values if unit == "day"}
    return Computed((value,), cells, formula, unit, None if maybe else holds)


def show(value: Decimal) -> str:
    """Return a value as a formula shows it."""
    text = format(round(value, _SHOWN_DECIMALS), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _joined(values: Sequence[Decimal], sign: str = " + ") -> str:
    if len(values) <= _MOST_TERMS:
        return sign.join(map(show, values))
    return f"{show(values[0])}{sign}…{sign}{show(values[-1])} ({len(values)} cells)"


_COMPUTERS: Mapping[Operation, Callable[[_Case, Convention, str | None], Computed | Obstacle]] = {
    Operation.SUM: _total,
    Operation.AVERAGE: _total,
    Operation.DIFFERENCE: _difference,
    Operation.SHARE: _share,
    Operation.GROWTH: _difference,
    Operation.HIGHEST: _extreme,
    Operation.LOWEST: _extreme,
    Operation.TIME_BETWEEN: _time_between,
}
