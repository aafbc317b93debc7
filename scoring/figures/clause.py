"""A clause of an answer: its words, its numbers and times, and how precisely each number is meant."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from scoring.figures.quantities import PERCENT, Bound, Number, Quantity, find_quantities
from scoring.figures.tables import figure_stem
from scoring.figures.times import CalendarPeriod, calendar_periods
from scoring.lexicon import FigureWords, Lexicon, PhraseList
from scoring.text.prepared_text import Word, split_words

# No clause that people write has more.
_MOST_CHARACTERS, _MOST_WORDS = 1_000, 120
# Stands for a word that is accounted for; no phrase holds it.
_MASK = "_"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a clause with its unit, and its words from ``word_start`` up to ``word_end``.

    ``in_words``: it is a number word ("three").
    """

    quantity: Quantity
    word_start: int
    word_end: int
    in_words: bool = False


@dataclass(frozen=True)
class Clause:
    """A clause with its numbers, periods and words, in order; numbers in digits come first."""

    text: str
    lexicon: Lexicon
    words: tuple[Word, ...]
    numbers: tuple[Figure, ...]
    periods: tuple[CalendarPeriod, ...]
    period_words: frozenset[int]

    @classmethod
    def of(cls, text: str, lexicon: Lexicon) -> Clause | None:
        """Read a clause in a language whose lexicon has figures; None where it is too long to be one."""
        if len(text) > _MOST_CHARACTERS or len(words := split_words(text)) > _MOST_WORDS:
            return None
        starts, ends = [word.start for word in words], [word.end for word in words]

        def word_range(start: int, end: int) -> tuple[int, int]:
            return bisect_left(ends, start + 1), bisect_left(starts, end)

        found_periods = list(calendar_periods(text, lexicon))
        in_periods = {n for _, start, end in found_periods for n in range(*word_range(start, end))}
        found = (
            Figure(each, *word_range(each.start, each.end))
            for each in find_quantities(text, lexicon.figure_words)
        )
        figures = (each for each in found if in_periods.isdisjoint(range(each.word_start, each.word_end)))
        number_words = (
            Figure(Quantity(Number(value, value), None, word.start, word.end), n, n + 1, in_words=True)
            for n, word in enumerate(words)
            if word.text in lexicon.claims.numbers
            for value in (Decimal(lexicon.claims.numbers[word.text]),)
        )
        periods = tuple(period for period, _, _ in found_periods)
        return cls(text, lexicon, words, (*figures, *number_words), periods, frozenset(in_periods))

    @property
    def figure_words(self) -> FigureWords:
        """The words for figures of its language."""
        return self.lexicon.figure_words

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """What its words are compared by."""
        return tuple(figure_stem(word.text, self.lexicon) for word in self.words)

    @cached_property
    def content_indices(self) -> tuple[int, ...]:
        """The places of the words that carry content, and are not part of a time."""
        small = self.lexicon.function_words
        return tuple(
            n for n, word in enumerate(self.words) if word.text not in small and n not in self.period_words
        )

    def is_negation(self, index: int) -> bool:
        """Return whether a word negates the clause; a "no," before all of it only answers."""
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
    def conditions(self) -> frozenset[str]:
        """Its words that limit the cases it is about: "if", "only", "without"."""
        return self.figure_words.conditions.intersection(word.text for word in self.words)

    def figure_unit(self, figure: Figure) -> str | None:
        """Return the unit of a figure; that of a number word is the word after it: "four hours"."""
        if not figure.in_words or figure.word_end == len(self.words):
            return figure.quantity.unit
        return self.figure_words.unit_of.get(self.words[figure.word_end].text)

    def is_share(self, figure: Figure) -> bool:
        """Return whether a figure is so many percent of something."""
        # "40%" is one word, "40 percent" are two.
        after = self.words[figure.word_end : figure.word_end + 1]
        return figure.quantity.unit == PERCENT and any(word.text in self.figure_words.of for word in after)

    def find_phrases(self, phrases: PhraseList, taken: Iterable[int] = ()) -> Iterator[tuple[int, int]]:
        """Yield where phrases occur, by their first word and the one after, except for taken words."""
        texts = [word.text for word in self.words]
        for n in taken:
            texts[n] = _MASK
        return phrases.find(texts)

    def phrase_words(self, phrases: PhraseList, taken: Iterable[int] = ()) -> frozenset[int]:
        """Return the places of the words of phrases, except for taken words."""
        return frozenset(n for span in self.find_phrases(phrases, taken) for n in range(*span))

    @cached_property
    def bounds(self) -> FigureBounds | None:
        """How its figures are meant; None where that is not clear: a limit ("at most") is of none of them."""
        lists = self.figure_words
        kinds = (
            (lists.at_most, Bound.AT_MOST),
            (lists.at_least, Bound.AT_LEAST),
            (lists.about, Bound.ABOUT),
            (lists.above, Bound.ABOVE),
            (lists.below, Bound.BELOW),
        )
        firsts = {figure.word_start for figure in self.numbers}
        by_word: dict[int, Bound] = {}
        used: set[int] = set()
        for phrases, bound in kinds:
            for first, last in self.find_phrases(phrases, used):
                if last in firsts:
                    by_word.setdefault(last, bound)
                    used.update(range(first, last))
                elif bound in LIMITS:
                    return None
        return FigureBounds(by_word, frozenset(used))


LIMITS = frozenset({Bound.AT_MOST, Bound.AT_LEAST})


@dataclass(frozen=True, slots=True)
class FigureBounds:
    """How each figure is meant that has a word for it, by its first word, and the words that say so."""

    by_word: dict[int, Bound]
    word_indices: frozenset[int]

    def of(self, figure: Figure) -> Bound:
        """Return how a figure is meant."""
        return self.by_word.get(figure.word_start, Bound.EXACT)
