"""Looking up the one cell of a table or list that the words of a claim lead to, and what it says there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto

from scoring.figures.calendar_periods import whole_period
from scoring.figures.clause import Bound, Clause, Closeness, Figure, FigureBounds, closeness, figure_bounds
from scoring.figures.data_blocks import DataBlock, TextSpan
from scoring.figures.figure_claims import Obstacle
from scoring.figures.grids import NO_SIGNS, YES_SIGNS, data_blocks
from scoring.figures.number_readings import BYTES, DURATION, MONTHS, UNIT_SIZES
from scoring.figures.quantities import Number
from scoring.figures.table_cells import figure_stems, parse_cell, unit_in
from scoring.lexicon import FigureWords, Lexicon
from scoring.text.clock_times import ClockTime, clock_times
from scoring.text.prepared_text import PreparedText, folded_words

# What a unit is of another one, where that is surely so many.
_UNIT_SIZES = {
    unit: (kind, int(size)) for unit, (kind, size) in UNIT_SIZES.items() if kind in {DURATION, MONTHS, BYTES}
}
# 1 GB may be 1,024 MB, and a year 365 days: so near may be the same.
_NEAR = Decimal("0.1")
_TWO = 2


class ValueAgreement(Enum):
    """What a place of a document says of a claim that its words lead to."""

    SAME = auto()
    DIFFERENT = auto()


@dataclass(frozen=True, slots=True, eq=False)
class LookupTable:
    """A table or list of keys: what its rows and columns are called, by stems, and its cells.

    ``columns`` is one without a name where it has keys with values. ``around``: words and stems that need not
    be looked for in it, those of the headings above and of what its rows are.
    """

    row_stems: tuple[frozenset[str], ...]
    column_stems: tuple[frozenset[str], ...]
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    cells: tuple[tuple[TextSpan, ...], ...]
    row_spans: tuple[tuple[int, int], ...]
    heading_words: frozenset[str]


def lookup_tables(text: PreparedText) -> tuple[LookupTable, ...]:
    """Return the tables and lists of keys of a text; nothing in a language whose lexicon has no figures."""
    if text.lexicon.figures is None:
        return ()
    return tuple(_table(block, text) for block in text.cached(data_blocks))


def _table(block: DataBlock, text: PreparedText) -> LookupTable:
    lexicon, header = text.lexicon, block.header
    heads = tuple(piece.text for piece in header[1:]) if header else ("",)
    above = [line for line in text.original[: block.start].splitlines() if line.strip()]
    headings = [line for line in above if line.startswith("#")][-_TWO:] or above[:1]
    told = "\n".join((*headings, *above[-1:], header[0].text if header else ""))
    ends = [row[-1].end for row in block.rows]
    return LookupTable(
        row_stems=tuple(_label_stems(row[0].text, lexicon) for row in block.rows),
        column_stems=tuple(_label_stems(head, lexicon) for head in heads),
        row_labels=tuple(row[0].text for row in block.rows),
        column_labels=heads,
        cells=tuple(row[1:] for row in block.rows),
        row_spans=tuple((row[0].start, end) for row, end in zip(block.rows, ends, strict=True)),
        heading_words=frozenset((*folded_words(told), *figure_stems(told, lexicon))),
    )


def _label_stems(label: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the stems by which a label is named: without what things are, if that leaves any."""
    stems = frozenset(figure_stems(label, lexicon))
    return stems.difference(figure_stems(" ".join(lexicon.figure_words.kinds), lexicon)) or stems


def look_up(clause: Clause, table: LookupTable) -> tuple[ValueAgreement, tuple[int, int]] | None:
    """Return what the one cell that a clause names says of it, and the place of its row.

    None where the clause does not lead to one cell, says more than name it and give a value, or gives none
    that can be compared: every word that carries content must be accounted for.
    """
    how = figure_bounds(clause, frozenset())
    rows, columns = (
        _named_labels(table.row_stems, clause.stems),
        _named_labels(table.column_stems, clause.stems),
    )
    if isinstance(how, Obstacle) or len(rows) > 1 or len(columns) > 1:
        return None
    names = frozenset[str]().union(
        *(table.row_stems[n] for n in rows), *(table.column_stems[n] for n in columns)
    )
    claimed = _ClaimedValue.of(clause, names, how)
    if not names or not claimed.is_plain(names | table.heading_words):
        return None
    fitting = [
        (row, column)
        for row in rows or range(len(table.row_stems))
        for column in columns or range(len(table.column_labels))
        if (rows and columns) or claimed.fits(table, row, column)
    ]
    if len(fitting) != 1:
        return None
    [(row, column)] = fitting
    found = claimed.compare_with_cell(table, row, column)
    return (found, table.row_spans[row]) if found else None


def compare_quantities(
    value: Number, unit: str | None, claimed: Number, claimed_unit: str | None, bound: Bound = Bound.EXACT
) -> ValueAgreement | None:
    """Compare an amount of a document with a claimed one; None where they are of two kinds, or close.

    >>> from scoring.figures.quantities import parse_number
    >>> compare_quantities(parse_number("7"), "day", parse_number("1"), "week").name
    'SAME'
    """
    base, factor = _UNIT_SIZES.get(claimed_unit or "", (claimed_unit, 1))
    its_base, its_factor = _UNIT_SIZES.get(unit or "", (unit, 1))
    if base != its_base:
        return None
    pairs = [(its * its_factor / factor, each) for its in value.values for each in claimed.values]
    close = max(closeness(its, each, bound) for its, each in pairs)
    if close is Closeness.SAME:
        return ValueAgreement.SAME
    is_rough = close is Closeness.NEAR or factor != its_factor
    is_near = is_rough and any(abs(its - each) <= _NEAR * max(its, each) for its, each in pairs)
    return (
        None
        if is_near or (close is Closeness.NEAR and bound is not Bound.EXACT)
        else ValueAgreement.DIFFERENT
    )


def _named_labels(labels: Sequence[frozenset[str]], stems: Sequence[str]) -> list[int]:
    """Return the places of the labels of which all words are said; "Pro Plus" names no "Pro" besides."""
    fitting = [n for n, label in enumerate(labels) if label.issubset(stems)]
    longest = [n for n in fitting if not any(labels[n] < labels[other] for other in fitting)]
    again = any(stems.count(stem) > 1 for n in fitting if n not in longest for stem in labels[n])
    return fitting if again else longest


@dataclass(frozen=True, slots=True)
class _ClaimedValue:
    """What a clause claims of a cell: a number, times of day, a date, or that something is so or not."""

    clause: Clause
    figures: tuple[Figure, ...]
    clock: tuple[ClockTime, ...]
    bounds: Mapping[int, Bound]

    @classmethod
    def of(cls, clause: Clause, names: frozenset[str], bounds: FigureBounds) -> _ClaimedValue:
        clock = _clock_times(clause.text, clause.lexicon)
        figures = tuple(
            figure
            for figure in clause.numbers
            if clause.stems[figure.word_start] not in names
            and not any(time.start <= figure.quantity.start < time.end for time in clock)
        )
        return cls(clause, figures, clock, bounds.by_word)

    def is_plain(self, known: frozenset[str]) -> bool:
        """Say whether it has one value, or at most one negation, and nothing that may change what it says."""
        clause, lists, clock = self.clause, self.clause.figure_words, self.clause.lexicon.clock
        values = len(self.figures) + len(clause.periods) + bool(self.clock)
        if values > 1 or clause.negation_parity > 1 - values or clause.is_conditional:
            return False
        small = lists.fillers | lists.prices | lists.kinds | lists.yes | lists.no | clock.opens | clock.closes
        spans = [(each.start, each.end) for each in self.clock]
        spans.extend((each.quantity.start, each.quantity.end) for each in self.figures)
        return all(
            not known.isdisjoint({word.text, clause.stems[place]})
            or word.text in small
            or clause.is_negation(place)
            or word.text in lists.unit_of
            or any(start <= word.start < end for start, end in spans)
            for place in clause.content_indices
            for word in (clause.words[place],)
        )

    def fits(self, table: LookupTable, row: int, column: int) -> bool:
        """Say whether a cell that is named in part is meant: its amount has the unit that is claimed.

        Of a table that has opening hours alone, what claims no amount means these.
        """
        if not table.column_stems[column]:
            return True
        if len(table.column_stems) == 1 and not self.figures and not self.clause.periods:
            return any(_clock_times(cells[column].text, self.clause.lexicon) for cells in table.cells)
        unit = self._unit()
        return unit is not None and unit == _cell_quantity(table, row, column, self.clause.lexicon)[1]

    def compare_with_cell(self, table: LookupTable, row: int, column: int) -> ValueAgreement | None:
        """Compare it with a cell; None where that has no value of its kind."""
        cell, lexicon = table.cells[row][column], self.clause.lexicon
        if self.clock:
            return self._compare_clock(table.cells[row], column)
        if self.figures:
            return self._compare_quantity(table, row, column)
        if self.clause.periods:
            told, claimed = whole_period(cell.text, lexicon), self.clause.periods[0].period
            if told is None:
                return None
            return (
                ValueAgreement.SAME
                if told.covers(claimed) or claimed.covers(told)
                else ValueAgreement.DIFFERENT
            )
        says = _yes_or_no(cell.text, lexicon)
        if says is None:
            return None
        return (
            ValueAgreement.SAME if says is not bool(self.clause.negation_parity) else ValueAgreement.DIFFERENT
        )

    def _unit(self) -> str | None:
        return self.clause.figure_unit(self.figures[0]) if self.figures else None

    def _compare_quantity(self, table: LookupTable, row: int, column: int) -> ValueAgreement | None:
        value, unit = _cell_quantity(table, row, column, self.clause.lexicon)
        cell = table.row_labels[row], table.column_labels[column], table.cells[row][column].text
        if value is None or not self._spans() <= _units(
            " ".join((*cell, *table.heading_words)), self.clause.figure_words
        ):
            return None
        [figure], own = self.figures, self._unit()
        bound = self.bounds.get(figure.word_start, Bound.EXACT)
        # "Up to 5 users" tells the limit that the table has.
        bound = Bound.EXACT if bound is Bound.AT_MOST else bound
        return compare_quantities(value, unit, figure.quantity.number, own, bound)

    def _spans(self) -> frozenset[str]:
        """Return the units of time that it says besides its figure: "a month"."""
        last = self.figures[0].word_end if self.figures else 0
        words = self.clause.words[: max(last - 1, 0)] + self.clause.words[last + self.figures[0].in_words :]
        return _units(" ".join(word.text for word in words), self.clause.figure_words)

    def _compare_clock(self, cells: Sequence[TextSpan], column: int) -> ValueAgreement | None:
        lexicon, text = self.clause.lexicon, cells[column].text
        if _yes_or_no(text, lexicon) is False:
            return ValueAgreement.DIFFERENT
        told = [time.value for time in _clock_times(text, lexicon)]
        bounded = [(end, each.value) for each in self.clock if (end := self._hours_end(each)) is not None]
        if not bounded:
            return None
        if len(told) == _TWO:
            if all(told[end] == value for end, value in bounded):
                return ValueAgreement.SAME
            # "You can come from 11:00" is true where it opens at ten.
            is_part = len(bounded) == 1 and told[0] < bounded[0][1] < told[1] and not self._tells_change()
            return None if is_part else ValueAgreement.DIFFERENT
        row = {time.value for cell in cells for time in _clock_times(cell.text, lexicon)}
        return (
            ValueAgreement.DIFFERENT
            if len(told) == 1 and row.isdisjoint(value for _, value in bounded)
            else None
        )

    def _tells_change(self) -> bool:
        """Say whether it speaks of opening or closing itself."""
        clock = self.clause.lexicon.clock
        return not (clock.opens | clock.closes).isdisjoint(word.text for word in self.clause.words)

    def _hours_end(self, time: ClockTime) -> int | None:
        """Return which end of the opening hours a time is said to be: 0 for the first, 1 for the last."""
        clause, words = self.clause, self.clause.lexicon.clock
        before = [word.text for word in clause.words if word.end <= time.start][-1:]
        is_alone, said = len(self.clock) == 1, {word.text for word in clause.words}
        if not words.since.isdisjoint(before) or (is_alone and not words.opens.isdisjoint(said)):
            return 0
        if not words.until.isdisjoint(before) or (is_alone and not words.closes.isdisjoint(said)):
            return 1
        return None


def _cell_quantity(
    table: LookupTable, row: int, column: int, lexicon: Lexicon
) -> tuple[Number | None, str | None]:
    """Return the number that a cell is and its unit, which may be that of its column or row."""
    amount = parse_cell(table.cells[row][column], lexicon).quantity
    if amount is None:
        return None, None
    words = lexicon.figure_words
    unit = unit_in(table.column_labels[column], words) or unit_in(table.row_labels[row], words)
    return amount.number, amount.unit or unit


def _units(text: str, lists: FigureWords) -> frozenset[str]:
    """Return the units of time that a text speaks of."""
    units = (lists.unit_of.get(word, "") for word in folded_words(text))
    return frozenset(unit for unit in units if _UNIT_SIZES.get(unit, (BYTES, 1))[0] != BYTES)


def _clock_times(text: str, lexicon: Lexicon) -> tuple[ClockTime, ...]:
    return clock_times(PreparedText.of(text, lexicon))


def _yes_or_no(text: str, lexicon: Lexicon) -> bool | None:
    """Return whether a cell says yes or no; None where it says something else."""
    sign = text.strip().casefold()
    if sign in YES_SIGNS | NO_SIGNS:
        return sign in YES_SIGNS
    found = Clause.of(text, lexicon)
    if found is None or not found.words:
        return None
    if _clock_times(text, lexicon):
        return True
    words = found.figure_words.yes | found.figure_words.no | lexicon.function_words
    if not all(word.text in words or found.is_negation(n) for n, word in enumerate(found.words)):
        return None
    return not found.negation_parity
