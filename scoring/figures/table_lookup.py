"""Looking up the one cell of a table or list that the words of a claim lead to, and what it says there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from scoring.figures.clause import Clause, Figure
from scoring.figures.quantities import TIME_UNITS, Bound, compare_quantities
from scoring.figures.tables import NO_SIGNS, YES_SIGNS, Table
from scoring.figures.times import ClockTime, clock_times, whole_period
from scoring.lexicon import Lexicon
from scoring.text.prepared_text import PreparedText, folded_words
from scoring.values.checked_claims import ClaimStatus

_TWO = 2


def look_up(clause: Clause, table: Table) -> tuple[ClaimStatus, tuple[int, int]] | None:
    """Return what the one cell that a clause names says of it, and the place of its row.

    None where the clause does not lead to one cell, says more than name it and give a value, or gives none
    that can be compared: every word that carries content must be accounted for.
    """
    rows = _named_labels(table.row_stems, clause.stems)
    columns = _named_labels(table.column_stems, clause.stems)
    names = frozenset(chain(*(table.row_stems[n] for n in rows), *(table.column_stems[n] for n in columns)))
    if clause.bounds is None or len(rows) > 1 or len(columns) > 1 or not names:
        return None
    claimed = _ClaimedValue.of(clause, names)
    if not claimed.is_plain(names | table.heading_words):
        return None
    fitting = [
        (row, column)
        for row in rows or range(len(table.rows))
        for column in columns or range(len(table.columns))
        if (rows and columns) or claimed.fits(table, row, column)
    ]
    if len(fitting) != 1:
        return None
    [(row, column)] = fitting
    found = claimed.compare_with_cell(table, row, column)
    return (found, table.row_spans[row]) if found else None


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

    @classmethod
    def of(cls, clause: Clause, names: frozenset[str]) -> _ClaimedValue:
        clock = _clock_times(clause.text, clause.lexicon)
        figures = tuple(
            figure
            for figure in clause.numbers
            if clause.stems[figure.word_start] not in names
            and not any(time.start <= figure.quantity.start < time.end for time in clock)
        )
        return cls(clause, figures, clock)

    def is_plain(self, known: frozenset[str]) -> bool:
        """Return whether it has one value, or at most one negation, and nothing that changes what it says."""
        clause, lists, clock = self.clause, self.clause.figure_words, self.clause.lexicon.clock
        values = len(self.figures) + len(clause.periods) + bool(self.clock)
        if values > 1 or clause.negation_parity > 1 - values or clause.conditions:
            return False
        small = lists.fillers | lists.prices | lists.kinds | lists.yes | lists.no | clock.opens | clock.closes
        spans = [(each.start, each.end) for each in self.clock]
        spans.extend((each.quantity.start, each.quantity.end) for each in self.figures)
        return all(
            not known.isdisjoint({word.text, clause.stems[n]})
            or word.text in small
            or clause.is_negation(n)
            or word.text in lists.unit_of
            or any(start <= word.start < end for start, end in spans)
            for n in clause.content_indices
            for word in (clause.words[n],)
        )

    def fits(self, table: Table, row: int, column: int) -> bool:
        """Return whether a cell that is named in part is meant: its amount has the unit that is claimed.

        Of a table that has opening hours alone, what claims no amount means these.
        """
        if not table.columns[column]:
            return True
        if len(table.columns) == 1 and not self.figures and not self.clause.periods:
            return any(_clock_times(cells[column].text, self.clause.lexicon) for cells in table.cells)
        unit = self.clause.figure_unit(self.figures[0]) if self.figures else None
        amount = table.amount(row, column, self.clause.figure_words)
        return unit is not None and amount is not None and unit == amount[1]

    def compare_with_cell(self, table: Table, row: int, column: int) -> ClaimStatus | None:
        """Compare it with a cell; None where that has no value of its kind."""
        cell, lexicon = table.cells[row][column].text, self.clause.lexicon
        if self.clock:
            return self._compare_clock([each.text for each in table.cells[row]], cell)
        if self.figures:
            return self._compare_amount(table, row, column)
        if self.clause.periods:
            stated, claimed = whole_period(cell, lexicon), self.clause.periods[0]
            agrees = None if stated is None else stated.covers(claimed) or claimed.covers(stated)
        else:
            says = _yes_or_no(cell, lexicon)
            agrees = None if says is None else says is not bool(self.clause.negation_parity)
        return None if agrees is None else ClaimStatus.SUPPORTED if agrees else ClaimStatus.CONTRADICTED

    def _compare_amount(self, table: Table, row: int, column: int) -> ClaimStatus | None:
        amount = table.amount(row, column, self.clause.figure_words)
        [figure], words = self.figures, self.clause.words
        # "€ 11 a month" is compared with a price per month.
        last = max(figure.word_end - 1, 0)
        besides = words[:last] + words[figure.word_end + figure.in_words :]
        stated = table.rows[row].text, table.columns[column], table.cells[row][column].text
        its_units = self._time_units(folded_words(" ".join((*stated, *table.heading_words))))
        if amount is None or not self._time_units(word.text for word in besides) <= its_units:
            return None
        bound = self.clause.bounds.of(figure) if self.clause.bounds else Bound.EXACT
        # "Up to 5 users" is the limit that the table has.
        bound = Bound.EXACT if bound is Bound.AT_MOST else bound
        own = figure.quantity.number, self.clause.figure_unit(figure)
        return compare_quantities(amount[0].number, amount[1], *own, bound)

    def _time_units(self, words: Iterable[str]) -> frozenset[str]:
        """Return the units of time among some words."""
        return TIME_UNITS.intersection(map(self.clause.figure_words.unit_of.get, words))

    def _compare_clock(self, row: Sequence[str], cell: str) -> ClaimStatus | None:
        lexicon = self.clause.lexicon
        if _yes_or_no(cell, lexicon) is False:
            return ClaimStatus.CONTRADICTED
        stated = [time.value for time in _clock_times(cell, lexicon)]
        bounded = [(end, each.value) for each in self.clock if (end := self._hours_end(each)) is not None]
        if not bounded:
            return None
        if len(stated) == _TWO:
            if all(stated[end] == value for end, value in bounded):
                return ClaimStatus.SUPPORTED
            # "You can come from 11:00" is true where it opens at ten.
            clock = lexicon.clock
            is_end = not (clock.opens | clock.closes).isdisjoint(word.text for word in self.clause.words)
            is_part = len(bounded) == 1 and stated[0] < bounded[0][1] < stated[1] and not is_end
            return None if is_part else ClaimStatus.CONTRADICTED
        in_row = {time.value for each in row for time in _clock_times(each, lexicon)}
        is_other = len(stated) == 1 and in_row.isdisjoint(value for _, value in bounded)
        return ClaimStatus.CONTRADICTED if is_other else None

    def _hours_end(self, time: ClockTime) -> int | None:
        """Return which end of the opening hours a time is said to be: 0 for the first, 1 for the last."""
        clause, words = self.clause, self.clause.lexicon.clock
        before = [word.text for word in clause.words if word.end <= time.start][-1:]
        said = {word.text for word in clause.words} if len(self.clock) == 1 else set()
        for end, (prepositions, verbs) in enumerate(
            ((words.since, words.opens), (words.until, words.closes))
        ):
            if not (prepositions.isdisjoint(before) and verbs.isdisjoint(said)):
                return end
        return None


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
