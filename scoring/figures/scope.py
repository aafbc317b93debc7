"""The rows of a grid that a clause speaks of: those that it names, some in a row, or all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from scoring.figures.clause import Clause, Figure
from scoring.figures.naming import Mention, Named
from scoring.figures.reading.grids import Grid
from scoring.figures.values import Obstacle

_DASHES = frozenset("-–—")
# What is whole: the months and quarters of a year, the months of a quarter.
_WHOLE: Mapping[tuple[str | None, str], int] = {
    ("year", "month"): 12,
    ("year", "quarter"): 4,
    ("quarter", "month"): 3,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Rows in their order, and the words that name them besides labels.

    ``is_all``: it is every row of the grid, because the clause names none.
    """

    rows: tuple[int, ...]
    is_all: bool
    taken: frozenset[int] = frozenset()


def scope(clause: Clause, grid: Grid, named: Named, taken: frozenset[int]) -> Scope | Obstacle:
    """Return the rows that are computed with together."""
    if any(mention.is_unclear for mention in named.rows):
        return Obstacle.ROWS
    if ends := _ends(clause, grid, taken):
        return ends
    if not named.rows:
        return _with_count(Scope(tuple(range(len(grid.rows))), is_all=True), clause, grid, taken)
    if not all(_is_whole(mention, grid) for mention in named.rows):
        return Obstacle.ROWS
    if found := _between(clause, named):
        return found
    rows = sorted({place for mention in named.rows for place in mention.places})
    return _with_count(Scope(tuple(rows), is_all=False), clause, grid, taken)


def in_order(grid: Grid, rows: Sequence[int]) -> bool:
    """Say whether rows have times of one kind, from early to late."""
    told = [grid.rows[row].time for row in rows]
    times = [time for time in told if time is not None]
    same = len(times) == len(told) and len({time.kind for time in times}) == 1
    return same and all(left.order < right.order for left, right in pairwise(times))


def row_words(clause: Clause, grid: Grid) -> frozenset[int]:
    """Return the places of words for what each row is: "month", or what stands above the labels."""
    units = _units(grid)
    return frozenset(
        place
        for place, word in enumerate(clause.words)
        if clause.stems[place] in grid.corner or clause.lists.unit_of.get(word.text, word.text) in units
    )


def _units(grid: Grid) -> frozenset[str]:
    """Return the finest unit of time of the rows, where all tell one."""
    times = [row.time for row in grid.rows]
    if not times or any(time is None for time in times):
        return frozenset()
    kinds = {time.finest for time in times if time is not None}
    return frozenset(kinds) if len(kinds) == 1 else frozenset()


def _is_whole(mention: Mention, grid: Grid) -> bool:
    """Say whether a longer time has all its parts in the grid: three months for a quarter."""
    if mention.is_one:
        return True
    parts = {time.finest for place in mention.places if (time := grid.rows[place].time)}
    return len(parts) == 1 and _WHOLE.get((mention.unit, parts.pop())) == len(mention.places)


def _between(clause: Clause, named: Named) -> Scope | Obstacle | None:
    """Return the rows from one to another: "January to March"."""
    if len(named.rows) != 2:  # noqa: PLR2004 - from one to another
        return None
    first, last = named.rows
    texts = clause.masked(())[first.last : last.first]
    lists = clause.lists
    start, end = clause.words[first.last - 1].end, clause.words[last.first].start
    is_dash = clause.text[start:end].strip() in _DASHES
    if texts and list(lists.until.find(texts)) == [(0, len(texts))] and not lists.through.occurs(texts):
        return Obstacle.ROWS
    if not is_dash and (not texts or list(lists.through.find(texts)) != [(0, len(texts))]):
        return None
    low, high = sorted((first.places[0], last.places[-1]))
    words = frozenset(range(first.last, last.first))
    return Scope(tuple(range(low, high + 1)), is_all=False, taken=words)


def _ends(clause: Clause, grid: Grid, taken: frozenset[int]) -> Scope | Obstacle | None:
    """Return the first or last so many rows, in the order of time."""
    lists = clause.lists
    nouns = row_words(clause, grid)
    for figure in (*clause.number_words, *clause.figures):
        before = clause.words[figure.first - 1].text if figure.first else ""
        is_first = before in lists.first
        if figure.first - 1 in taken or not (is_first or before in lists.last):
            continue
        count = figure.amount.number.values[0]
        if figure.last not in nouns and not _has_unit(figure, grid):
            continue
        if not in_order(grid, range(len(grid.rows))) or not 1 <= count <= len(grid.rows) or count % 1:
            return Obstacle.ROWS
        rows = range(len(grid.rows))[: int(count)] if is_first else range(len(grid.rows))[-int(count) :]
        words = frozenset({*range(figure.first - 1, figure.last), figure.last} & {*range(len(clause.words))})
        return Scope(tuple(rows), is_all=False, taken=words - taken)
    return None


def _has_unit(figure: Figure, grid: Grid) -> bool:
    return figure.amount.unit is not None and figure.amount.unit in _units(grid)


def _with_count(found: Scope, clause: Clause, grid: Grid, taken: frozenset[int]) -> Scope | Obstacle:
    """Return a scope with the number of its rows where the clause tells that: "both", "the three months"."""
    lists, nouns = clause.lists, row_words(clause, grid)
    words: set[int] = set()
    for place, word in enumerate(clause.words):
        if word.text in lists.both and place not in taken:
            if len(found.rows) != 2:  # noqa: PLR2004 - both
                return Obstacle.ROWS
            words.add(place)
    all_of = {last for _, last in clause.find(lists.all_of, taken)}
    for figure in (*clause.number_words, *clause.figures):
        is_counted = figure.last in nouns or _has_unit(figure, grid) or figure.first in all_of
        counts = set(figure.amount.number.values) == {Decimal(len(found.rows))}
        if figure.first not in taken and is_counted and counts:
            words.update(range(figure.first, figure.last))
    return Scope(found.rows, found.is_all, frozenset(words))
