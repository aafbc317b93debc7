"""Looking up the one cell of a table or list that the words of a claim lead to, and what it says there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto

from scoring.figures.blocks import Block, Piece
from scoring.figures.clause import Bound, Clause, Closeness, Figure, Meant, closeness, meant
from scoring.figures.grids import NO, YES, data_blocks
from scoring.figures.labels import cell_of, stems_of, unit_in
from scoring.figures.numbers import Number
from scoring.figures.readings import BYTES, MONTHS, SIZES, SPAN
from scoring.figures.times import whole_time
from scoring.figures.values import Obstacle
from scoring.lexicon import FigureWords, Lexicon
from scoring.text.clock import ClockTime, clock_times
from scoring.text.prepared import PreparedText, folded_words

# What a unit is of another one, where that is surely so many.
_SIZES = {unit: (kind, int(size)) for unit, (kind, size) in SIZES.items() if kind in {SPAN, MONTHS, BYTES}}
# 1 GB may be 1,024 MB, and a year 365 days: so near may be the same.
_NEAR = Decimal("0.1")
_TWO = 2


class Said(Enum):
    """What a place of a document says of a claim that its words lead to."""

    SAME = auto()
    OTHER = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table or list of keys: what its rows and columns are called, by stems, and its cells.

    ``columns`` is one without a name where it has keys with values. ``around``: words and stems that need not
    be looked for in it, those of the headings above and of what its rows are.
    """

    rows: tuple[frozenset[str], ...]
    columns: tuple[frozenset[str], ...]
    labels: tuple[str, ...]
    heads: tuple[str, ...]
    cells: tuple[tuple[Piece, ...], ...]
    spans: tuple[tuple[int, int], ...]
    around: frozenset[str]


def tables(text: PreparedText) -> tuple[Table, ...]:
    """Return the tables and lists of keys of a text; nothing in a language whose lexicon has no figures."""
    if text.lexicon.figures is None:
        return ()
    return tuple(_table(block, text) for block in text.derived(data_blocks))


def _table(block: Block, text: PreparedText) -> Table:
    lexicon, header = text.lexicon, block.header
    heads = tuple(piece.text for piece in header[1:]) if header else ("",)
    above = [line for line in text.original[: block.start].splitlines() if line.strip()]
    headings = [line for line in above if line.startswith("#")][-_TWO:] or above[:1]
    told = "\n".join((*headings, *above[-1:], header[0].text if header else ""))
    ends = [row[-1].end for row in block.rows]
    return Table(
        rows=tuple(_name(row[0].text, lexicon) for row in block.rows),
        columns=tuple(_name(head, lexicon) for head in heads),
        labels=tuple(row[0].text for row in block.rows),
        heads=heads,
        cells=tuple(row[1:] for row in block.rows),
        spans=tuple((row[0].start, end) for row, end in zip(block.rows, ends, strict=True)),
        around=frozenset((*folded_words(told), *stems_of(told, lexicon))),
    )


def _name(label: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the stems by which a label is named: without what things are, if that leaves any."""
    stems = frozenset(stems_of(label, lexicon))
    return stems.difference(stems_of(" ".join(lexicon.figure_words.kinds), lexicon)) or stems


def look_up(clause: Clause, table: Table) -> tuple[Said, tuple[int, int]] | None:
    """Return what the one cell that a clause names says of it, and the place of its row.

    None where the clause does not lead to one cell, says more than name it and give a value, or gives none
    that can be compared: every word that carries content must be accounted for.
    """
    how = meant(clause, frozenset())
    rows, columns = _named(table.rows, clause.stems), _named(table.columns, clause.stems)
    if isinstance(how, Obstacle) or len(rows) > 1 or len(columns) > 1:
        return None
    names = frozenset[str]().union(*(table.rows[n] for n in rows), *(table.columns[n] for n in columns))
    claimed = _Claimed.of(clause, names, how)
    if not names or not claimed.is_plain(names | table.around):
        return None
    fitting = [
        (row, column)
        for row in rows or range(len(table.rows))
        for column in columns or range(len(table.heads))
        if (rows and columns) or claimed.fits(table, row, column)
    ]
    if len(fitting) != 1:
        return None
    [(row, column)] = fitting
    found = claimed.compared(table, row, column)
    return (found, table.spans[row]) if found else None


def compared(
    value: Number, unit: str | None, claimed: Number, own: str | None, bound: Bound = Bound.EXACT
) -> Said | None:
    """Compare an amount of a document with a claimed one; None where they are of two kinds, or close.

    >>> from scoring.figures.numbers import read_number
    >>> compared(read_number("7"), "day", read_number("1"), "week").name
    'SAME'
    """
    base, factor = _SIZES.get(own or "", (own, 1))
    its_base, its_factor = _SIZES.get(unit or "", (unit, 1))
    if base != its_base:
        return None
    pairs = [(its * its_factor / factor, each) for its in value.values for each in claimed.values]
    close = max(closeness(its, each, bound) for its, each in pairs)
    if close is Closeness.SAME:
        return Said.SAME
    is_rough = close is Closeness.NEAR or factor != its_factor
    is_near = is_rough and any(abs(its - each) <= _NEAR * max(its, each) for its, each in pairs)
    return None if is_near or (close is Closeness.NEAR and bound is not Bound.EXACT) else Said.OTHER


def _named(labels: Sequence[frozenset[str]], stems: Sequence[str]) -> list[int]:
    """Return the places of the labels of which all words are said; "Pro Plus" names no "Pro" besides."""
    fitting = [n for n, label in enumerate(labels) if label.issubset(stems)]
    longest = [n for n in fitting if not any(labels[n] < labels[other] for other in fitting)]
    again = any(stems.count(stem) > 1 for n in fitting if n not in longest for stem in labels[n])
    return fitting if again else longest


@dataclass(frozen=True, slots=True)
class _Claimed:
    """What a clause claims of a cell: a number, times of day, a date, or that something is so or not."""

    clause: Clause
    figures: tuple[Figure, ...]
    clock: tuple[ClockTime, ...]
    bounds: Mapping[int, Bound]

    @classmethod
    def of(cls, clause: Clause, names: frozenset[str], how: Meant) -> _Claimed:
        clock = _clock(clause.text, clause.lexicon)
        figures = tuple(
            figure
            for figure in clause.numbers
            if clause.stems[figure.first] not in names
            and not any(time.start <= figure.amount.start < time.end for time in clock)
        )
        return cls(clause, figures, clock, how.bounds)

    def is_plain(self, known: frozenset[str]) -> bool:
        """Say whether it has one value, or at most one negation, and nothing that may change what it says."""
        clause, lists, clock = self.clause, self.clause.lists, self.clause.lexicon.clock
        values = len(self.figures) + len(clause.times) + bool(self.clock)
        if values > 1 or clause.denials > 1 - values or clause.is_conditional:
            return False
        small = lists.fillers | lists.prices | lists.kinds | lists.yes | lists.no | clock.opens | clock.closes
        spans = [(each.start, each.end) for each in self.clock]
        spans.extend((each.amount.start, each.amount.end) for each in self.figures)
        return all(
            not known.isdisjoint({word.text, clause.stems[place]})
            or word.text in small
            or clause.denies(place)
            or word.text in lists.unit_of
            or any(start <= word.start < end for start, end in spans)
            for place in clause.content
            for word in (clause.words[place],)
        )

    def fits(self, table: Table, row: int, column: int) -> bool:
        """Say whether a cell that is named in part is meant: its amount has the unit that is claimed.

        Of a table that has opening hours alone, what claims no amount means these.
        """
        if not table.columns[column]:
            return True
        if len(table.columns) == 1 and not self.figures and not self.clause.times:
            return any(_clock(cells[column].text, self.clause.lexicon) for cells in table.cells)
        unit = self._unit()
        return unit is not None and unit == _amount(table, row, column, self.clause.lexicon)[1]

    def compared(self, table: Table, row: int, column: int) -> Said | None:
        """Compare it with a cell; None where that has no value of its kind."""
        cell, lexicon = table.cells[row][column], self.clause.lexicon
        if self.clock:
            return self._by_clock(table.cells[row], column)
        if self.figures:
            return self._by_amount(table, row, column)
        if self.clause.times:
            told, claimed = whole_time(cell.text, lexicon), self.clause.times[0].time
            if told is None:
                return None
            return Said.SAME if told.covers(claimed) or claimed.covers(told) else Said.OTHER
        says = _says(cell.text, lexicon)
        if says is None:
            return None
        return Said.SAME if says is not bool(self.clause.denials) else Said.OTHER

    def _unit(self) -> str | None:
        return self.clause.unit(self.figures[0]) if self.figures else None

    def _by_amount(self, table: Table, row: int, column: int) -> Said | None:
        value, unit = _amount(table, row, column, self.clause.lexicon)
        cell = table.labels[row], table.heads[column], table.cells[row][column].text
        if value is None or not self._spans() <= _units(" ".join((*cell, *table.around)), self.clause.lists):
            return None
        [figure], own = self.figures, self._unit()
        bound = self.bounds.get(figure.first, Bound.EXACT)
        # "Up to 5 users" tells the limit that the table has.
        bound = Bound.EXACT if bound is Bound.AT_MOST else bound
        return compared(value, unit, figure.amount.number, own, bound)

    def _spans(self) -> frozenset[str]:
        """Return the units of time that it says besides its figure: "a month"."""
        last = self.figures[0].last if self.figures else 0
        words = self.clause.words[: max(last - 1, 0)] + self.clause.words[last + self.figures[0].in_words :]
        return _units(" ".join(word.text for word in words), self.clause.lists)

    def _by_clock(self, cells: Sequence[Piece], column: int) -> Said | None:
        lexicon, text = self.clause.lexicon, cells[column].text
        if _says(text, lexicon) is False:
            return Said.OTHER
        told = [time.value for time in _clock(text, lexicon)]
        bounded = [(end, each.value) for each in self.clock if (end := self._end(each)) is not None]
        if not bounded:
            return None
        if len(told) == _TWO:
            if all(told[end] == value for end, value in bounded):
                return Said.SAME
            # "You can come from 11:00" is true where it opens at ten.
            is_part = len(bounded) == 1 and told[0] < bounded[0][1] < told[1] and not self._tells_change()
            return None if is_part else Said.OTHER
        row = {time.value for cell in cells for time in _clock(cell.text, lexicon)}
        return Said.OTHER if len(told) == 1 and row.isdisjoint(value for _, value in bounded) else None

    def _tells_change(self) -> bool:
        """Say whether it speaks of opening or closing itself."""
        clock = self.clause.lexicon.clock
        return not (clock.opens | clock.closes).isdisjoint(word.text for word in self.clause.words)

    def _end(self, time: ClockTime) -> int | None:
        """Return which end of the opening hours a time is said to be: 0 for the first, 1 for the last."""
        clause, words = self.clause, self.clause.lexicon.clock
        before = [word.text for word in clause.words if word.end <= time.start][-1:]
        is_alone, said = len(self.clock) == 1, {word.text for word in clause.words}
        if not words.since.isdisjoint(before) or (is_alone and not words.opens.isdisjoint(said)):
            return 0
        if not words.until.isdisjoint(before) or (is_alone and not words.closes.isdisjoint(said)):
            return 1
        return None


def _amount(table: Table, row: int, column: int, lexicon: Lexicon) -> tuple[Number | None, str | None]:
    """Return the number that a cell is and its unit, which may be that of its column or row."""
    amount = cell_of(table.cells[row][column], lexicon).amount
    if amount is None:
        return None, None
    words = lexicon.figure_words
    unit = unit_in(table.heads[column], words) or unit_in(table.labels[row], words)
    return amount.number, amount.unit or unit


def _units(text: str, lists: FigureWords) -> frozenset[str]:
    """Return the units of time that a text speaks of."""
    units = (lists.unit_of.get(word, "") for word in folded_words(text))
    return frozenset(unit for unit in units if _SIZES.get(unit, (BYTES, 1))[0] != BYTES)


def _clock(text: str, lexicon: Lexicon) -> tuple[ClockTime, ...]:
    return clock_times(PreparedText.of(text, lexicon))


def _says(text: str, lexicon: Lexicon) -> bool | None:
    """Return whether a cell says yes or no; None where it says something else."""
    sign = text.strip().casefold()
    if sign in YES | NO:
        return sign in YES
    found = Clause.of(text, lexicon)
    if found is None or not found.words:
        return None
    if _clock(text, lexicon):
        return True
    words = found.lists.yes | found.lists.no | lexicon.function_words
    if not all(word.text in words or found.denies(n) for n, word in enumerate(found.words)):
        return None
    return not found.denials
