"""The words by which a clause says that a figure follows from others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from scoring.lexicon.phrases import PhraseList


@dataclass(frozen=True, eq=False)
class FigureWords:
    """The content of a lexicon's table ``[figures]``.

    How numbers are written:

    - ``decimal_sign``: what usually stands before a fraction; ``day_first``: 03-04-2024 is surely in April.
    - ``months``: the names of each month.
    - ``units``: words by the unit that they mean; ``scales``: words by their power of ten.

    What is computed:

    - ``sums``, ``averages``, ``differences``, ``shares``, ``highest``, ``lowest``, ``counts``:
      each names that operation; ``joint``: a sum of what was named just before ("together").
    - ``more``, ``less``: a difference with a direction; ``costly``: those of them and of ``highest`` and
      ``lowest`` that speak of a price ("cheaper").
    - ``rises``, ``falls``: growth; ``every``: of each row ("every month").
    - ``unsupported``: what is not computed ("median"); ``unclear``: what may mean that or not ("second").
    - ``about``, ``above``, ``at_least``, ``below``, ``at_most``: how a figure right after
      them is meant.

    Which rows are meant:

    - ``all_of``: every row; ``both``: two.
    - ``through``: from one to another, which counts too; ``until``: the same where that is unclear.
    - ``between``: stands before two of them; ``of``: before the whole of a share; ``than``: before
      what is compared with.
    - ``after``, ``before``: stand before a date that another is compared with; ``elapsed``: time goes by.

    What else may be said:

    - ``totals``: what a row or column of totals is called; ``per``: before what a unit is for each of.
    - ``prices``: words that say of an amount of money only that something costs it.
    - ``kinds``: what things with a name are, beside that name ("plan").
    - ``examples``: a list is not complete.
    - ``yes``, ``no``: what a cell says of a thing and what it may, and words that say no more of it than that
      it is there, or is not.
    - ``conditions``: words that tell of which cases something is said; ``pointing``: words for what was said
      before.
    - ``same``: groups of words for one thing ("price", "costs").
    - ``fillers``: words that change nothing in what a figure says.
    """

    decimal_sign: str
    day_first: bool
    sums: PhraseList
    joint: PhraseList
    averages: PhraseList
    differences: PhraseList
    more: PhraseList
    less: PhraseList
    shares: PhraseList
    rises: PhraseList
    falls: PhraseList
    every: PhraseList
    highest: PhraseList
    lowest: PhraseList
    counts: PhraseList
    unsupported: PhraseList
    unclear: PhraseList
    about: PhraseList
    above: PhraseList
    at_least: PhraseList
    below: PhraseList
    at_most: PhraseList
    all_of: PhraseList
    through: PhraseList
    until: PhraseList
    between: PhraseList
    examples: PhraseList
    both: frozenset[str]
    costly: frozenset[str]
    after: frozenset[str]
    before: frozenset[str]
    elapsed: frozenset[str]
    of: frozenset[str]
    than: frozenset[str]
    kinds: frozenset[str]
    totals: frozenset[str]
    per: frozenset[str]
    prices: frozenset[str]
    conditions: frozenset[str]
    pointing: frozenset[str]
    yes: frozenset[str]
    no: frozenset[str]
    fillers: frozenset[str]
    months: tuple[tuple[str, ...], ...]
    same: tuple[tuple[str, ...], ...]
    units: Mapping[str, tuple[str, ...]]
    scales: Mapping[str, tuple[str, ...]]

    @cached_property
    def unit_of(self) -> Mapping[str, str]:
        """The unit that each word means."""
        return {word: unit for unit, words in self.units.items() for word in words}

    @cached_property
    def power_of(self) -> Mapping[str, int]:
        """The power of ten that each word stands for."""
        return {word: int(power) for power, words in self.scales.items() for word in words}

    @cached_property
    def month_of(self) -> Mapping[str, int]:
        """The number of the month that each word names, from 1."""
        return {word: number for number, words in enumerate(self.months, 1) for word in words}

    @cached_property
    def same_as(self) -> Mapping[str, str]:
        """The first word of its group for each word that has another one for the same thing."""
        return {word: group[0] for group in self.same for word in group}
