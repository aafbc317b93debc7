"""A clause of an answer: its amounts and times, the operation that it claims, and how precise it is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, IntEnum, auto
from functools import cached_property

from scoring.figures.calendar_periods import CalendarPeriod, calendar_periods
from scoring.figures.figure_claims import Obstacle, Operation
from scoring.figures.quantities import PERCENT, Number, Quantity, find_quantities
from scoring.figures.table_cells import figure_stem
from scoring.lexicon import FigureWords, Lexicon, PhraseList
from scoring.text.prepared_text import Word, split_words

# No clause that people write has more.
_MOST_CHARACTERS, _MOST_WORDS = 1_000, 120
#: Stands for a word that is accounted for; no phrase holds it.
MASK = "_"


@dataclass(frozen=True, slots=True)
class Figure:
    """An amount of a clause, and the words that it is written with, from ``first`` up to ``last``.

    ``in_words``: it is a number word ("three").
    """

    quantity: Quantity
    word_start: int
    word_end: int
    in_words: bool = False


@dataclass(frozen=True, slots=True)
class ClausePeriod:
    """A time of a clause, and the words that it is written with."""

    period: CalendarPeriod
    word_start: int
    word_end: int


@dataclass(frozen=True)
class Clause:
    """A clause with what stands in it, in order; ``figures`` are those in digits."""

    text: str
    lexicon: Lexicon
    words: tuple[Word, ...]
    figures: tuple[Figure, ...]
    number_words: tuple[Figure, ...]
    periods: tuple[ClausePeriod, ...]

    @classmethod
    def of(cls, text: str, lexicon: Lexicon) -> Clause | None:
        """Read a clause in a language whose lexicon has figures; None where it is too long to be one."""
        if len(text) > _MOST_CHARACTERS or len(words := split_words(text)) > _MOST_WORDS:
            return None
        starts, ends = [word.start for word in words], [word.end for word in words]
        told = tuple(
            ClausePeriod(time, bisect_left(ends, start + 1), bisect_left(starts, end))
            for time, start, end in calendar_periods(text, lexicon)
        )
        in_times = {place for when in told for place in range(when.word_start, when.word_end)}
        found = (
            Figure(amount, bisect_left(ends, amount.start + 1), bisect_left(starts, amount.end))
            for amount in find_quantities(text, lexicon.figure_words)
        )
        figures = tuple(
            figure for figure in found if in_times.isdisjoint(range(figure.word_start, figure.word_end))
        )
        return cls(text, lexicon, words, figures, tuple(_number_words(words, lexicon)), told)

    @property
    def figure_words(self) -> FigureWords:
        """The words for figures of its language."""
        return self.lexicon.figure_words

    @property
    def numbers(self) -> tuple[Figure, ...]:
        """Its figures, those in digits first."""
        return (*self.figures, *self.number_words)

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """What its words are compared by."""
        return tuple(figure_stem(word.text, self.lexicon) for word in self.words)

    @cached_property
    def content_indices(self) -> tuple[int, ...]:
        """The places of the words that carry content, and are not part of a time."""
        in_times = {place for when in self.periods for place in range(when.word_start, when.word_end)}
        return tuple(
            place
            for place, word in enumerate(self.words)
            if word.text not in self.lexicon.function_words and place not in in_times
        )

    def is_negation(self, index: int) -> bool:
        """Say whether a word turns what is said into its opposite; "no," before all of it only answers."""
        word = self.words[index]
        if not index and self.text.startswith(",", word.end):
            return False
        return word.text in self.lexicon.negations | self.figure_words.no or word.text.endswith("n't")

    @cached_property
    def negation_parity(self) -> int:
        """1 where it denies, 0 where it does not: "not closed" is open; 2 where that is not clear."""
        said = [word.text for n, word in enumerate(self.words) if self.is_negation(n)]
        closed = sum(word in self.figure_words.no and word not in self.lexicon.negations for word in said)
        return len(said) % 2 if closed <= 1 and len(said) - closed <= 1 else 2

    @cached_property
    def is_conditional(self) -> bool:
        """Whether it speaks of some cases, or of others than it names: "if", "only", "without"."""
        return not self.figure_words.conditions.isdisjoint(word.text for word in self.words)

    def figure_unit(self, figure: Figure) -> str | None:
        """Return the unit of a figure; that of a number word is the word after it: "four hours"."""
        if not figure.in_words or figure.word_end == len(self.words):
            return figure.quantity.unit
        return self.figure_words.unit_of.get(self.words[figure.word_end].text)

    def masked_words(self, taken: Iterable[int]) -> list[str]:
        """Return its words, with those that are accounted for made unrecognisable."""
        texts = [word.text for word in self.words]
        for place in taken:
            texts[place] = MASK
        return texts

    def find_phrases(self, phrases: PhraseList, taken: Iterable[int]) -> list[tuple[int, int]]:
        """Return where phrases stand among the words that are not accounted for yet."""
        return list(phrases.find(self.masked_words(taken)))


def word_indices(spans: Sequence[tuple[int, int]]) -> set[int]:
    """Return the places that spans of words hold."""
    return {place for first, last in spans for place in range(first, last)}


def _number_words(words: Sequence[Word], lexicon: Lexicon) -> Iterable[Figure]:
    for place, word in enumerate(words):
        if word.text in lexicon.claims.numbers:
            value = Decimal(lexicon.claims.numbers[word.text])
            amount = Quantity(Number(value, value), None, word.start, word.end)
            yield Figure(amount, place, place + 1, in_words=True)


class Bound(Enum):
    """How a figure is meant."""

    EXACT = auto()
    ABOUT = auto()
    ABOVE = auto()
    AT_LEAST = auto()
    BELOW = auto()
    AT_MOST = auto()


@dataclass(frozen=True, slots=True)
class ClaimedOperation:
    """An operation that a clause claims.

    - ``direction``: 1 for more or rising, -1 for less or falling, 0 where it has none.
    - ``than``: where what it is compared with begins.
    - ``is_joint``: it speaks of what was named before; ``is_price``: of what something costs.
    - ``taken``: the places of the words that say so.
    """

    operation: Operation
    word_indices: frozenset[int]
    direction: int = 0
    than_index: int | None = None
    is_joint: bool = False
    is_price: bool = False


@dataclass(frozen=True, slots=True)
class FigureBounds:
    """How each figure is meant, by the place of its first word, and the words that say so."""

    by_word: dict[int, Bound]
    word_indices: frozenset[int]


def figure_bounds(clause: Clause, taken: frozenset[int]) -> FigureBounds | Obstacle:
    """Return how the figures are meant: "about", "more than" right before one."""
    lists = clause.figure_words
    kinds = (
        (lists.at_most, Bound.AT_MOST),
        (lists.at_least, Bound.AT_LEAST),
        (lists.about, Bound.ABOUT),
        (lists.above, Bound.ABOVE),
        (lists.below, Bound.BELOW),
    )
    firsts = {figure.word_start for figure in clause.numbers if figure.word_start not in taken}
    bounds: dict[int, Bound] = {}
    used: set[int] = set()
    for phrases, bound in kinds:
        for first, last in clause.find_phrases(phrases, taken | used):
            if last in firsts:
                bounds.setdefault(last, bound)
                used.update(range(first, last))
            elif bound in {Bound.AT_MOST, Bound.AT_LEAST}:
                return Obstacle.OPERATION
    return FigureBounds(bounds, frozenset(used))


def claimed_operation(clause: Clause, taken: frozenset[int]) -> ClaimedOperation | Obstacle | None:
    """Return the operation that the words which are not ``taken`` claim; None where they claim none.

    An obstacle where they claim one that is not computed, or several at once.
    """
    found = _operations(clause, taken)
    if clause.find_phrases(clause.figure_words.unsupported, taken) or clause.find_phrases(
        clause.figure_words.unclear, taken
    ):
        return Obstacle.OPERATION
    if len(found) > 1:
        found = [each for each in found if each.operation is not Operation.COUNT]
    kinds = {each.operation for each in found}
    if len(found) > 1 and kinds <= {Operation.SUM, Operation.SHARE}:
        # "In total 40%", "together in total".
        words = frozenset[int]().union(*(each.word_indices for each in found))
        operation = Operation.SHARE if Operation.SHARE in kinds else Operation.SUM
        return ClaimedOperation(operation, words, is_joint=any(each.is_joint for each in found))
    if len(found) > 1:
        return Obstacle.OPERATION
    return found[0] if found else None


def _operations(clause: Clause, taken: frozenset[int]) -> list[ClaimedOperation]:
    lists, found, used = clause.figure_words, list[ClaimedOperation](), set(taken)
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
        spans = clause.find_phrases(phrases, used)
        parts = (each for each in clause.figures if is_share(clause, each) and each.word_start not in used)
        if not spans and not (operation is Operation.SHARE and any(parts)):
            continue
        words, than = word_indices(spans), None
        if direction and operation is Operation.DIFFERENCE:
            after = range(spans[0][1], len(clause.words))
            than = next((n for n in after if clause.words[n].text in lists.than), None)
            found.extend(ClaimedOperation(operation, frozenset()) for _ in spans[1:])
        used |= words
        is_price = any(clause.words[place].text in lists.costly for place in words)
        taken = frozenset(words if than is None else {*words, than})
        found.append(ClaimedOperation(operation, taken, direction, than, phrases is lists.joint, is_price))
    return found


def is_share(clause: Clause, figure: Figure) -> bool:
    """Say whether a figure is so many percent of something."""
    if figure.quantity.unit != PERCENT:
        return False
    # "40%" is one word, "40 percent" are two.
    after = clause.words[figure.word_end : figure.word_end + 1]
    return any(word.text in clause.figure_words.of for word in after)


_HALF = Decimal("0.5")
# What "about" takes in, and how far off it may still be meant.
_ABOUT, _HARDLY = Decimal("0.05"), Decimal("0.15")
# 1,200 may stand for 1,234; 50 does not stand for 48.
_LEAST_DIGITS = 3


class Closeness(IntEnum):
    """How far a claimed figure is from the computed one."""

    OFF = 0
    #: It may have been cut off, or rounded to more zeros than it needs.
    NEAR = 1
    SAME = 2


def closeness(value: Decimal, claimed: Decimal, bound: Bound) -> Closeness:
    """Say how well a claimed figure fits a computed one, as it is meant.

    >>> closeness(Decimal("33.333"), Decimal("33.3"), Bound.EXACT).name
    'SAME'
    >>> closeness(Decimal("33.39"), Decimal("33.3"), Bound.EXACT).name
    'NEAR'
    >>> closeness(Decimal("46"), Decimal("45"), Bound.EXACT).name
    'OFF'
    """
    step = Decimal(1).scaleb(_exponent(claimed))
    if bound is Bound.EXACT:
        return _exact_closeness(abs(value - claimed), step, claimed)
    if bound is Bound.ABOUT:
        return _approximate_closeness(abs(value - claimed), step, max(abs(value), abs(claimed)))
    over = claimed - value if bound in {Bound.BELOW, Bound.AT_MOST} else value - claimed
    is_open = bound not in {Bound.AT_LEAST, Bound.AT_MOST}
    if over > 0 or (over == 0 and not is_open):
        return Closeness.SAME
    return Closeness.NEAR if -over <= step * _HALF else Closeness.OFF


def _exact_closeness(off: Decimal, step: Decimal, claimed: Decimal) -> Closeness:
    if off <= step * _HALF:
        return Closeness.SAME
    return Closeness.NEAR if off < step or off <= _rounding_step(claimed) * _HALF else Closeness.OFF


def _approximate_closeness(off: Decimal, step: Decimal, size: Decimal) -> Closeness:
    if off <= max(step * _HALF, size * _ABOUT):
        return Closeness.SAME
    return Closeness.NEAR if off <= max(step, size * _HARDLY) else Closeness.OFF


def _rounding_step(claimed: Decimal) -> Decimal:
    """Return the step of a whole number that may be rounded to its last zeros; 0 where it is not."""
    digits = format(claimed.copy_abs(), "f")
    if "." in digits or len(digits) < _LEAST_DIGITS:
        return Decimal(0)
    zeros = len(digits) - len(digits.rstrip("0"))
    return Decimal(1).scaleb(zeros) if zeros else Decimal(0)


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "no written number is infinite"
    return exponent
