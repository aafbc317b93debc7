"""Figures that follow from a document's data: how many things it lists, and what else may follow from it.

A total, a difference or a length of time may follow from several amounts of a document. It is not computed
but left open, so that a number that is in no text is not taken for an invented one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import product

from scoring.figures.clause import LIMITS, Clause, Figure
from scoring.figures.data_blocks import LONGEST_LINE, TextSpan, split_lines
from scoring.figures.quantities import PERCENT, Closeness, closeness, find_quantities
from scoring.figures.tables import Table, figure_stems, listings, tables
from scoring.figures.times import calendar_periods
from scoring.lexicon import Lexicon
from scoring.text.prepared_text import PreparedText
from scoring.values.checked_claims import ClaimStatus


@dataclass(frozen=True, slots=True)
class Derivation:
    """How the true figure follows: from which rows of which document, by which formula."""

    document_id: str
    rows: tuple[TextSpan, ...]
    formula: str


@dataclass(frozen=True, slots=True)
class FigureClaim:
    """A claim of a figure that follows from data, and what the data say of it.

    ``status``: supported, contradicted or not checkable.
    ``start``, ``end``: the place in the answer of the figure that is counted, or of the whole clause.
    ``derivation``: how the true figure follows, where things were counted. ``open_spans``: the places of the
    figures that may follow from data, whether or not they were counted.
    """

    status: ClaimStatus
    start: int
    end: int
    derivation: Derivation | None = None
    open_spans: tuple[tuple[int, int], ...] = ()


def check_clause(
    text: str, offset: int, lexicon: Lexicon, documents: Mapping[str, PreparedText]
) -> FigureClaim | None:
    r"""Check a clause of an answer that claims what follows from data of its documents.

    A number of listed things ("there are 4 plans") is compared with their list. Any other figure that may
    follow from the data is left open (:class:`DerivationHints`).

    Args:
        text: The clause.
        offset: Where it begins in the answer.
        lexicon: That of the answer's language.
        documents: The texts of the documents, by id.

    Returns:
        The claim, with what the data say of it; None where none of its figures may follow from them.

    >>> from scoring.lexicon import load_shipped
    >>> page = "# Plans\n\nChoose a plan:\n\n- Basic\n- Team\n\nAsk us."
    >>> plans = PreparedText.of(page, load_shipped()["en"])
    >>> claim = check_clause("There are 4 plans.", 0, plans.lexicon, {"plans": plans})
    >>> claim.status.value, claim.derivation.formula
    ('contradicted', '2 rows')
    """
    clause = Clause.of(text, lexicon) if lexicon.figures else None
    if clause is None or not clause.numbers:
        return None
    counted = _check_count(clause, offset, documents)
    hints = (document.cached(derivation_hints) for document in documents.values())
    figures = dict.fromkeys(figure for each in hints for figure in each.derivable_figures(clause))
    spans = [(offset + each.quantity.start, offset + each.quantity.end) for each in figures]
    if counted is None and spans:
        return FigureClaim(ClaimStatus.NOT_CHECKABLE, offset, offset + len(text), open_spans=tuple(spans))
    if counted and counted.status is ClaimStatus.CONTRADICTED:
        # What is refuted is known to be another one.
        spans = [span for span in spans if span != (counted.start, counted.end)]
    return counted and replace(counted, open_spans=tuple(spans))


def _check_count(clause: Clause, offset: int, documents: Mapping[str, PreparedText]) -> FigureClaim | None:
    """Return what the lists say of the number of their things; not checkable where they do not agree."""
    found = [
        _compare_count(clause, figure, offset, listing, document_id)
        for document_id, document in documents.items()
        for listing in document.cached(listings)
        if (figure := _counted_figure(clause, listing))
    ]
    sure = [each for each in found if each.derivation]
    if len({(each.status, each.derivation.formula) for each in sure if each.derivation}) == 1:
        return sure[0]
    return replace(found[0], status=ClaimStatus.NOT_CHECKABLE, derivation=None) if found else None


def _counted_figure(clause: Clause, listing: Table) -> Figure | None:
    """Return the number right before what the rows are called; "up to 25 plans" is a limit."""
    for figure in sorted(clause.numbers, key=lambda each: each.word_start):
        is_limit = clause.bounds is None or clause.bounds.of(figure) in LIMITS
        after = clause.stems[figure.word_end : figure.word_end + 1]
        if figure.quantity.unit is None and not is_limit and not listing.row_nouns.isdisjoint(after):
            return figure
    return None


def _compare_count(
    clause: Clause, figure: Figure, offset: int, listing: Table, document_id: str
) -> FigureClaim:
    """Compare the number of things that a clause claims with that of a list.

    It is checkable where the clause says that there are so many, and no more: any other word may change what
    is claimed. A list that may go on or has only examples refutes nothing.
    """
    lists, bounds = clause.figure_words, clause.bounds
    assert bounds is not None, "a figure is counted only where bounds are clear"
    small = (clause.lexicon.function_words | lists.fillers) - clause.lexicon.negations
    counts = clause.phrase_words(lists.counts)
    own = frozenset(range(figure.word_start, figure.word_end))
    known = own | counts | clause.phrase_words(lists.all_of) | bounds.word_indices
    is_plain = all(
        n in known or word.text in small or clause.stems[n] in listing.possible_row_nouns
        for n, word in enumerate(clause.words)
    )
    rows = [row for row in listing.rows if not lists.totals.issuperset(row.text.casefold().split()[:1])]
    close = max(closeness(Decimal(len(rows)), n, bounds.of(figure)) for n in figure.quantity.number.values)
    is_whole = listing.is_complete and len({row.text for row in rows}) == len(rows)
    start, end = offset + figure.quantity.start, offset + figure.quantity.end
    if close is Closeness.NEAR or not (counts and is_plain and rows and (is_whole or close)):
        return FigureClaim(ClaimStatus.NOT_CHECKABLE, start, end)
    status = ClaimStatus.SUPPORTED if close else ClaimStatus.CONTRADICTED
    return FigureClaim(status, start, end, Derivation(document_id, tuple(rows), f"{len(rows)} rows"))


# Dates and times of day are amounts of these: lengths of time follow from them.
_DATE, _CLOCK = "date", "clock"
_DATE_UNITS = frozenset({"day", "week", "month", "year"})
_CLOCK_UNITS = frozenset({"minute", "hour", "day"})
_HOURS = re.compile(r"(?<![\d.,:])\d{1,2}[.:]\d\d ?(?:uur ?)?[-–—] ?\d{1,2}[.:]\d\d(?![\d.,:])")
# The counted noun is at most this far after its number: "4 new plans", "60% of all the plans".
_NEAR, _NEAR_OF = 2, 4


@dataclass(frozen=True, slots=True)
class DerivationHints:
    """What of a text a figure may follow from.

    - ``listed_stems``: of what the things in its lists and tables are called; ``lead_stems``: of the lines
      that lead these in.
    - ``stems_by_unit``: by unit, where it has several amounts of it, stems of their lines and of what leads
      these in; dates and times of day are units too, and None means bare numbers of its tables.
    """

    listed_stems: frozenset[str] = frozenset()
    lead_stems: frozenset[str] = frozenset()
    stems_by_unit: Mapping[str | None, frozenset[str]] = field(default_factory=dict)

    def derivable_figures(self, clause: Clause) -> tuple[Figure, ...]:
        """Return the figures of a clause that may follow from the text.

        1. A number of things that are listed: "4 plans", "60% of the plans"; "there are 4 ways to pay" where
           a list is led in by "You can pay with:".
        2. What a word says is computed ("in total", "more", "on average"), in a unit that the text has
           several amounts of next to a word of the clause; a share of such amounts.
        3. A length of time where dates or times of day are next to a word of the clause.

        A figure that a clause only names ("it costs € 79") follows from nothing, nor does a limit.
        """
        lists, bounds = clause.figure_words, clause.bounds
        if bounds is None:
            return ()
        # "The second reminder costs € 25" only names it.
        unclear = clause.phrase_words(lists.unclear, bounds.word_indices)
        computed = clause.phrase_words(lists.computed, bounds.word_indices | unclear)
        is_computed = bool(computed) or any(map(clause.is_share, clause.numbers))
        # A unit, "costs" and "pay" may be next to any amount.
        small = lists.unit_of.keys() | lists.prices | lists.fillers
        number_words = {each.word_start for each in clause.numbers if each.in_words}
        others = computed | bounds.word_indices | number_words
        named = {n for n in clause.content_indices if n not in others and clause.words[n].text not in small}

        def may_be_derived(figure: Figure) -> bool:
            unit = clause.figure_unit(figure)
            stems = {clause.stems[n] for n in named.difference(range(figure.word_start, figure.word_end))}
            # "In total that is € 90" names nothing, so it may be of any amounts.
            is_of_any = bool(computed) and not stems
            near = {it for it, its in self.stems_by_unit.items() if is_of_any or not stems.isdisjoint(its)}
            if (unit in _DATE_UNITS and _DATE in near) or (unit in _CLOCK_UNITS and _CLOCK in near):
                return True
            # Bare numbers of a table may be of any unit.
            if is_computed and (near if unit == PERCENT else near & {unit, None}):
                return True
            return unit in {None, PERCENT} and self._may_be_count(figure, clause, is_computed=is_computed)

        figures = (each for each in clause.numbers if bounds.of(each) not in LIMITS)
        return tuple(filter(may_be_derived, figures))

    def _may_be_count(self, figure: Figure, clause: Clause, *, is_computed: bool) -> bool:
        near = _NEAR_OF if figure.quantity.unit else _NEAR
        if not self.listed_stems.isdisjoint(clause.stems[figure.word_end : figure.word_end + near]):
            return True
        if is_computed or figure.quantity.unit or not clause.phrase_words(clause.figure_words.counts):
            return False
        # Small words too lead in a list: "you can pay with".
        return not self.lead_stems.isdisjoint(clause.stems[n] for n in clause.content_indices)


def derivation_hints(text: PreparedText) -> DerivationHints:
    """Return what of a text a figure may follow from; nothing in a language whose lexicon has no figures."""
    lexicon = text.lexicon
    if lexicon.figures is None:
        return DerivationHints()
    values: defaultdict[str | None, set[str]] = defaultdict(set)
    neighbours: defaultdict[str | None, set[str]] = defaultdict(set)
    for line, above in _lines(text.original):
        for unit, written in _written_amounts(line, lexicon):
            values[unit].add(written)
            neighbours[unit].update(figure_stems(f"{line}\n{above}", lexicon))
    for table in text.cached(tables):
        names = table.row_nouns.union(table.heading_words, *table.row_stems, *table.column_stems)
        for row, column in product(range(len(table.rows)), range(len(table.columns))):
            if found := table.amount(row, column, lexicon.figures):
                amount, its_unit = found
                values[its_unit].add(table.cells[row][column].text[amount.start : amount.end])
                neighbours[its_unit] |= names
    lists = text.cached(listings)
    return DerivationHints(
        frozenset[str]().union(*(each.row_nouns for each in lists)),
        frozenset[str]().union(*(each.lead_stems for each in lists)),
        {unit: frozenset(neighbours[unit]) for unit, written in values.items() if len(written) > 1},
    )


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that say something, each with the heading above it and the line that leads it in."""
    heading = lead = ""
    for line in (each.text for each in split_lines(text)):
        if not line.strip() or len(line) > LONGEST_LINE:
            continue
        if line.lstrip().startswith("#"):
            heading, lead = line, ""
        yield line, f"{heading}\n{lead}"
        if line.rstrip().endswith(":"):
            lead = line


def _written_amounts(line: str, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Yield the units of a line's amounts, dates and opening hours, each with how it is written."""
    if not re.search(r"\d", line):
        return
    for amount in find_quantities(line, lexicon.figure_words):
        if amount.unit is not None:
            yield amount.unit, line[amount.start : amount.end]
    for time, start, end in calendar_periods(line, lexicon):
        if time.date:
            yield _DATE, line[start:end]
    for found in _HOURS.finditer(line):
        yield _CLOCK, found.group()
