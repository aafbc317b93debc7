"""The operation that a clause claims, by the words around its figure and its labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from scoring.figures.clause import Clause, Figure, places
from scoring.figures.reading.amounts import PERCENT
from scoring.figures.values import Obstacle, Operation


class Bound(Enum):
    """How a figure is meant."""

    EXACT = auto()
    ABOUT = auto()
    ABOVE = auto()
    JUST_ABOVE = auto()
    AT_LEAST = auto()
    BELOW = auto()
    AT_MOST = auto()


@dataclass(frozen=True, slots=True)
class Asked:
    """An operation that a clause claims.

    - ``direction``: 1 for more or rising, -1 for less or falling, 0 where it has none.
    - ``at``: where the first word that names it stands, and ``than`` where what it is compared with begins.
    - ``is_joint``: it speaks of what was named before; ``is_price``: of what something costs.
    - ``taken``: the places of the words that say so.
    """

    operation: Operation
    taken: frozenset[int]
    direction: int = 0
    at: int = 0
    than: int | None = None
    is_joint: bool = False
    is_price: bool = False


@dataclass(frozen=True, slots=True)
class Meant:
    """How each figure is meant, by the place of its first word, and the words that say so."""

    bounds: dict[int, Bound]
    taken: frozenset[int]


def meant(clause: Clause, taken: frozenset[int]) -> Meant | Obstacle:
    """Return how the figures are meant: "about", "more than" right before one."""
    lists = clause.lists
    kinds = (
        (lists.at_most, Bound.AT_MOST),
        (lists.at_least, Bound.AT_LEAST),
        (lists.just_above, Bound.JUST_ABOVE),
        (lists.above, Bound.ABOVE),
        (lists.below, Bound.BELOW),
        (lists.about, Bound.ABOUT),
    )
    figures = (*clause.figures, *clause.number_words)
    firsts = {figure.first for figure in figures if figure.first not in taken}
    bounds: dict[int, Bound] = {}
    used: set[int] = set()
    for phrases, bound in kinds:
        for first, last in clause.find(phrases, taken | used):
            if last in firsts:
                bounds.setdefault(last, bound)
                used.update(range(first, last))
            elif bound in {Bound.AT_MOST, Bound.AT_LEAST}:
                return Obstacle.OPERATION
    return Meant(bounds, frozenset(used))


def asked(clause: Clause, taken: frozenset[int]) -> Asked | Obstacle | None:
    """Return the operation that the words which are not ``taken`` claim; None where they claim none.

    An obstacle where they claim one that is not computed, or several at once.
    """
    found = _found(clause, taken)
    if clause.find(clause.lists.unsupported, taken) or clause.find(clause.lists.unclear, taken):
        return Obstacle.OPERATION
    if len(found) > 1:
        found = [each for each in found if each.operation is not Operation.COUNT]
    if {each.operation for each in found} == {Operation.SUM, Operation.SHARE}:
        words = frozenset[int]().union(*(each.taken for each in found))
        share = next(each for each in found if each.operation is Operation.SHARE)
        return Asked(Operation.SHARE, words, at=share.at)
    if len(found) > 1:
        return Obstacle.OPERATION
    return found[0] if found else None


def _found(clause: Clause, taken: frozenset[int]) -> list[Asked]:
    found: list[Asked] = []
    used = set(taken)
    for read in (_growth, _extreme, _compared, _plain):
        for each in read(clause, frozenset(used)):
            found.append(each)
            used |= each.taken
    return found


def _growth(clause: Clause, taken: frozenset[int]) -> Iterable[Asked]:
    lists = clause.lists
    for phrases, direction in ((lists.rises, 1), (lists.falls, -1)):
        if spans := clause.find(phrases, taken):
            yield Asked(Operation.GROWTH, frozenset(places(spans)), direction, spans[0][0])


def _extreme(clause: Clause, taken: frozenset[int]) -> Iterable[Asked]:
    lists = clause.lists
    for phrases, operation in ((lists.highest, Operation.HIGHEST), (lists.lowest, Operation.LOWEST)):
        if spans := clause.find(phrases, taken):
            words = frozenset(places(spans))
            yield Asked(operation, words, at=spans[0][0], is_price=_is_costly(clause, words))


def _compared(clause: Clause, taken: frozenset[int]) -> Iterable[Asked]:
    lists = clause.lists
    for phrases, direction in ((lists.more, 1), (lists.less, -1)):
        for first, last in clause.find(phrases, taken):
            words = frozenset(range(first, last))
            than = _than(clause, last)
            used = words if than is None else words | {than}
            yield Asked(
                Operation.DIFFERENCE, used, direction, first, than, is_price=_is_costly(clause, words)
            )


def _plain(clause: Clause, taken: frozenset[int]) -> Iterable[Asked]:
    lists = clause.lists
    joint, sums = clause.find(lists.joint, taken), clause.find(lists.sums, taken)
    words = frozenset(places([*joint, *sums]))
    if words:
        yield Asked(Operation.SUM, words, at=min(words), is_joint=bool(joint))
    kinds = (
        (lists.averages, Operation.AVERAGE),
        (lists.differences, Operation.DIFFERENCE),
        (lists.counts, Operation.COUNT),
    )
    used = taken | words
    for phrases, operation in kinds:
        spans = clause.find(phrases, used)
        words = frozenset(places(spans))
        used |= words
        if spans:
            yield Asked(operation, words, at=spans[0][0])
    yield from _share(clause, used)


def _share(clause: Clause, taken: frozenset[int]) -> Iterable[Asked]:
    spans = clause.find(clause.lists.shares, taken)
    parts = [figure for figure in clause.figures if is_share(clause, figure) and figure.first not in taken]
    if spans or parts:
        at = parts[0].first if parts else spans[0][0]
        yield Asked(Operation.SHARE, frozenset(places(spans)), at=at)


def is_share(clause: Clause, figure: Figure) -> bool:
    """Say whether a figure is so many percent of something."""
    if figure.amount.unit != PERCENT:
        return False
    # "40%" is one word, "40 percent" are two.
    after = clause.words[figure.last : figure.last + 1]
    return any(word.text in clause.lists.of for word in after)


def _is_costly(clause: Clause, words: Iterable[int]) -> bool:
    return any(clause.words[place].text in clause.lists.costly for place in words)


def _than(clause: Clause, start: int) -> int | None:
    than = clause.lists.than
    return next((n for n in range(start, len(clause.words)) if clause.words[n].text in than), None)
