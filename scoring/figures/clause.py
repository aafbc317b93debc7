"""A clause of an answer: its words, the amounts and times among them, and which word was accounted for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from scoring.figures.reading.amounts import Amount, amounts
from scoring.figures.reading.labels import stem
from scoring.figures.reading.numbers import Number
from scoring.figures.reading.times import Time, times
from scoring.lexicon import FigureWords, Lexicon, PhraseList
from scoring.text.prepared import Word, words_of

# No clause that people write has more.
_MOST_CHARACTERS, _MOST_WORDS = 1_000, 120
#: Stands for a word that is accounted for; no phrase holds it.
TAKEN = "_"


@dataclass(frozen=True, slots=True)
class Figure:
    """An amount of a clause, and the words that it is written with, from ``first`` up to ``last``.

    ``in_words``: it is a number word ("three").
    """

    amount: Amount
    first: int
    last: int
    in_words: bool = False


@dataclass(frozen=True, slots=True)
class When:
    """A time of a clause, and the words that it is written with."""

    time: Time
    first: int
    last: int


@dataclass(frozen=True)
class Clause:
    """A clause with what stands in it, in order; ``figures`` are those in digits."""

    text: str
    lexicon: Lexicon
    words: tuple[Word, ...]
    figures: tuple[Figure, ...]
    number_words: tuple[Figure, ...]
    times: tuple[When, ...]

    @classmethod
    def of(cls, text: str, lexicon: Lexicon) -> Clause | None:
        """Read a clause in a language whose lexicon has figures; None where it is too long to be one."""
        if len(text) > _MOST_CHARACTERS or len(words := words_of(text)) > _MOST_WORDS:
            return None
        starts, ends = [word.start for word in words], [word.end for word in words]
        told = tuple(
            When(time, bisect_left(ends, start + 1), bisect_left(starts, end))
            for time, start, end in times(text, lexicon)
        )
        in_times = {place for when in told for place in range(when.first, when.last)}
        found = (
            Figure(amount, bisect_left(ends, amount.start + 1), bisect_left(starts, amount.end))
            for amount in amounts(text, lexicon.figure_words)
        )
        figures = tuple(figure for figure in found if in_times.isdisjoint(range(figure.first, figure.last)))
        return cls(text, lexicon, words, figures, tuple(_number_words(words, lexicon)), told)

    @property
    def lists(self) -> FigureWords:
        """The words for figures of its language."""
        return self.lexicon.figure_words

    @property
    def numbers(self) -> tuple[Figure, ...]:
        """Its figures, those in digits first."""
        return (*self.figures, *self.number_words)

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """What its words are compared by."""
        return tuple(stem(word.text, self.lexicon) for word in self.words)

    @cached_property
    def content(self) -> tuple[int, ...]:
        """The places of the words that carry content, and are not part of a time."""
        in_times = {place for when in self.times for place in range(when.first, when.last)}
        return tuple(
            place
            for place, word in enumerate(self.words)
            if word.text not in self.lexicon.function_words and place not in in_times
        )

    def denies(self, place: int) -> bool:
        """Say whether a word turns what is said into its opposite; "no," before all of it only answers."""
        word = self.words[place]
        if not place and self.text.startswith(",", word.end):
            return False
        return word.text in self.lexicon.negations | self.lists.no or word.text.endswith("n't")

    @cached_property
    def denials(self) -> int:
        """1 where it denies, 0 where it does not: "not closed" is open; 2 where that is not clear."""
        said = [word.text for n, word in enumerate(self.words) if self.denies(n)]
        closed = sum(word in self.lists.no and word not in self.lexicon.negations for word in said)
        return len(said) % 2 if closed <= 1 and len(said) - closed <= 1 else 2

    @cached_property
    def is_conditional(self) -> bool:
        """Whether it speaks of some cases, or of others than it names: "if", "only", "without"."""
        return not self.lists.conditions.isdisjoint(word.text for word in self.words)

    def unit(self, figure: Figure) -> str | None:
        """Return the unit of a figure; that of a number word is the word after it: "four hours"."""
        if not figure.in_words or figure.last == len(self.words):
            return figure.amount.unit
        return self.lists.unit_of.get(self.words[figure.last].text)

    def masked(self, taken: Iterable[int]) -> list[str]:
        """Return its words, with those that are accounted for made unrecognisable."""
        texts = [word.text for word in self.words]
        for place in taken:
            texts[place] = TAKEN
        return texts

    def find(self, phrases: PhraseList, taken: Iterable[int]) -> list[tuple[int, int]]:
        """Return where phrases stand among the words that are not accounted for yet."""
        return list(phrases.find(self.masked(taken)))


def places(spans: Sequence[tuple[int, int]]) -> set[int]:
    """Return the places that spans of words hold."""
    return {place for first, last in spans for place in range(first, last)}


def _number_words(words: Sequence[Word], lexicon: Lexicon) -> Iterable[Figure]:
    for place, word in enumerate(words):
        if word.text in lexicon.claims.numbers:
            value = Decimal(lexicon.claims.numbers[word.text])
            amount = Amount(Number(value, value), None, word.start, word.end)
            yield Figure(amount, place, place + 1, in_words=True)
