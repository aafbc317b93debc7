"""Checking what a clause says of figures against the data of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, localcontext

from scoring.figures.asking import question
from scoring.figures.clause import Clause
from scoring.figures.counting import Count, count
from scoring.figures.following import is_part_of_listed, open_figures
from scoring.figures.judging import Judgement, judge
from scoring.figures.reading.amounts import SPANS
from scoring.figures.reading.bearing import Bearing
from scoring.figures.reading.grids import Grid
from scoring.figures.reading.listings import Listing
from scoring.figures.recognising import asked
from scoring.figures.values import Derivation, IndirectClaim, Obstacle, Operation, Outcome, UsedCell
from scoring.lexicon import Lexicon

# More than sums of the largest numbers need, and a bound on what division gives.
_PRECISION = 50
# Of what the answer says before, as much as two sentences.
_LONGEST_BEFORE = 400

_EXTREMES = frozenset({Operation.HIGHEST, Operation.LOWEST})
# Who says one of these and names a row speaks of the data; "more" and "contains" are said of anything.
_PLAIN = _EXTREMES | {Operation.AVERAGE, Operation.SHARE, Operation.TREND, Operation.OUTLIER}
_TWO = 2


@dataclass(frozen=True, slots=True)
class DataSource:
    """The data of a document that a claim may follow from, by :func:`scoring.figures.reading.grids.grids`.

    ``is_whole``: they are of the whole document; of a passage, a table at its edge may have been cut.
    ``listings``: what it lists, to be counted; ``bearing``: what else a figure may follow from.
    """

    document_id: str
    version: str | None
    grids: tuple[Grid, ...]
    is_whole: bool = True
    listings: tuple[Listing, ...] = ()
    bearing: Bearing = field(default_factory=Bearing)


@dataclass(frozen=True, slots=True)
class _Finding:
    """What one grid says of a clause; ``score`` tells how much of the clause it accounts for.

    ``names``: how many of its rows and columns the clause names.
    """

    source: DataSource
    grid: Grid
    score: int
    names: int
    operation: Operation | None
    judgement: Judgement


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
    >>> source = DataSource("plans", "3", prices.derived(grids))
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
            finding
            for source in sources
            for grid in (source.grids if asks else ())
            if (finding := _finding(source, grid, clause, earlier))
        ]
        decided = _claim(_decided(found), clause, offset) if found else None
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
    return IndirectClaim(Outcome.NOT_CHECKABLE, None, offset, end, obstacle=Obstacle.DATA, open=spans)


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
    cells = tuple(
        UsedCell(row.text, row.start, row.end) for row in (listing.rows[place] for place in counted.rows)
    )
    derivation = Derivation(source.document_id, source.version, cells, counted.formula, counted.value)
    amount = counted.figure.amount
    return IndirectClaim(
        counted.outcome,
        counted.operation,
        offset + amount.start,
        offset + amount.end,
        derivation if cells else None,
        counted.obstacle,
    )


def _may_ask(clause: Clause) -> bool:
    has_span = any(figure.amount.unit in SPANS for figure in clause.figures)
    return has_span or asked(clause, frozenset()) is not None


def _finding(source: DataSource, grid: Grid, clause: Clause, before: Clause | None) -> _Finding | None:
    if grid.may_go_on and not source.is_whole:
        grid = replace(grid, is_complete=False)
    asks = question(clause, grid, before)
    if asks is None:
        return None
    if isinstance(asks.reading, Obstacle):
        judgement = Judgement(Outcome.NOT_CHECKABLE, obstacle=asks.reading)
    else:
        judgement = judge(asks.reading)
    if judgement.obstacle and not asks.names:
        return None
    return _Finding(source, grid, asks.score, asks.names, asks.operation, judgement)


def _decided(found: Sequence[_Finding]) -> _Finding:
    """Return what the grids that account for most of a clause say together."""
    most = max(finding.score for finding in found)
    best = [finding for finding in found if finding.score == most]
    judged = _along_time([finding for finding in best if finding.judgement.obstacle is None])
    if not judged:
        return min(best, key=_distance)
    outcomes = {finding.judgement.outcome for finding in judged}
    values = {finding.judgement.computed.values for finding in judged if finding.judgement.computed}
    if outcomes == {Outcome.CONFIRMED}:
        return judged[0]
    is_alone = all(_is_turn_of(finding, judged) for finding in best)
    if outcomes == {Outcome.REFUTED} and is_alone and (len(values) == 1 or _is_one_grid(judged)):
        return judged[0]
    return replace(judged[0], judgement=Judgement(Outcome.NOT_CHECKABLE, obstacle=Obstacle.SEVERAL_DATA))


def _distance(finding: _Finding) -> tuple[bool, bool]:
    """Return a key that is less the further a clause could be followed in a grid."""
    judgement = finding.judgement
    return judgement.computed is None, judgement.obstacle is not Obstacle.CELLS


def _along_time(found: Sequence[_Finding]) -> list[_Finding]:
    """Leave out the less likely way to turn a grid, where both say something.

    "Revenue was highest in March" is said of the months, not of revenue and costs; "North had 40% of the
    total in 2022" is said of the regions, not of the years.
    """
    likely = [finding for finding in found if _is_likely(finding)]
    return [finding for finding in found if finding in likely or not _is_turn_of(finding, likely)]


def _is_likely(finding: _Finding) -> bool:
    has_times = all(row.time for row in finding.grid.rows)
    if finding.operation is Operation.SHARE:
        return not has_times
    # "North was highest in 2022": of the regions, or of the years?
    return has_times and not (finding.grid.is_turned and finding.operation in _EXTREMES)


def _is_turn_of(finding: _Finding, judged: Sequence[_Finding]) -> bool:
    """Say whether a finding is of a grid, or of one turned, that was judged."""
    return any(finding.source is each.source and finding.grid.start == each.grid.start for each in judged)


def _is_one_grid(found: Sequence[_Finding]) -> bool:
    return len({(finding.source.document_id, finding.grid.start) for finding in found}) == 1


def _claim(finding: _Finding, clause: Clause, offset: int) -> IndirectClaim:
    judgement = finding.judgement
    start, end = 0, len(clause.text)
    if judgement.figure:
        start, end = judgement.figure.amount.start, judgement.figure.amount.end
    return IndirectClaim(
        judgement.outcome,
        finding.operation,
        offset + start,
        offset + end,
        _derivation(finding),
        judgement.obstacle,
        is_of_data=finding.names >= (1 if _is_plain(finding, clause) else _TWO),
    )


def _is_plain(finding: _Finding, clause: Clause) -> bool:
    """Say whether the words that name an operation are said of data alone."""
    if finding.operation is None:
        return bool(clause.find(clause.lists.unsupported, ()))
    return finding.operation in _PLAIN


def _derivation(finding: _Finding) -> Derivation | None:
    computed = finding.judgement.computed
    if computed is None:
        return None
    return Derivation(
        document_id=finding.source.document_id,
        version=finding.source.version,
        cells=tuple(UsedCell(cell.text, cell.start, cell.end) for cell in computed.cells),
        formula=computed.formula,
        value=next(iter(computed.values), None),
    )
