"""Checks what a clause says of figures against the data of documents."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, localcontext

from scoring.figures.calendar_periods import calendar_periods
from scoring.figures.clause import (
    Bound,
    ClaimedOperation,
    Clause,
    Figure,
    claimed_operation,
    figure_bounds,
    word_indices,
)
from scoring.figures.count_checking import CountFinding, check_count
from scoring.figures.data_blocks import Line, split_lines
from scoring.figures.figure_claims import Derivation, FigureClaim, FigureOutcome, Obstacle, Operation
from scoring.figures.grid_checking import EXTREMES, GridFinding, check_grid
from scoring.figures.grids import Grid, Listing, grids, listings
from scoring.figures.quantities import CALENDAR_UNITS, PERCENT, find_quantities
from scoring.figures.table_cells import figure_stems
from scoring.lexicon import Lexicon
from scoring.text.prepared_text import PreparedText

# A longer line is no data for people to read.
_LONGEST_LINE = 2_000
_SEVERAL = 2
_HEADING = "#"
#: Dates and times of day are amounts of these: lengths of time follow from them.
DATE, CLOCK = "date", "clock"
_DIGIT = re.compile(r"\d")
_CLOCKS = re.compile(r"(?<![\d.,:])\d{1,2}[.:]\d\d ?(?:uur ?)?[-–—] ?\d{1,2}[.:]\d\d(?![\d.,:])")


@dataclass(frozen=True, slots=True)
class DerivationHints:
    """What of a text a figure may follow from.

    - ``listed``: stems of what the things in its lists and tables are called; ``leads``: of the lines that
      lead these in.
    - ``beside``: by unit, where it has several amounts of it, stems of their lines and of what leads these
      in; dates and times of day are units too, and None stands for bare numbers of its tables.
    """

    listed_stems: frozenset[str] = frozenset()
    lead_stems: frozenset[str] = frozenset()
    stems_by_unit: Mapping[str | None, frozenset[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything may follow from it."""
        return bool(self.listed_stems or self.lead_stems or self.stems_by_unit)


def derivation_hints(text: PreparedText) -> DerivationHints:
    """Return what of a text a figure may follow from; nothing in a language whose lexicon has no figures."""
    if text.lexicon.figures is None:
        return DerivationHints()
    unit: str | None
    values: defaultdict[str | None, set[str]] = defaultdict(set)
    beside: defaultdict[str | None, set[str]] = defaultdict(set)
    for line, above in _lines(text.original):
        for unit, written in _written_quantities(line, text.lexicon) if _DIGIT.search(line.text) else ():
            values[unit].add(written)
            beside[unit].update(figure_stems(f"{line.text}\n{above}", text.lexicon))
    for grid in text.cached(grids):
        for cell in (cell for row in grid.cells for cell in row):
            if cell.day or (cell.quantity and cell.quantity.unit is None):
                unit = DATE if cell.day else None
                values[unit].add(cell.text)
                labels = (stem for label in (*grid.rows, *grid.columns) for stem in label.stems)
                beside[unit].update(grid.row_nouns, grid.heading_words, labels)
    things = text.cached(listings)
    return DerivationHints(
        frozenset[str]().union(*(each.row_nouns for each in things)),
        frozenset[str]().union(*(each.lead_stems for each in things)),
        {unit: frozenset(beside[unit]) for unit, found in values.items() if len(found) >= _SEVERAL},
    )


def _lines(text: str) -> Iterator[tuple[Line, str]]:
    """Yield the lines that say something, each with the heading above it and the line that leads it in."""
    heading = lead = ""
    for line in split_lines(text):
        if not line.text.strip() or len(line.text) > _LONGEST_LINE:
            continue
        if line.text.lstrip().startswith(_HEADING):
            heading, lead = line.text, ""
        yield line, f"{heading}\n{lead}"
        if line.text.rstrip().endswith(":"):
            lead = line.text


def _written_quantities(line: Line, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Yield the units of a line's amounts, dates and times of day, each with how it is written."""
    for amount in find_quantities(line.text, lexicon.figure_words):
        if amount.unit is not None:
            yield amount.unit, line.text[amount.start : amount.end]
    for time, start, end in calendar_periods(line.text, lexicon):
        if time.date:
            yield DATE, line.text[start:end]
    for found in _CLOCKS.finditer(line.text):
        yield CLOCK, found.group()


_CLOCK_UNITS = frozenset({"minute", "hour", "day"})
# The highest of some figures is one of them.
_EXTREME_OPERATIONS = frozenset({Operation.HIGHEST, Operation.LOWEST})
# What is counted stands so close after its number: "4 new plans", "60% of all the plans".
_NEAR, _NEAR_OF = 2, 4


def derivable_figures(clause: Clause, hints: Sequence[DerivationHints]) -> tuple[Figure, ...]:
    """Return the figures of a clause that may follow from what some texts have.

    1. A number of things that are listed: "4 plans", "60% of the plans"; "there are 4 ways to pay" where a
       list is led in by "You can pay with:".
    2. A sum, an average, a difference, growth, or what is not computed, in a unit that a text has several
       amounts of beside a word of the clause; a share of such amounts.
    3. A length of time beside dates or times of day that stand beside a word of the clause.

    A figure that a clause only names ("it costs € 79") follows from nothing.
    """
    how = figure_bounds(clause, frozenset())
    if isinstance(how, Obstacle):
        return ()
    lists = clause.figure_words
    # "The second reminder costs € 25" only names it.
    found = claimed_operation(
        clause, how.word_indices | word_indices(clause.find_phrases(lists.unclear, how.word_indices))
    )
    taken = how.word_indices | (found.word_indices if isinstance(found, ClaimedOperation) else frozenset())
    # A unit, "costs" and "pay" may stand beside any amount.
    small = lists.unit_of.keys() | lists.prices | lists.fillers
    stems = frozenset(
        clause.stems[place]
        for place in clause.content_indices
        if place not in taken and clause.words[place].text not in small
    )
    # "Up to 25 plans" is no number of plans that there are.
    limits = {first for first, bound in how.by_word.items() if bound in {Bound.AT_MOST, Bound.AT_LEAST}}
    return tuple(
        figure
        for figure in clause.numbers
        if figure.word_start not in limits
        and any(_may_be_derived(figure, clause, found, stems, by) for by in hints)
    )


def claims_part_of_listed(clause: Clause, hints: Sequence[DerivationHints]) -> bool:
    """Say whether a clause claims a part in words of what is listed: "a third of the plans"."""
    lists, words = clause.figure_words, clause.words
    listed = frozenset[str]().union(*(by.listed_stems for by in hints))
    parts = (last for each in (lists.unsupported, lists.unclear) for _, last in clause.find_phrases(each, ()))
    return any(
        not listed.isdisjoint(clause.stems[last : last + _NEAR_OF])
        for last in parts
        if last < len(words) and not lists.of.isdisjoint({words[last - 1].text, words[last].text})
    )


def _may_be_derived(
    figure: Figure,
    clause: Clause,
    found: ClaimedOperation | Obstacle | None,
    stems: frozenset[str],
    hints: DerivationHints,
) -> bool:
    unit = clause.figure_unit(figure)
    operation = found.operation if isinstance(found, ClaimedOperation) else None

    def is_beside(unit: str | None) -> bool:
        return not stems.isdisjoint(hints.stems_by_unit.get(unit, ()))

    if unit in {None, PERCENT}:
        near = _NEAR_OF if unit else _NEAR
        if not hints.listed_stems.isdisjoint(clause.stems[figure.word_end : figure.word_end + near]):
            return True
        # Small words too lead in a list: "you can pay with".
        content = {clause.stems[place] for place in clause.content_indices}
        if not unit and operation is Operation.COUNT and not hints.lead_stems.isdisjoint(content):
            return True
    if (unit in CALENDAR_UNITS and is_beside(DATE)) or (unit in _CLOCK_UNITS and is_beside(CLOCK)):
        return True
    if found is None or operation is Operation.COUNT or operation in _EXTREME_OPERATIONS:
        return False
    return any(map(is_beside, hints.stems_by_unit)) if unit == PERCENT else is_beside(unit)


# More than sums of the largest numbers need, and a bound on what division gives.
_PRECISION = 50
# Of what the answer says before, as much as two sentences.
_LONGEST_BEFORE = 400

# Who says one of these and names a row speaks of the data; "more" and "contains" are said of anything.
_DATA_OPERATIONS = EXTREMES | {Operation.AVERAGE, Operation.SHARE}
_TWO = 2


@dataclass(frozen=True, slots=True)
class DataSource:
    """The data of a document that a claim may follow from, by :func:`scoring.figures.grids.grids`.

    ``is_whole``: they are of the whole document; of a passage, a table at its edge may have been cut.
    ``listings``: what it lists, to be counted; ``bearing``: what else a figure may follow from.
    """

    document_id: str
    grids: tuple[Grid, ...]
    is_whole: bool = True
    listings: tuple[Listing, ...] = ()
    hints: DerivationHints = field(default_factory=DerivationHints)


def check_clause(
    text: str, offset: int, lexicon: Lexicon, sources: Sequence[DataSource], preceding_text: str = ""
) -> FigureClaim | None:
    r"""Check a clause of an answer that claims what follows from figures of its documents.

    Args:
        text: The clause.
        offset: Where it begins in the answer.
        lexicon: That of the answer's language.
        sources: The data of the documents.
        preceding_text: What the answer says right before: rows that it names may be meant still.

    Returns:
        The claim, with what the data say of it; None where it is none, or names nothing that the data have.
        A claim is refuted only where operation, rows and column are clear; what cannot be computed is
        not checkable, and may still be looked for word for word.

    >>> from scoring.figures.grids import grids
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> english = load_shipped()["en"]
    >>> prices = PreparedText.of("Prices:\n\n- Basic: $10\n- Team: $25\n", english)
    >>> source = DataSource("plans", prices.cached(grids))
    >>> claim = check_clause("Team is $20 more expensive than Basic.", 0, english, [source])
    >>> claim.outcome.value, claim.derivation.formula
    ('refuted', '25 - 10 = 15')
    """
    if lexicon.figures is None or (clause := Clause.of(text, lexicon)) is None:
        return None
    asks = any(source.grids for source in sources) and _may_claim_operation(clause)
    earlier = Clause.of(preceding_text[-_LONGEST_BEFORE:], lexicon) if preceding_text and asks else None
    with localcontext(Context(prec=_PRECISION)):
        found = [
            (source, finding)
            for source in sources
            for grid in (source.grids if asks else ())
            if (finding := check_grid(clause, grid, earlier, is_whole=source.is_whole))
        ]
        decided = _figure_claim(*_consensus(found), clause, offset) if found else None
        if decided is None or decided.outcome is FigureOutcome.NOT_CHECKABLE:
            counted = _check_counts(clause, offset, sources)
            decided = counted if counted and (decided is None or counted.derivation) else decided
    bearings = [source.hints for source in sources]
    figures = derivable_figures(clause, bearings)
    spans = tuple((offset + each.quantity.start, offset + each.quantity.end) for each in figures)
    if decided:
        # What is refuted is known to be another one.
        refuted = (decided.start, decided.end) if decided.outcome is FigureOutcome.REFUTED else None
        return replace(decided, open_spans=tuple(span for span in spans if span != refuted))
    if not (spans or claims_part_of_listed(clause, bearings)):
        return None
    # Nothing to compute with, and yet no figure out of nowhere.
    end = offset + len(clause.text)
    return FigureClaim(FigureOutcome.NOT_CHECKABLE, offset, end, obstacle=Obstacle.DATA, open_spans=spans)


def _check_counts(clause: Clause, offset: int, sources: Sequence[DataSource]) -> FigureClaim | None:
    """Return what the listings say of how many there are; nothing is settled where they do not agree."""
    found = [
        (source, listing, counted)
        for source in sources
        for listing in source.listings
        if (counted := check_count(clause, listing, is_whole=source.is_whole))
    ]
    if not found:
        return None
    sure = [each for each in found if each[2].obstacle is None]
    if len({(each.outcome, each.value) for _, _, each in sure}) == 1:
        return _count_claim(*sure[0], offset)
    source, listing, first = found[0]
    obstacle = Obstacle.SEVERAL_DATA if sure else first.obstacle
    unclear = replace(first, outcome=FigureOutcome.NOT_CHECKABLE, rows=(), obstacle=obstacle)
    return _count_claim(source, listing, unclear, offset)


def _count_claim(source: DataSource, listing: Listing, counted: CountFinding, offset: int) -> FigureClaim:
    cells = tuple(listing.rows[place] for place in counted.rows)
    derivation = Derivation(source.document_id, cells, counted.formula) if cells else None
    start, end = offset + counted.figure.quantity.start, offset + counted.figure.quantity.end
    return FigureClaim(counted.outcome, start, end, derivation, counted.obstacle)


def _may_claim_operation(clause: Clause) -> bool:
    has_span = any(figure.quantity.unit in CALENDAR_UNITS for figure in clause.figures)
    return has_span or claimed_operation(clause, frozenset()) is not None


def _consensus(found: Sequence[tuple[DataSource, GridFinding]]) -> tuple[DataSource, GridFinding]:
    """Return what the grids that account for most of a clause say together."""
    most = max(finding.score for _, finding in found)
    best = [each for each in found if each[1].score == most]
    judged = [each for each in best if each[1].obstacle is None]
    # "Revenue was highest in March" is said of the months, not of revenue and costs.
    likely = [each for each in judged if _has_likely_orientation(each[1])]
    judged = [
        each for each in judged if each in likely or _grid_location(each) not in map(_grid_location, likely)
    ]
    if not judged:
        return min(
            best, key=lambda each: (each[1].computation is None, each[1].obstacle is not Obstacle.CELLS)
        )
    outcomes = {finding.outcome for _, finding in judged}
    values = {finding.computation.values for _, finding in judged if finding.computation}
    is_one = len(set(map(_grid_location, judged))) == 1
    is_alone = {*map(_grid_location, best)} == {*map(_grid_location, judged)} and (is_one or len(values) == 1)
    if outcomes == {FigureOutcome.CONFIRMED} or (outcomes == {FigureOutcome.REFUTED} and is_alone):
        return judged[0]
    unclear = replace(
        judged[0][1], outcome=FigureOutcome.NOT_CHECKABLE, obstacle=Obstacle.SEVERAL_DATA, computation=None
    )
    return judged[0][0], unclear


def _grid_location(found: tuple[DataSource, GridFinding]) -> tuple[str, int]:
    """Return where a grid stands; one that is turned stands at the same place."""
    return found[0].document_id, found[1].grid.start


def _has_likely_orientation(finding: GridFinding) -> bool:
    """Say whether a grid is the likelier way to turn it: of a share its rows are things, else times."""
    has_times = all(row.period for row in finding.grid.rows)
    if finding.operation is Operation.SHARE:
        return not has_times
    # "North was highest in 2022": of the regions, or of the years?
    return has_times and not (finding.grid.is_transposed and finding.operation in EXTREMES)


def _figure_claim(source: DataSource, finding: GridFinding, clause: Clause, offset: int) -> FigureClaim:
    start, end = 0, len(clause.text)
    if finding.figure:
        start, end = finding.figure.quantity.start, finding.figure.quantity.end
    is_plain = finding.operation in _DATA_OPERATIONS or bool(
        clause.find_phrases(clause.figure_words.unsupported, ())
    )
    computed = finding.computation
    derivation = Derivation(source.document_id, computed.cells, computed.formula) if computed else None
    return FigureClaim(
        finding.outcome,
        offset + start,
        offset + end,
        derivation,
        finding.obstacle,
        is_about_data=finding.name_count >= (1 if is_plain else _TWO),
    )
