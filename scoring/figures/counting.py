"""How many things a clause says that there are, or that something may, against what the documents list."""

from dataclasses import dataclass, replace
from decimal import Decimal

from scoring.figures.clause import (
    Asked,
    Bound,
    Clause,
    Closeness,
    Figure,
    Meant,
    asked,
    closeness,
    is_share,
    meant,
)
from scoring.figures.computing import show
from scoring.figures.grids import Listing
from scoring.figures.numbers import PERCENT
from scoring.figures.values import Obstacle, Operation, Outcome

_HUNDRED = Decimal(100)
_LIMITS = frozenset({Bound.AT_MOST, Bound.AT_LEAST})
# "There are 4 plans", "in total there are 4 plans".
_OF_ALL = frozenset({Operation.COUNT, Operation.SUM})


@dataclass(frozen=True, slots=True)
class Count:
    """What a listing says of how many there are: ``figure`` is the one that is claimed.

    ``rows``: the places of the rows that were counted; ``value`` and ``formula``: what is true.
    """

    outcome: Outcome
    figure: Figure
    rows: tuple[int, ...] = ()
    value: Decimal | None = None
    formula: str = ""
    obstacle: Obstacle | None = None


@dataclass(frozen=True, slots=True)
class _Said:
    """How many of how many are claimed, and the words that say so; ``whole`` is told only after "of the"."""

    part: Figure
    whole: Figure | None
    taken: frozenset[int]


def count(clause: Clause, listing: Listing, *, is_whole: bool) -> Count | None:
    """Return what a listing says of how many of its things a clause claims; None where it claims none.

    "There are 4 plans", "3 roles can export", "60% of the roles can export", "three of the five roles can
    export": the rows are counted, or those that say yes in the column that is named. Any other word that may
    change what is claimed makes it not checkable.

    Args:
        clause: What the answer says.
        listing: What a document lists.
        is_whole: Whether all of that document is there, so that none of the rows can have been cut off.
    """
    if not clause.numbers:
        return None
    how = meant(clause, frozenset())
    if isinstance(how, Obstacle) or (said := _said(clause, listing, how)) is None:
        return None
    column = _column(clause, listing, said.taken | how.taken)
    if column is None:
        return Count(Outcome.NOT_CHECKABLE, said.part, obstacle=Obstacle.UNKNOWN_WORDS)
    found = _counted(listing, column, said)
    every = Decimal(len(listing.rows))
    is_sure = listing.is_complete and (is_whole or not listing.may_go_on)
    close = min(_close(said.part, found.value, how), _close(said.whole, every, how))
    if close is Closeness.SAME:
        return found
    if close is Closeness.NEAR or not is_sure:
        obstacle = Obstacle.ROUNDING if close is Closeness.NEAR else Obstacle.ROWS
        return Count(Outcome.NOT_CHECKABLE, said.part, obstacle=obstacle)
    return replace(found, outcome=Outcome.REFUTED)


def _counted(listing: Listing, column: int, said: _Said) -> Count:
    """Return how many rows say yes in a column, or how many there are, as if that were claimed."""
    every = tuple(range(len(listing.rows)))
    rows = every if column < 0 else tuple(row for row in every if listing.says[row][column])
    value, formula = Decimal(len(rows)), f"{len(rows)} of {len(every)} rows"
    if column < 0:
        formula = f"{len(rows)} rows"
    if said.part.amount.unit == PERCENT:
        value = value / len(every) * _HUNDRED
        formula = f"{len(rows)} / {len(every)} x 100% = {show(value)}%"
    # That none says yes is told by all of them.
    return Count(Outcome.CONFIRMED, said.part, rows or every, value, formula)


def _said(clause: Clause, listing: Listing, how: Meant) -> _Said | None:
    """Return the number of things that a clause claims, right before what they are called."""
    for figure in sorted(clause.numbers, key=lambda each: each.first):
        whole, place = None, figure.last
        # "Up to 25 plans" is no number of plans that there are.
        if figure.amount.unit not in {None, PERCENT} or how.bounds.get(figure.first) in _LIMITS:
            continue
        if place < len(clause.words) and clause.words[place].text in clause.lists.of:
            place = _after_small(clause, place)
            found = (each for each in clause.numbers if each.first == place and each.amount.unit is None)
            whole = next(found, None)
            place = whole.last if whole else place
        elif is_share(clause, figure) or figure.amount.unit == PERCENT:
            continue
        if place < len(clause.words) and clause.stems[place] in listing.called:
            return _Said(figure, whole, frozenset(range(figure.first, place + 1)))
    return None


def _after_small(clause: Clause, place: int) -> int:
    """Return the place of the first word after "of the"."""
    small = clause.lexicon.function_words
    while place < len(clause.words) and clause.words[place].text in small:
        place += 1
    return place


def _column(clause: Clause, listing: Listing, taken: frozenset[int]) -> int | None:
    """Return the column of yes and no that is named, -1 where all rows are meant, None where unclear."""
    named = set[int]()
    owners = _owners(listing)
    every = {stem for label in listing.columns for stem in label.stems}
    for place, word in enumerate(clause.words):
        if place in taken:
            continue
        if word.text in clause.lexicon.negations:
            return None
        stem = clause.stems[place]
        if stem in owners:
            named.add(owners[stem])
        elif not _is_small(clause, place, taken) and stem not in every and stem not in listing.named:
            return None
    if len(named) == 1:
        return named.pop()
    is_counted = isinstance(found := asked(clause, taken), Asked) and found.operation in _OF_ALL
    return -1 if not named and is_counted else None


def _owners(listing: Listing) -> dict[str, int]:
    """Return the column of each stem that one label alone has."""
    found: dict[str, int] = {}
    stems = [set(label.stems) for label in listing.columns]
    for column, own in enumerate(stems):
        for stem in own.difference(*(other for place, other in enumerate(stems) if place != column)):
            found[stem] = column
    return found


def _is_small(clause: Clause, place: int, taken: frozenset[int]) -> bool:
    word, lists = clause.words[place].text, clause.lists
    if word in lists.fillers or word in clause.lexicon.function_words:
        return True
    phrases = (lists.counts, lists.sums, lists.all_of)
    return any(first <= place < last for phrase in phrases for first, last in clause.find(phrase, taken))


def _close(figure: Figure | None, value: Decimal | None, how: Meant) -> Closeness:
    """Say how well a figure fits what was counted; one that is not claimed fits."""
    if figure is None or value is None:
        return Closeness.SAME
    bound = how.bounds.get(figure.first, Bound.EXACT)
    return max(closeness(value, each, bound) for each in figure.amount.number.values)
