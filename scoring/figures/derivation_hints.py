"""What of a document a figure may follow from, though it is not computed: a total, a difference, a length of time.

Such a figure is left open, so that a number that stands nowhere is not taken for an invented one.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from scoring.figures.calendar_periods import calendar_periods
from scoring.figures.clause import Clause, Figure, indices
from scoring.figures.data_blocks import split_lines
from scoring.figures.quantities import PERCENT, Bound, find_quantities
from scoring.figures.tables import figure_stems, listings, tables
from scoring.lexicon import Lexicon
from scoring.text.prepared_text import PreparedText

# A longer line is no data for people to read.
_LONGEST_LINE = 2_000
_HEADING = "#"
# Dates and times of day are amounts of these: lengths of time follow from them.
_DATE, _CLOCK = "date", "clock"
_DATE_UNITS = frozenset({"day", "week", "month", "year"})
_CLOCK_UNITS = frozenset({"minute", "hour", "day"})
_DIGIT = re.compile(r"\d")
_HOURS = re.compile(r"(?<![\d.,:])\d{1,2}[.:]\d\d ?(?:uur ?)?[-–—] ?\d{1,2}[.:]\d\d(?![\d.,:])")
# What is counted stands so close after its number: "4 new plans", "60% of all the plans".
_NEAR, _NEAR_OF = 2, 4


@dataclass(frozen=True, slots=True)
class DerivationHints:
    """What of a text a figure may follow from.

    - ``listed_stems``: of what the things in its lists and tables are called; ``lead_stems``: of the lines
      that lead these in.
    - ``stems_by_unit``: by unit, where it has several amounts of it, stems of their lines and of what leads
      these in; dates and times of day are units too, and None stands for bare numbers of its tables.
    """

    listed_stems: frozenset[str] = frozenset()
    lead_stems: frozenset[str] = frozenset()
    stems_by_unit: Mapping[str | None, frozenset[str]] = field(default_factory=dict)

    def derivable_figures(self, clause: Clause) -> tuple[Figure, ...]:
        """Return the figures of a clause that may follow from the text.

        1. A number of things that are listed: "4 plans", "60% of the plans"; "there are 4 ways to pay" where
           a list is led in by "You can pay with:".
        2. What a word says is computed ("in total", "more", "on average"), in a unit that the text has
           several amounts of beside a word of the clause; a share of such amounts.
        3. A length of time beside dates or times of day that stand beside a word of the clause.

        A figure that a clause only names ("it costs € 79") follows from nothing, nor does a limit ("up to 25").
        """
        lists, bounds = clause.figure_words, clause.bounds
        if bounds is None:
            return ()
        # "The second reminder costs € 25" only names it.
        unclear = indices(clause.find_phrases(lists.unclear, bounds.word_indices))
        computed = indices(clause.find_phrases(lists.computed, bounds.word_indices | unclear))
        is_computed = bool(computed) or any(clause.is_share(each) for each in clause.figures)
        # A unit, "costs" and "pay" may stand beside any amount.
        small = lists.unit_of.keys() | lists.prices | lists.fillers
        own = {n for n in clause.content_indices if clause.words[n].text not in small}
        named = own - computed - bounds.word_indices - {each.word_start for each in clause.number_words}

        def may_be_derived(figure: Figure) -> bool:
            unit = clause.figure_unit(figure)
            stems = {clause.stems[n] for n in named.difference(range(figure.word_start, figure.word_end))}
            # "In total that is € 90" names nothing, so it may be of any amounts.
            is_of_any = bool(computed) and not stems
            beside = {it for it, its in self.stems_by_unit.items() if is_of_any or not stems.isdisjoint(its)}
            if (unit in _DATE_UNITS and _DATE in beside) or (unit in _CLOCK_UNITS and _CLOCK in beside):
                return True
            # Bare numbers of a table may be of any unit.
            if is_computed and (bool(beside) if unit == PERCENT else not beside.isdisjoint({unit, None})):
                return True
            return unit in {None, PERCENT} and self._may_be_count(figure, clause, is_computed=is_computed)

        limits = {Bound.AT_MOST, Bound.AT_LEAST}
        figures = (each for each in clause.numbers if bounds.of(each) not in limits)
        return tuple(figure for figure in figures if may_be_derived(figure))

    def _may_be_count(self, figure: Figure, clause: Clause, *, is_computed: bool) -> bool:
        near = _NEAR_OF if figure.quantity.unit else _NEAR
        if not self.listed_stems.isdisjoint(clause.stems[figure.word_end : figure.word_end + near]):
            return True
        if is_computed or figure.quantity.unit or not any(clause.find_phrases(clause.figure_words.counts)):
            return False
        # Small words too lead in a list: "you can pay with".
        return not self.lead_stems.isdisjoint(clause.stems[n] for n in clause.content_indices)


def derivation_hints(text: PreparedText) -> DerivationHints:
    """Return what of a text a figure may follow from; nothing in a language whose lexicon has no figures."""
    lexicon = text.lexicon
    if lexicon.figures is None:
        return DerivationHints()
    unit: str | None
    values: defaultdict[str | None, set[str]] = defaultdict(set)
    beside: defaultdict[str | None, set[str]] = defaultdict(set)
    for line, above in _lines(text.original):
        for unit, written in _written_amounts(line, lexicon):
            values[unit].add(written)
            beside[unit].update(figure_stems(f"{line}\n{above}", lexicon))
    for table in text.cached(tables):
        for row, column in product(range(len(table.rows)), range(len(table.columns))):
            if found := table.amount(row, column, lexicon.figures):
                amount, unit = found
                values[unit].add(table.cells[row][column].text[amount.start : amount.end])
                beside[unit].update(table.row_nouns, table.heading_words)
                beside[unit].update(*table.row_stems, *table.column_stems)
    lists = text.cached(listings)
    return DerivationHints(
        frozenset[str]().union(*(each.row_nouns for each in lists)),
        frozenset[str]().union(*(each.heading.lead_stems for each in lists)),
        {unit: frozenset(beside[unit]) for unit, written in values.items() if len(written) > 1},
    )


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that say something, each with the heading above it and the line that leads it in."""
    heading = lead = ""
    for line in (each.text for each in split_lines(text)):
        if not line.strip() or len(line) > _LONGEST_LINE:
            continue
        if line.lstrip().startswith(_HEADING):
            heading, lead = line, ""
        yield line, f"{heading}\n{lead}"
        if line.rstrip().endswith(":"):
            lead = line


def _written_amounts(line: str, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Yield the units of a line's amounts, dates and opening hours, each with how it is written."""
    if not _DIGIT.search(line):
        return
    for amount in find_quantities(line, lexicon.figure_words):
        if amount.unit is not None:
            yield amount.unit, line[amount.start : amount.end]
    for time, start, end in calendar_periods(line, lexicon):
        if time.date:
            yield _DATE, line[start:end]
    for found in _HOURS.finditer(line):
        yield _CLOCK, found.group()
