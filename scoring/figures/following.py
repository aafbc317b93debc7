"""The figures of a clause that may follow from what some texts have, though they cannot be computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.figures.clause import Clause, Figure, places
from scoring.figures.reading.amounts import CURRENCIES, PERCENT, SPANS
from scoring.figures.reading.bearing import CLOCK, DATE, Bearing, Beside
from scoring.figures.recognising import Asked, Bound, asked, meant
from scoring.figures.values import Obstacle, Operation

_OF_CLOCK = frozenset({"minute", "hour", "day"})
# The highest of some figures is one of them.
_OF_DATA = frozenset({Operation.HIGHEST, Operation.LOWEST})
# What is counted stands so close after its number: "4 new plans", "60% of all the plans".
_NEAR, _NEAR_OF = 2, 4


@dataclass(frozen=True, slots=True)
class _Said:
    """What a clause asks, and the stems of what it speaks of: no units, words of price or of computing."""

    clause: Clause
    found: Asked | Obstacle | None
    stems: frozenset[str]

    @property
    def operation(self) -> Operation | None:
        """What it asks, where that is clear."""
        return self.found.operation if isinstance(self.found, Asked) else None

    def unit(self, figure: Figure) -> str | None:
        """Return the unit of a figure; that of a number word is the word after it: "four hours"."""
        words = self.clause.words
        if not figure.in_words or figure.last == len(words):
            return figure.amount.unit
        return self.clause.lists.unit_of.get(words[figure.last].text)

    def after(self, place: int, count: int) -> frozenset[str]:
        """Return the stems of so many words from a place on."""
        return frozenset(self.clause.stems[place : place + count])

    def is_beside(self, beside: Beside | None) -> bool:
        """Say whether what it speaks of stands beside amounts."""
        return beside is not None and not self.stems.isdisjoint(beside.near | beside.above)


def open_figures(clause: Clause, bearings: Sequence[Bearing]) -> tuple[Figure, ...]:
    """Return the figures of a clause that may follow from what some texts have.

    1. A number of things that are listed: "4 plans", "60% of the plans"; "there are 4 ways to pay" where a
       list is led in by "You can pay with:".
    2. A sum, an average, a difference, growth, or what is not computed, in a unit that a text has several
       amounts of beside a word of the clause; a share of such amounts.
    3. A length of time beside dates or times of day that stand beside a word of the clause.
    4. What several pieces cost that are sold by the piece, or a year that is paid by the month.

    A figure that a clause only names ("it costs € 79") follows from nothing, and what a text says itself
    need not follow.
    """
    if not clause.figures and not clause.number_words:
        return ()
    how = meant(clause, frozenset())
    if isinstance(how, Obstacle):
        return ()
    said = _said(clause, how.taken)
    # "Up to 25 plans" is no number of plans that there are.
    limits = {first for first, bound in how.bounds.items() if bound in {Bound.AT_MOST, Bound.AT_LEAST}}
    return tuple(
        figure
        for figure in (*clause.figures, *clause.number_words)
        if figure.first not in limits
        and not _is_told(figure, said, bearings)
        and any(_may_follow(figure, said, each) for each in bearings)
    )


def is_part_of_listed(clause: Clause, bearings: Sequence[Bearing]) -> bool:
    """Say whether a clause claims a part in words of what is listed: "a third of the plans"."""
    if not any(by.listed for by in bearings):
        return False
    lists, words = clause.lists, clause.words
    parts = (last for each in (lists.unsupported, lists.unclear) for _, last in clause.find(each, ()))
    return any(
        not by.listed.isdisjoint(clause.stems[last : last + _NEAR_OF])
        for last in parts
        if last < len(words) and not lists.of.isdisjoint({words[last - 1].text, words[last].text})
        for by in bearings
    )


def _said(clause: Clause, taken: frozenset[int]) -> _Said:
    lists = clause.lists
    # "The second reminder costs € 25" only names it.
    found = asked(clause, taken | places(clause.find(lists.unclear, taken)))
    if isinstance(found, Asked):
        taken |= found.taken
    stems = frozenset(
        clause.stems[place]
        for place in clause.content
        if place not in taken and not _is_of_any(clause.words[place].text, clause)
    )
    return _Said(clause, found, stems)


def _is_of_any(word: str, clause: Clause) -> bool:
    """Say whether a word may stand beside any amount: a unit, "costs", "pay"."""
    lists = clause.lists
    return any(word in words for words in (lists.unit_of, lists.prices, lists.fillers))


def _may_follow(figure: Figure, said: _Said, by: Bearing) -> bool:
    unit = said.unit(figure)
    if _is_of_time(unit, said, by) or _is_counted(figure, said, by):
        return True
    if said.found is None or said.operation is Operation.COUNT:
        return _is_multiple(figure, said, by)
    if said.operation in _OF_DATA:
        return False
    beside = by.beside.values() if unit == PERCENT else [by.beside.get(unit)]
    return any(map(said.is_beside, beside))


def _is_told(figure: Figure, said: _Said, bearings: Sequence[Bearing]) -> bool:
    """Say whether a text has a figure with a word that follows it, or with its unit.

    What a median is, or the double, is told by no text that has its figure.
    """
    if isinstance(said.found, Obstacle):
        return False
    unit = said.unit(figure)
    beside = said.after(figure.last, _NEAR) | ({unit} if unit else set())
    values = {f"{value:f}" for value in figure.amount.number.values}
    return any((value, each) in by.told for by in bearings for value in values for each in beside)


def _is_counted(figure: Figure, said: _Said, by: Bearing) -> bool:
    """Say whether a figure may be a number of things that are listed, or a share of them."""
    unit = said.unit(figure)
    if unit not in {None, PERCENT}:
        return False
    if not by.listed.isdisjoint(said.after(figure.last, _NEAR_OF if unit == PERCENT else _NEAR)):
        return True
    # Small words too lead in a list: "you can pay with".
    content = {said.clause.stems[place] for place in said.clause.content}
    return unit is None and said.operation is Operation.COUNT and not by.leads.isdisjoint(content)


def _is_of_time(unit: str | None, said: _Said, by: Bearing) -> bool:
    """Say whether a length of time may be that between dates or times of day."""
    dates = by.beside.get(DATE)
    if unit in SPANS and dates and not said.stems.isdisjoint(dates.near):
        return True
    return unit in _OF_CLOCK and said.is_beside(by.beside.get(CLOCK))


def _is_multiple(figure: Figure, said: _Said, by: Bearing) -> bool:
    """Say whether a price may be that of several pieces, or for a longer time than the text tells."""
    unit, clause = said.unit(figure), said.clause
    beside = by.beside.get(unit)
    if unit not in CURRENCIES or beside is None or said.stems.isdisjoint(beside.near):
        return False
    spans = SPANS.intersection(clause.lists.unit_of.get(word.text) for word in clause.words)
    if beside.spans and spans - beside.spans:
        return True
    others = (each for each in (*clause.number_words, *clause.figures) if each is not figure)
    return any(_is_piece(each, said, beside) for each in others)


def _is_piece(figure: Figure, said: _Said, beside: Beside) -> bool:
    """Say whether a figure is a number of what something costs each of: "two tickets", "three days"."""
    unit = said.unit(figure)
    if unit is not None:
        return unit in beside.spans
    return not said.stems.isdisjoint(beside.near & said.after(figure.last, _NEAR))
