"""What a clause asks of one grid: the operation, the rows, and the figures that it claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scoring.figures.clause import Clause, Figure
from scoring.figures.naming import Named, named, named_in_part
from scoring.figures.reading.amounts import CURRENCIES, SPANS
from scoring.figures.reading.grids import Grid
from scoring.figures.recognising import Asked, Meant, asked, meant
from scoring.figures.scope import Scope, row_words, scope
from scoring.figures.values import Obstacle, Operation
from scoring.lexicon import FigureWords
from scoring.text.prepared import folded_words

_TWO = 2
_OF_TWO = frozenset({Operation.DIFFERENCE, Operation.GROWTH, Operation.TIME_BETWEEN})


@dataclass(frozen=True, slots=True)
class Reading:
    """A clause read against one grid: what it asks, and what it says besides.

    ``is_linked``: it surely speaks of this grid.
    """

    clause: Clause
    grid: Grid
    named: Named
    asked: Asked
    meant: Meant
    scope: Scope
    figures: tuple[Figure, ...]
    before: Clause | None
    is_linked: bool


@dataclass(frozen=True, slots=True)
class Question:
    """What a clause asks of a grid, or why that is not clear.

    ``score``: how much of the clause the grid accounts for; ``names``: how many rows and columns it names.
    """

    operation: Operation | None
    reading: Reading | Obstacle
    score: int
    names: int


def question(clause: Clause, grid: Grid, before: Clause | None) -> Question | None:
    """Return what a clause asks of a grid; None where it asks nothing, or nothing of this one."""
    names = in_full = named(clause, grid)
    how = meant(clause, names.taken)
    if isinstance(how, Obstacle):
        return None
    operation = _asked(clause, grid, names, how)
    if operation is None:
        return None
    kind = None
    if isinstance(operation, Asked):
        kind = operation.operation
        names = named_in_part(clause, grid, names, names.taken | how.taken | operation.taken)
    above = [place for place in _around(clause, grid) if place not in names.taken]
    score = _TWO * len(names.taken) + len(in_full.taken) + len(above)
    if not score:
        return None
    count = len(names.rows) + len(names.columns)
    # A unit may stand above anything.
    is_linked = count > 0 or any(clause.words[place].text not in clause.lists.unit_of for place in above)
    if isinstance(operation, Obstacle):
        return Question(kind, operation, score, count)
    found = _read(grid, clause, before, names, how, operation, is_linked=is_linked)
    return Question(kind, found, score, count)


def _asked(clause: Clause, grid: Grid, names: Named, how: Meant) -> Asked | Obstacle | None:
    """Return what a clause asks of a grid: the time between two dates needs no word for it."""
    found = asked(clause, names.taken | how.taken)
    spans = [
        figure for figure in clause.figures if figure.amount.unit in SPANS and figure.first not in names.taken
    ]
    has_days = any(cell.day for row in grid.cells for cell in row)
    if not (spans and has_days and len(names.rows) == _TWO):
        return found
    is_plain = not isinstance(found, Asked) or found.operation in {Operation.DIFFERENCE, Operation.COUNT}
    if found is Obstacle.OPERATION or not is_plain:
        return Obstacle.OPERATION
    taken = found.taken if isinstance(found, Asked) else frozenset[int]()
    return Asked(Operation.TIME_BETWEEN, taken)


def _read(
    grid: Grid,
    clause: Clause,
    before: Clause | None,
    names: Named,
    how: Meant,
    operation: Asked,
    *,
    is_linked: bool,
) -> Reading | Obstacle:
    taken = names.taken | how.taken | operation.taken
    rows = _scope(clause, grid, names, operation, taken)
    if isinstance(rows, Obstacle):
        return rows
    taken |= rows.taken
    pool = (
        (*clause.figures, *clause.number_words) if operation.operation is Operation.COUNT else clause.figures
    )
    figures = tuple(figure for figure in pool if figure.first not in taken)
    if operation.operation is Operation.COUNT:
        nouns = row_words(clause, grid)
        figures = tuple(figure for figure in figures if figure.last in nouns)
    for figure in figures:
        taken |= frozenset(range(figure.first, figure.last))
    reading = Reading(clause, grid, names, operation, how, rows, figures, before, is_linked)
    return Obstacle.UNKNOWN_WORDS if _has_unknown(reading, taken) else reading


def _scope(
    clause: Clause, grid: Grid, names: Named, operation: Asked, taken: frozenset[int]
) -> Scope | Obstacle:
    if operation.operation is Operation.COUNT:
        return Scope(tuple(range(len(grid.rows))), is_all=True) if not names.rows else Obstacle.ROWS
    if operation.operation in _OF_TWO and names.rows:
        if any(mention.is_unclear for mention in names.rows):
            return Obstacle.ROWS
        return Scope(tuple(sorted({place for each in names.rows for place in each.places})), is_all=False)
    return scope(clause, grid, names, taken)


def _around(clause: Clause, grid: Grid) -> Iterator[int]:
    """Yield the places of the words of content that stand above the grid or its row labels too."""
    for place in clause.content:
        known = {clause.words[place].text, clause.stems[place]}
        if not known.isdisjoint(grid.around) or clause.stems[place] in grid.corner:
            yield place


def _has_unknown(reading: Reading, taken: frozenset[int]) -> bool:
    """Say whether a word is left that may change what is claimed."""
    clause, grid, lists = reading.clause, reading.grid, reading.clause.lists
    known = taken | row_words(clause, grid)
    phrases = [lists.all_of, lists.counts]
    words = set(lists.fillers) | _told_by_cells(grid, lists)
    if reading.asked.operation in _OF_TWO:
        phrases.extend((lists.between, lists.through, lists.until))
    if reading.asked.operation is Operation.TIME_BETWEEN:
        words |= lists.after | lists.before | lists.elapsed
    if reading.asked.operation is Operation.AVERAGE:
        nouns = row_words(clause, grid)
        known |= {first for first, last in clause.find(lists.every, taken) if last in nouns}
    known |= _kinds(clause, reading.named)
    for phrase in phrases:
        known |= {place for first, last in clause.find(phrase, taken) for place in range(first, last)}
    if _is_ratio(clause, reading.named):
        return True
    for place, word in enumerate(clause.words):
        if place in known:
            continue
        is_above = word.text in grid.around or clause.stems[place] in grid.around
        is_negation = word.text in clause.lexicon.negations
        if is_negation or not (word.text in words or is_above):
            return True
    return False


def _told_by_cells(grid: Grid, lists: FigureWords) -> set[str]:
    """Return the words that say no more than the cells do: "a month" of prices a month, "costs" of prices."""
    cells = [cell for row in grid.cells for cell in row if cell.amount]
    rests = {cell.rest for cell in cells}
    words = set(folded_words(rests.pop())) if len(rests) == 1 else set[str]()
    return words | lists.prices if all(cell.unit in CURRENCIES for cell in cells) else words


def _kinds(clause: Clause, names: Named) -> set[int]:
    """Return the places of words for what a named row is, right beside its name: "the Basic plan"."""
    beside = {place for row in names.rows for place in (row.first - 1, row.last)}
    kinds = clause.lists.kinds
    return {place for place in beside if place < len(clause.words) and clause.words[place].text in kinds}


def _is_ratio(clause: Clause, names: Named) -> bool:
    """Say whether something is told for each of what a column holds: "revenue per employee"."""
    per = clause.lists.per
    return any(mention.first and clause.words[mention.first - 1].text in per for mention in names.columns)
