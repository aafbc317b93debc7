"""How many things a clause says that there are, or that something may, against what the documents list."""

from dataclasses import dataclass, replace
from decimal import Decimal

from scoring.figures.clause import (
    Bound,
    ClaimedOperation,
    Clause,
    Closeness,
    Figure,
    FigureBounds,
    claimed_operation,
    closeness,
    figure_bounds,
    is_share,
)
from scoring.figures.figure_claims import FigureOutcome, Obstacle, Operation
from scoring.figures.grid_checking import format_value
from scoring.figures.grids import Listing
from scoring.figures.quantities import PERCENT

_HUNDRED = Decimal(100)
_LIMITS = frozenset({Bound.AT_MOST, Bound.AT_LEAST})
# "There are 4 plans", "in total there are 4 plans".
_OF_ALL = frozenset({Operation.COUNT, Operation.SUM})


@dataclass(frozen=True, slots=True)
class CountFinding:
    """What a listing says of how many there are: ``figure`` is the one that is claimed.

    ``rows``: the places of the rows that were counted; ``value`` and ``formula``: what is true.
    """

    outcome: FigureOutcome
    figure: Figure
    rows: tuple[int, ...] = ()
    value: Decimal | None = None
    formula: str = ""
    obstacle: Obstacle | None = None


@dataclass(frozen=True, slots=True)
class _ClaimedCount:
    """How many of how many are claimed, and the words that say so; ``whole`` is told only after "of the"."""

    part: Figure
    whole: Figure | None
    word_indices: frozenset[int]


def check_count(clause: Clause, listing: Listing, *, is_whole: bool) -> CountFinding | None:
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
    how = figure_bounds(clause, frozenset())
    if isinstance(how, Obstacle) or (said := _claimed_count(clause, listing, how)) is None:
        return None
    column = _column(clause, listing, said.word_indices | how.word_indices)
    if column is None:
        return CountFinding(FigureOutcome.NOT_CHECKABLE, said.part, obstacle=Obstacle.UNKNOWN_WORDS)
    found = _actual_count(listing, column, said)
    every = Decimal(len(listing.rows))
    is_sure = listing.is_complete and (is_whole or not listing.may_be_truncated)
    close = min(_figure_closeness(said.part, found.value, how), _figure_closeness(said.whole, every, how))
    if close is Closeness.SAME:
        return found
    if close is Closeness.NEAR or not is_sure:
        obstacle = Obstacle.ROUNDING if close is Closeness.NEAR else Obstacle.ROWS
        return CountFinding(FigureOutcome.NOT_CHECKABLE, said.part, obstacle=obstacle)
    return replace(found, outcome=FigureOutcome.REFUTED)


def _actual_count(listing: Listing, column: int, claimed: _ClaimedCount) -> CountFinding:
    """Return how many rows say yes in a column, or how many there are, as if that were claimed."""
    every = tuple(range(len(listing.rows)))
    rows = every if column < 0 else tuple(row for row in every if listing.yes_cells[row][column])
    value, formula = Decimal(len(rows)), f"{len(rows)} of {len(every)} rows"
    if column < 0:
        formula = f"{len(rows)} rows"
    if claimed.part.quantity.unit == PERCENT:
        value = value / len(every) * _HUNDRED
        formula = f"{len(rows)} / {len(every)} x 100% = {format_value(value)}%"
    # That none says yes is told by all of them.
    return CountFinding(FigureOutcome.CONFIRMED, claimed.part, rows or every, value, formula)


def _claimed_count(clause: Clause, listing: Listing, bounds: FigureBounds) -> _ClaimedCount | None:
    """Return the number of things that a clause claims, right before what they are called."""
    for figure in sorted(clause.numbers, key=lambda each: each.word_start):
        whole, place = None, figure.word_end
        # "Up to 25 plans" is no number of plans that there are.
        if figure.quantity.unit not in {None, PERCENT} or bounds.by_word.get(figure.word_start) in _LIMITS:
            continue
        if place < len(clause.words) and clause.words[place].text in clause.figure_words.of:
            place = _skip_function_words(clause, place)
            found = (
                each for each in clause.numbers if each.word_start == place and each.quantity.unit is None
            )
            whole = next(found, None)
            place = whole.word_end if whole else place
        elif is_share(clause, figure) or figure.quantity.unit == PERCENT:
            continue
        if place < len(clause.words) and clause.stems[place] in listing.row_nouns:
            return _ClaimedCount(figure, whole, frozenset(range(figure.word_start, place + 1)))
    return None


def _skip_function_words(clause: Clause, place: int) -> int:
    """Return the place of the first word after "of the"."""
    small = clause.lexicon.function_words
    while place < len(clause.words) and clause.words[place].text in small:
        place += 1
    return place


def _column(clause: Clause, listing: Listing, taken: frozenset[int]) -> int | None:
    """Return the column of yes and no that is named, -1 where all rows are meant, None where unclear."""
    named = set[int]()
    owners = _owners(listing)
    every = {stem for label in listing.yes_no_columns for stem in label.stems}
    for place, word in enumerate(clause.words):
        if place in taken:
            continue
        if word.text in clause.lexicon.negations:
            return None
        stem = clause.stems[place]
        if stem in owners:
            named.add(owners[stem])
        elif (
            not _is_insignificant(clause, place, taken)
            and stem not in every
            and stem not in listing.possible_row_nouns
        ):
            return None
    if len(named) == 1:
        return named.pop()
    is_counted = (
        isinstance(found := claimed_operation(clause, taken), ClaimedOperation) and found.operation in _OF_ALL
    )
    return -1 if not named and is_counted else None


def _owners(listing: Listing) -> dict[str, int]:
    """Return the column of each stem that one label alone has."""
    found: dict[str, int] = {}
    stems = [set(label.stems) for label in listing.yes_no_columns]
    for column, own in enumerate(stems):
        for stem in own.difference(*(other for place, other in enumerate(stems) if place != column)):
            found[stem] = column
    return found


def _is_insignificant(clause: Clause, place: int, taken: frozenset[int]) -> bool:
    word, lists = clause.words[place].text, clause.figure_words
    if word in lists.fillers or word in clause.lexicon.function_words:
        return True
    phrases = (lists.counts, lists.sums, lists.all_of)
    return any(
        first <= place < last for phrase in phrases for first, last in clause.find_phrases(phrase, taken)
    )


def _figure_closeness(figure: Figure | None, value: Decimal | None, bounds: FigureBounds) -> Closeness:
    """Say how well a figure fits what was counted; one that is not claimed fits."""
    if figure is None or value is None:
        return Closeness.SAME
    bound = bounds.by_word.get(figure.word_start, Bound.EXACT)
    return max(closeness(value, each, bound) for each in figure.quantity.number.values)
