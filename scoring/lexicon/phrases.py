"""Lists of phrases, and finding them among the words of a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

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

    def opens(self, words: Sequence[str]) -> bool:
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
