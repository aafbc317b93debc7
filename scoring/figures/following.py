"""The figures of a clause that may follow from what some texts have, though they cannot be computed."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.figures.clause import Clause, Figure, places
from scoring.figures.reading.amounts import PERCENT, SPANS
from scoring.figures.reading.bearing import CLOCK, DATE, Bearing
from scoring.figures.recognising import Asked, Bound, asked, meant
from scoring.figures.values import Obstacle, Operation

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
