"""Checks what a clause says of figures against the data of documents."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, localcontext

from scoring.figures.blocks import Line, lines_of
from scoring.figures.clause import Asked, Bound, Clause, Figure, asked, meant, places
from scoring.figures.computing import EXTREMES, Finding, find
from scoring.figures.counting import Count, count
from scoring.figures.grids import Grid, Listing, grids, listings
from scoring.figures.labels import stems_of
from scoring.figures.numbers import PERCENT, SPANS, amounts
from scoring.figures.times import times
from scoring.figures.values import Derivation, IndirectClaim, Obstacle, Operation, Outcome
from scoring.lexicon import Lexicon
from scoring.text.prepared import PreparedText

# A longer line is no data for people to read.
_LONGEST_LINE = 2_000
_SEVERAL = 2
_HEADING = "#"
#: Dates and times of day are amounts of these: lengths of time follow from them.
DATE, CLOCK = "date", "clock"
_DIGIT = re.compile(r"\d")
_CLOCKS = re.compile(r"(?<![\d.,:])\d{1,2}[.:]\d\d ?(?:uur ?)?[-–—] ?\d{1,2}[.:]\d\d(?![\d.,:])")


@dataclass(frozen=True, slots=True)
class Bearing:
    """What of a text a figure may follow from.

    - ``listed``: stems of what the things in its lists and tables are called; ``leads``: of the lines that
      lead these in.
    - ``beside``: by unit, where it has several amounts of it, stems of their lines and of what leads these
      in; dates and times of day are units too, and None stands for bare numbers of its tables.
    """

    listed: frozenset[str] = frozenset()
    leads: frozenset[str] = frozenset()
    beside: Mapping[str | None, frozenset[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything may follow from it."""
        return bool(self.listed or self.leads or self.beside)


def bearing(text: PreparedText) -> Bearing:
    """Return what of a text a figure may follow from; nothing in a language whose lexicon has no figures."""
    if text.lexicon.figures is None:
        return Bearing()
    unit: str | None
    values: defaultdict[str | None, set[str]] = defaultdict(set)
    beside: defaultdict[str | None, set[str]] = defaultdict(set)
    for line, above in _lines(text.original):
        for unit, written in _amounts(line, text.lexicon) if _DIGIT.search(line.text) else ():
            values[unit].add(written)
            beside[unit].update(stems_of(f"{line.text}\n{above}", text.lexicon))
    for grid in text.derived(grids):
        for cell in (cell for row in grid.cells for cell in row):
            if cell.day or (cell.amount and cell.amount.unit is None):
                unit = DATE if cell.day else None
                values[unit].add(cell.text)
                labels = (stem for label in (*grid.rows, *grid.columns) for stem in label.stems)
                beside[unit].update(grid.corner, grid.around, labels)
    things = text.derived(listings)
    return Bearing(
        frozenset[str]().union(*(each.called for each in things)),
        frozenset[str]().union(*(each.lead for each in things)),
        {unit: frozenset(beside[unit]) for unit, found in values.items() if len(found) >= _SEVERAL},
    )


def _lines(text: str) -> Iterator[tuple[Line, str]]:
    """Yield the lines that say something, each with the heading above it and the line that leads it in."""
    heading = lead = ""
    for line in lines_of(text):
        if not line.text.strip() or len(line.text) > _LONGEST_LINE:
            continue
        if line.text.lstrip().startswith(_HEADING):
            heading, lead = line.text, ""
        yield line, f"{heading}\n{lead}"
        if line.text.rstrip().endswith(":"):
            lead = line.text


def _amounts(line: Line, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Yield the units of a line's amounts, dates and times of day, each with how it is written."""
    for amount in amounts(line.text, lexicon.figure_words):
        if amount.unit is not None:
            yield amount.unit, line.text[amount.start : amount.end]
    for time, start, end in times(line.text, lexicon):
        if time.date:
            yield DATE, line.text[start:end]
    for found in _CLOCKS.finditer(line.text):
        yield CLOCK, found.group()


_OF_CLOCK = frozenset({"minute", "hour", "day"})
# The highest of some figures is one of them.
_OF_DATA = frozenset({Operation.HIGHEST, Operation.LOWEST})
# What is counted stands so close after its number: "4 new plans", "60% of all the plans".
_NEAR, _NEAR_OF = 2, 4


def open_figures(clause: Clause, bearings: Sequence[Bearing]) -> tuple[Figure, ...]:
    """Return the figures of a clause that may follow from what some texts have.

    1. A number of things that are listed: "4 plans", "60% of the plans"; "there are 4 ways to pay" where a
       list is led in by "You can pay with:".
    2. A sum, an average, a difference, growth, or what is not computed, in a unit that a text has several
       amounts of beside a word of the clause; a share of such amounts.
    3. A length of time beside dates or times of day that stand beside a word of the clause.

    A figure that a clause only names ("it costs € 79") follows from nothing.
    """
    how = meant(clause, frozenset())
    if isinstance(how, Obstacle):
        return ()
    lists = clause.lists
    # "The second reminder costs € 25" only names it.
    found = asked(clause, how.taken | places(clause.find(lists.unclear, how.taken)))
    taken = how.taken | (found.taken if isinstance(found, Asked) else frozenset())
    # A unit, "costs" and "pay" may stand beside any amount.
    small = lists.unit_of.keys() | lists.prices | lists.fillers
    stems = frozenset(
        clause.stems[place]
        for place in clause.content
        if place not in taken and clause.words[place].text not in small
    )
    # "Up to 25 plans" is no number of plans that there are.
    limits = {first for first, bound in how.bounds.items() if bound in {Bound.AT_MOST, Bound.AT_LEAST}}
    return tuple(
        figure
        for figure in clause.numbers
        if figure.first not in limits
        and any(_may_follow(figure, clause, found, stems, by) for by in bearings)
    )


def is_part_of_listed(clause: Clause, bearings: Sequence[Bearing]) -> bool:
    """Say whether a clause claims a part in words of what is listed: "a third of the plans"."""
    lists, words = clause.lists, clause.words
    listed = frozenset[str]().union(*(by.listed for by in bearings))
    parts = (last for each in (lists.unsupported, lists.unclear) for _, last in clause.find(each, ()))
    return any(
        not listed.isdisjoint(clause.stems[last : last + _NEAR_OF])
        for last in parts
        if last < len(words) and not lists.of.isdisjoint({words[last - 1].text, words[last].text})
    )


def _may_follow(
    figure: Figure, clause: Clause, found: Asked | Obstacle | None, stems: frozenset[str], by: Bearing
) -> bool:
    unit = clause.unit(figure)
    operation = found.operation if isinstance(found, Asked) else None

    def is_beside(unit: str | None) -> bool:
        return not stems.isdisjoint(by.beside.get(unit, ()))

    if unit in {None, PERCENT}:
        near = _NEAR_OF if unit else _NEAR
        if not by.listed.isdisjoint(clause.stems[figure.last : figure.last + near]):
            return True
        # Small words too lead in a list: "you can pay with".
        content = {clause.stems[place] for place in clause.content}
        if not unit and operation is Operation.COUNT and not by.leads.isdisjoint(content):
            return True
    if (unit in SPANS and is_beside(DATE)) or (unit in _OF_CLOCK and is_beside(CLOCK)):
        return True
    if found is None or operation is Operation.COUNT or operation in _OF_DATA:
        return False
    return any(map(is_beside, by.beside)) if unit == PERCENT else is_beside(unit)


# More than sums of the largest numbers need, and a bound on what division gives.
_PRECISION = 50
# Of what the answer says before, as much as two sentences.
_LONGEST_BEFORE = 400

# Who says one of these and names a row speaks of the data; "more" and "contains" are said of anything.
_PLAIN = EXTREMES | {Operation.AVERAGE, Operation.SHARE}
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
    bearing: Bearing = field(default_factory=Bearing)


def check(
    text: str, offset: int, lexicon: Lexicon, sources: Sequence[DataSource], before: str = ""
) -> IndirectClaim | None:
    r"""Check a clause of an answer that claims what follows from figures of its documents.

    Args:
        text: The clause.
        offset: Where it begins in the answer.
        lexicon: That of the answer's language.
        sources: The data of the documents.
        before: What the answer says right before: rows that it names may be meant still.

    Returns:
        The claim, with what the data say of it; None where it is none, or names nothing that the data have.
        A claim is refuted only where operation, rows and column are clear; what cannot be computed is
        not checkable, and may still be looked for word for word.

    >>> from scoring.figures.grids import grids
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared import PreparedText
    >>> english = load_shipped()["en"]
    >>> prices = PreparedText.of("Prices:\n\n- Basic: $10\n- Team: $25\n", english)
    >>> source = DataSource("plans", prices.derived(grids))
    >>> claim = check("Team is $20 more expensive than Basic.", 0, english, [source])
    >>> claim.outcome.value, claim.derivation.formula
    ('refuted', '25 - 10 = 15')
    """
    if lexicon.figures is None or (clause := Clause.of(text, lexicon)) is None:
        return None
    asks = any(source.grids for source in sources) and _may_ask(clause)
    earlier = Clause.of(before[-_LONGEST_BEFORE:], lexicon) if before and asks else None
    with localcontext(Context(prec=_PRECISION)):
        found = [
            (source, finding)
            for source in sources
            for grid in (source.grids if asks else ())
            if (finding := find(clause, grid, earlier, is_whole=source.is_whole))
        ]
        decided = _claim(*_decided(found), clause, offset) if found else None
        if decided is None or decided.outcome is Outcome.NOT_CHECKABLE:
            counted = _counted(clause, offset, sources)
            decided = counted if counted and (decided is None or counted.derivation) else decided
    bearings = [source.bearing for source in sources]
    figures = open_figures(clause, bearings)
    spans = tuple((offset + each.amount.start, offset + each.amount.end) for each in figures)
    if decided:
        # What is refuted is known to be another one.
        refuted = (decided.start, decided.end) if decided.outcome is Outcome.REFUTED else None
        return replace(decided, open=tuple(span for span in spans if span != refuted))
    if not (spans or is_part_of_listed(clause, bearings)):
        return None
    # Nothing to compute with, and yet no figure out of nowhere.
    end = offset + len(clause.text)
    return IndirectClaim(Outcome.NOT_CHECKABLE, offset, end, obstacle=Obstacle.DATA, open=spans)


def _counted(clause: Clause, offset: int, sources: Sequence[DataSource]) -> IndirectClaim | None:
    """Return what the listings say of how many there are; nothing is settled where they do not agree."""
    found = [
        (source, listing, counted)
        for source in sources
        for listing in source.listings
        if (counted := count(clause, listing, is_whole=source.is_whole))
    ]
    if not found:
        return None
    sure = [each for each in found if each[2].obstacle is None]
    if len({(each.outcome, each.value) for _, _, each in sure}) == 1:
        return _count_claim(*sure[0], offset)
    source, listing, first = found[0]
    obstacle = Obstacle.SEVERAL_DATA if sure else first.obstacle
    unclear = replace(first, outcome=Outcome.NOT_CHECKABLE, rows=(), obstacle=obstacle)
    return _count_claim(source, listing, unclear, offset)


def _count_claim(source: DataSource, listing: Listing, counted: Count, offset: int) -> IndirectClaim:
    cells = tuple(listing.rows[place] for place in counted.rows)
    derivation = Derivation(source.document_id, cells, counted.formula) if cells else None
    start, end = offset + counted.figure.amount.start, offset + counted.figure.amount.end
    return IndirectClaim(counted.outcome, start, end, derivation, counted.obstacle)


def _may_ask(clause: Clause) -> bool:
    has_span = any(figure.amount.unit in SPANS for figure in clause.figures)
    return has_span or asked(clause, frozenset()) is not None


def _decided(found: Sequence[tuple[DataSource, Finding]]) -> tuple[DataSource, Finding]:
    """Return what the grids that account for most of a clause say together."""
    most = max(finding.score for _, finding in found)
    best = [each for each in found if each[1].score == most]
    judged = [each for each in best if each[1].obstacle is None]
    # "Revenue was highest in March" is said of the months, not of revenue and costs.
    likely = [each for each in judged if _is_along_time(each[1])]
    judged = [each for each in judged if each in likely or _place(each) not in map(_place, likely)]
    if not judged:
        return min(best, key=lambda each: (each[1].computed is None, each[1].obstacle is not Obstacle.CELLS))
    outcomes = {finding.outcome for _, finding in judged}
    values = {finding.computed.values for _, finding in judged if finding.computed}
    is_one = len(set(map(_place, judged))) == 1
    is_alone = {*map(_place, best)} == {*map(_place, judged)} and (is_one or len(values) == 1)
    if outcomes == {Outcome.CONFIRMED} or (outcomes == {Outcome.REFUTED} and is_alone):
        return judged[0]
    unclear = replace(
        judged[0][1], outcome=Outcome.NOT_CHECKABLE, obstacle=Obstacle.SEVERAL_DATA, computed=None
    )
    return judged[0][0], unclear


def _place(found: tuple[DataSource, Finding]) -> tuple[str, int]:
    """Return where a grid stands; one that is turned stands at the same place."""
    return found[0].document_id, found[1].grid.start


def _is_along_time(finding: Finding) -> bool:
    """Say whether a grid is the likelier way to turn it: of a share its rows are things, else times."""
    has_times = all(row.time for row in finding.grid.rows)
    if finding.operation is Operation.SHARE:
        return not has_times
    # "North was highest in 2022": of the regions, or of the years?
    return has_times and not (finding.grid.is_turned and finding.operation in EXTREMES)


def _claim(source: DataSource, finding: Finding, clause: Clause, offset: int) -> IndirectClaim:
    start, end = 0, len(clause.text)
    if finding.figure:
        start, end = finding.figure.amount.start, finding.figure.amount.end
    is_plain = finding.operation in _PLAIN or bool(clause.find(clause.lists.unsupported, ()))
    computed = finding.computed
    derivation = Derivation(source.document_id, computed.cells, computed.formula) if computed else None
    return IndirectClaim(
        finding.outcome,
        offset + start,
        offset + end,
        derivation,
        finding.obstacle,
        is_of_data=finding.names >= (1 if is_plain else _TWO),
    )
