"""The operation that a clause claims, by the words around its figure and its labels."""

from __future__ import annotations

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
    AT_LEAST = auto()
    BELOW = auto()
    AT_MOST = auto()


@dataclass(frozen=True, slots=True)
class Asked:
    """An operation that a clause claims.

    - ``direction``: 1 for more or rising, -1 for less or falling, 0 where it has none.
    - ``than``: where what it is compared with begins.
    - ``is_joint``: it speaks of what was named before; ``is_price``: of what something costs.
    - ``taken``: the places of the words that say so.
    """

    operation: Operation
    taken: frozenset[int]
    direction: int = 0
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
        (lists.about, Bound.ABOUT),
        (lists.above, Bound.ABOVE),
        (lists.below, Bound.BELOW),
    )
    firsts = {figure.first for figure in clause.numbers if figure.first not in taken}
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
    kinds = {each.operation for each in found}
    if len(found) > 1 and kinds <= {Operation.SUM, Operation.SHARE}:
        # "In total 40%", "together in total".
        words = frozenset[int]().union(*(each.taken for each in found))
        operation = Operation.SHARE if Operation.SHARE in kinds else Operation.SUM
        return Asked(operation, words, is_joint=any(each.is_joint for each in found))
    if len(found) > 1:
        return Obstacle.OPERATION
    return found[0] if found else None


def _found(clause: Clause, taken: frozenset[int]) -> list[Asked]:
    lists, found, used = clause.lists, list[Asked](), set(taken)
    kinds = (
        (Operation.GROWTH, 1, lists.rises),
        (Operation.GROWTH, -1, lists.falls),
        (Operation.HIGHEST, 0, lists.highest),
        (Operation.LOWEST, 0, lists.lowest),
        (Operation.DIFFERENCE, 1, lists.more),
        (Operation.DIFFERENCE, -1, lists.less),
        (Operation.SUM, 0, lists.joint),
        (Operation.SUM, 0, lists.sums),
        (Operation.AVERAGE, 0, lists.averages),
        (Operation.DIFFERENCE, 0, lists.differences),
        (Operation.COUNT, 0, lists.counts),
        (Operation.SHARE, 0, lists.shares),
    )
    for operation, direction, phrases in kinds:
        spans = clause.find(phrases, used)
        parts = (each for each in clause.figures if is_share(clause, each) and each.first not in used)
        if not spans and not (operation is Operation.SHARE and any(parts)):
            continue
        words, than = places(spans), None
        if direction and operation is Operation.DIFFERENCE:
            after = range(spans[0][1], len(clause.words))
            than = next((n for n in after if clause.words[n].text in lists.than), None)
            found.extend(Asked(operation, frozenset()) for _ in spans[1:])
        used |= words
        is_price = any(clause.words[place].text in lists.costly for place in words)
        taken = frozenset(words if than is None else {*words, than})
        found.append(Asked(operation, taken, direction, than, phrases is lists.joint, is_price))
    return found


def is_share(clause: Clause, figure: Figure) -> bool:
    """Say whether a figure is so many percent of something."""
    if figure.amount.unit != PERCENT:
        return False
    # "40%" is one word, "40 percent" are two.
    after = clause.words[figure.last : figure.last + 1]
    return any(word.text in clause.lists.of for word in after)
