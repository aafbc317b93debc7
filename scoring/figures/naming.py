"""The rows and columns of a grid that a clause names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from scoring.figures.clause import Clause, Figure
from scoring.figures.reading.grids import Grid
from scoring.figures.reading.labels import Label
from scoring.figures.reading.times import Time

_SHORTEST_PART = 2
_SHORTEST_COMPOUND = 3
_FIRST_YEAR, _LAST_YEAR = 1900, 2099


@dataclass(frozen=True, slots=True)
class Mention:
    """Rows or columns that some words name; several where the words name a longer time than each has.

    ``first`` and ``last`` bound the words; ``unit`` is the finest that a time tells.
    ``is_unclear``: several have that very name; ``is_partial``: their name says more.
    """

    places: tuple[int, ...]
    first: int
    last: int
    is_unclear: bool = False
    is_partial: bool = False
    unit: str | None = None

    @property
    def is_one(self) -> bool:
        """Whether it names exactly one."""
        return len(self.places) == 1


@dataclass(frozen=True, slots=True)
class Named:
    """What a clause names of a grid, in order, and the places of the words that do."""

    rows: tuple[Mention, ...] = ()
    columns: tuple[Mention, ...] = ()
    taken: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _Name:
    stems: tuple[str, ...]
    is_row: bool
    place: int


def named(clause: Clause, grid: Grid) -> Named:
    """Return what a clause names in full: by all words of a label, or by its time.

    A time that stands above the grid names nothing of it, and is accounted for.
    """
    found = list(_by_words(clause, grid))
    above: set[int] = set()
    for time, words in _times(clause):
        named_by = list(_by_time(time, words, grid))
        found.extend(named_by)
        if not named_by and all(word.text in grid.around for word in clause.words[slice(*words)]):
            above.update(range(*words))
    names = _merged(found)
    return replace(names, taken=names.taken | above)


def _times(clause: Clause) -> Iterator[tuple[Time, tuple[int, int]]]:
    for when in clause.times:
        yield when.time, (when.first, when.last)
    for figure in clause.figures:
        if year := _year(figure):
            yield Time(year=year), (figure.first, figure.last)


def named_in_part(clause: Clause, grid: Grid, before: Named, taken: frozenset[int]) -> Named:
    """Return what is named, and what else by a word that only one label has."""
    owners: defaultdict[str, set[tuple[bool, int]]] = defaultdict(set)
    for is_row, place, label in _labels(grid):
        for stem in (*label.stems, *label.aside):
            owners[stem].add((is_row, place))
    parts: defaultdict[tuple[bool, int], list[tuple[str, int]]] = defaultdict(list)
    for place in clause.content:
        for stem in _parts(clause.stems[place], grid, owners) if place not in taken else ():
            if len(owners[stem]) == 1:
                [owner] = owners[stem]
                parts[owner].append((stem, place))
    found = [(True, mention) for mention in before.rows] + [(False, mention) for mention in before.columns]
    in_full = {(is_row, mention.places) for is_row, mention in found}
    for (is_row, at), words in parts.items():
        if (is_row, (at,)) not in in_full:
            said = {stem for stem, _ in words}
            label = (grid.rows if is_row else grid.columns)[at]
            rest = (stem for stem in label.stems if stem not in said and len(owners[stem]) == 1)
            is_partial = any(not _goes_without_saying(stem, clause, grid) for stem in rest)
            first = words[0][1]
            found.append((is_row, Mention((at,), first, first + 1, is_partial=is_partial)))
    places = {place for words in parts.values() for _, place in words}
    return replace(_merged(found), taken=before.taken | places)


def _goes_without_saying(stem: str, clause: Clause, grid: Grid) -> bool:
    """Say whether a label may be named without a word of it: "price" for "price per month"."""
    lists = clause.lists
    means = (grid.around, grid.corner, lists.unit_of, lists.power_of, lists.fillers)
    return any(stem in words for words in means)


def _parts(stem: str, grid: Grid, owners: Mapping[str, object]) -> tuple[str, ...]:
    """Return what a word is made of: itself where it is long enough, or the label's word in a compound.

    "stroomverbruik" is "stroom" where "verbruik" stands above the grid.
    """
    if stem in owners:
        return (stem,) if len(stem) >= _SHORTEST_PART else ()
    cuts = range(_SHORTEST_COMPOUND, len(stem) - _SHORTEST_COMPOUND + 1)
    for cut in cuts:
        first, rest = stem[:cut], stem[cut:]
        if first in owners and rest in grid.around:
            return (first,)
        if first in owners and rest in owners:
            return (first, rest)
    return ()


def _merged(found: Iterable[tuple[bool, Mention]]) -> Named:
    """Put mentions in order; of those that name the same, the first stands for all."""
    rows: dict[tuple[int, ...], Mention] = {}
    columns: dict[tuple[int, ...], Mention] = {}
    taken: set[int] = set()
    for is_row, mention in sorted(found, key=lambda each: each[1].first):
        (rows if is_row else columns).setdefault(mention.places, mention)
        taken.update(range(mention.first, mention.last))
    return Named(tuple(rows.values()), tuple(columns.values()), frozenset(taken))


def _labels(grid: Grid) -> Iterator[tuple[bool, int, Label]]:
    """Yield the labels that are named by words, whether each is a row's, and its place."""
    for is_row, labels in ((True, grid.rows), (False, grid.columns)):
        for place, label in enumerate(labels):
            if label.stems and label.time is None:
                yield is_row, place, label


def _by_words(clause: Clause, grid: Grid) -> Iterator[tuple[bool, Mention]]:
    by_first: defaultdict[str, list[_Name]] = defaultdict(list)
    names = (_Name(label.stems, is_row, place) for is_row, place, label in _labels(grid))
    for name in sorted(names, key=lambda name: -len(name.stems)):
        by_first[name.stems[0]].append(name)
    stems = [clause.stems[place] for place in clause.content]
    at = 0
    while at < len(stems):
        fitting = [name for name in by_first[stems[at]] if _stands(name.stems, stems, at)]
        if not fitting:
            at += 1
            continue
        longest = len(fitting[0].stems)
        first, last = clause.content[at], clause.content[at + longest - 1] + 1
        yield from _mentions([name for name in fitting if len(name.stems) == longest], first, last)
        at += longest


def _stands(wanted: Sequence[str], stems: Sequence[str], at: int) -> bool:
    return tuple(stems[at : at + len(wanted)]) == tuple(wanted)


def _mentions(names: Sequence[_Name], first: int, last: int) -> Iterator[tuple[bool, Mention]]:
    for is_row in (True, False):
        if found := tuple(name.place for name in names if name.is_row is is_row):
            yield is_row, Mention(found, first, last, is_unclear=len(found) > 1)


def _year(figure: Figure) -> int | None:
    """Return the year that a bare figure may be."""
    amount = figure.amount
    value = amount.number.values[0]
    is_bare = (
        amount.unit is None and len(amount.number.values) == 1 and amount.end - amount.start == len("2024")
    )
    return int(value) if is_bare and _FIRST_YEAR <= value <= _LAST_YEAR else None


def _by_time(time: Time, words: tuple[int, int], grid: Grid) -> Iterator[tuple[bool, Mention]]:
    for is_row, labels in ((True, grid.rows), (False, grid.columns)):
        fitting = tuple(place for place, label in enumerate(labels) if _fits(time, label, grid))
        if not fitting:
            continue
        is_same = len({labels[place].time for place in fitting}) < len(fitting)
        # March without its year is not the sum of all Marches.
        is_any = time.year is None and len({_year_of(labels[place]) for place in fitting}) > 1
        yield is_row, Mention(fitting, *words, is_unclear=is_same or is_any, unit=time.finest)


def _year_of(label: Label) -> int | None:
    return label.time.year if label.time else None


def _fits(time: Time, label: Label, grid: Grid) -> bool:
    """Say whether a label tells this time or a part of it; its year may stand above the grid."""
    if label.time is None:
        return False
    if time.year is not None and label.time.year is None:
        without = replace(time, year=None)
        return str(time.year) in grid.around and without.covers(label.time) and without != Time()
    return time.covers(label.time)
