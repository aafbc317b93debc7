"""Phrases, how they are matched against the words of a text, and the words that relate figures."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

TEXT_START = "^^"
CLAUSE_START = "^"
GAP = "..."
# A gap longer than this joins words that have nothing to do with each other, and must be searched.
_LONGEST_GAP = 8
# Words as a text is split into them, so that no phrase is listed that can never match.
_WORD = r"(?:\*?[^\W_]+(?:'[^\W_]+)*\*?|\*)"
_SHAPE = re.compile(rf"\^{{0,2}}{_WORD}(?: {_WORD})*(?: \.\.\.(?: {_WORD})+){{0,2}}(?: \.\.\.)?")
_ANY = "[^ ]*"
# A space follows wherever it is used, so a word that is given up is not looked at from its middle.
_GAP = rf"(?: (?!\^)[^ ]+){{0,{_LONGEST_GAP}}}"


class PhraseList:
    """Phrases of one or more words, matched against the folded words of a text.

    ``word*`` stands for any ending of that word, ``*word`` for any beginning, ``*`` for any word,
    ``...`` (three times at most) for up to eight words of the same clause, a leading ``^`` for "at
    the start of a clause", ``^^`` for "at the start of the text".

    >>> phrases = PhraseList(["^vat ... samen"])
    >>> list(phrases.find("vat deze mail eens samen".split(), {0}))
    [(0, 5)]
    """

    def __init__(self, phrases: Sequence[str]) -> None:
        """Compile ``phrases``; raises ValueError that names one that is not well formed."""
        for phrase in phrases:
            if phrase != phrase.casefold() or not _SHAPE.fullmatch(phrase):
                raise ValueError(f"{phrase!r} is not lowercase words with single spaces")
        # Longest first, so that the longest phrase is the one that is reported.
        ordered = sorted(phrases, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_pattern, ordered)) if phrases else r"(?!)")

    def find(self, words: Sequence[str], clause_starts: Collection[int] = ()) -> Iterator[tuple[int, int]]:
        """Yield (first, after the last) word index of every hit, in order."""
        joined, offsets = _joined(words, clause_starts)
        for match in self._pattern.finditer(joined):
            yield bisect_right(offsets, match.start()), bisect_right(offsets, match.end() - 1)

    def occurs(self, words: Sequence[str], clause_starts: Collection[int] = ()) -> bool:
        """Say whether any phrase occurs."""
        return self._pattern.search(_joined(words, clause_starts)[0]) is not None

    def occurs_at_start(self, words: Sequence[str]) -> bool:
        """Say whether any phrase stands at the beginning of the words, which is that of a clause."""
        return any(first == 0 for first, _ in self.find(words, (0,)))


def _pattern(phrase: str) -> str:
    first, *others = phrase.lstrip("^").removesuffix(f" {GAP}").split(f" {GAP} ")
    # In the joined text a word is " word", and " ^word" where it begins a clause.
    pattern = _start(phrase) + r" \^?".join(map(_word_pattern, first.split(" ")))
    for part in others:
        # As short as may be before a word, as long as may be at the end of a phrase.
        pattern += f"{_GAP}?" + "".join(f" {_word_pattern(word)}" for word in part.split(" "))
    return pattern + (_GAP if phrase.endswith(GAP) else "") + "(?= )"


def _start(phrase: str) -> str:
    if phrase.startswith(TEXT_START):
        return r"\A \^?"
    return r" \^" if phrase.startswith(CLAUSE_START) else r" \^?"


def _word_pattern(word: str) -> str:
    if word == "*":
        return _ANY
    before, after = _ANY * word.startswith("*"), _ANY * word.endswith("*")
    return before + re.escape(word.strip("*")) + after


def _joined(words: Sequence[str], clause_starts: Collection[int]) -> tuple[str, list[int]]:
    pieces, offsets, length = [], [], 0
    for index, word in enumerate(words):
        piece = f" ^{word}" if index in clause_starts else f" {word}"
        pieces.append(piece)
        offsets.append(length + 1)
        length += len(piece)
    return "".join([*pieces, " "]), offsets


@dataclass(frozen=True, eq=False)
class FigureWords:
    """The content of a lexicon's table ``[figures]``.

    How numbers are written:

    - ``decimal_sign``: what usually stands before a fraction; ``day_first``: 03-04-2024 is surely in April.
    - ``months``: the names of each month.
    - ``units``: words by the unit that they mean; ``scales``: words by their power of ten.

    What is claimed of figures:

    - ``computed``: words beside a figure that was computed from others ("in total", "more", "on average");
      ``unclear``: what may mean that or not ("second").
    - ``counts``: words that say how many there are; ``all_of``: that all are meant.
    - ``about``, ``above``, ``at_least``, ``below``, ``at_most``: how a figure right after them is meant.
    - ``of``: stands before the whole of a share.

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
    computed: PhraseList
    counts: PhraseList
    unclear: PhraseList
    about: PhraseList
    above: PhraseList
    at_least: PhraseList
    below: PhraseList
    at_most: PhraseList
    all_of: PhraseList
    examples: PhraseList
    of: frozenset[str]
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
    def canonical_word_of(self) -> Mapping[str, str]:
        """The first word of its group for each word that has another one for the same thing."""
        return {word: group[0] for group in self.same for word in group}
