"""Checking what a clause says of figures against the data of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, localcontext

from scoring.figures.clause import Clause
from scoring.figures.computing import EXTREMES, Finding, find
from scoring.figures.counting import Count, count
from scoring.figures.following import is_part_of_listed, open_figures
from scoring.figures.reading.amounts import SPANS
from scoring.figures.reading.bearing import Bearing
from scoring.figures.reading.grids import Grid
from scoring.figures.reading.listings import Listing
from scoring.figures.recognising import asked
from scoring.figures.values import Derivation, IndirectClaim, Obstacle, Operation, Outcome
from scoring.lexicon import Lexicon

# More than sums of the largest numbers need, and a bound on what division gives.
_PRECISION = 50
# Of what the answer says before, as much as two sentences.
_LONGEST_BEFORE = 400

# Who says one of these and names a row speaks of the data; "more" and "contains" are said of anything.
_PLAIN = EXTREMES | {Operation.AVERAGE, Operation.SHARE}
_TWO = 2


@dataclass(frozen=True, slots=True)
class DataSource:
    """The data of a document that a claim may follow from, by :func:`scoring.figures.reading.grids.grids`.

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

    >>> from scoring.figures.reading.grids import grids
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
