"""Lists of phrases, and finding them among the words of a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

CLAUSE_START = "^"
# Words as a text is split into them, so that no phrase is listed that can never match.
_WORD = r"(?:[^\W_]+(?:'[^\W_]+)*\*?|\*)"
_SHAPE = re.compile(rf"\^?{_WORD}(?: {_WORD})*")


class PhraseList:
    """Phrases of one or more words, matched against the folded words of a text.

    ``word*`` stands for any ending of that word, ``*`` for any word, a leading ``^`` for "at the
    start of a clause".
    """

    def __init__(self, phrases: Sequence[str]) -> None:
        """Compile ``phrases``; raises ValueError that names one that is not well formed."""
        for phrase in phrases:
            if phrase != phrase.casefold() or not _SHAPE.fullmatch(phrase):
                raise ValueError(f"{phrase!r} is not lowercase words with single spaces")
        self.phrases = tuple(phrases)
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


def _pattern(phrase: str) -> str:
    # In the joined text a word is " word", and " ^word" where it begins a clause.
    start = r" \^" if phrase.startswith(CLAUSE_START) else r" \^?"
    words = phrase.removeprefix(CLAUSE_START).split(" ")
    return start + r" \^?".join(map(_word_pattern, words)) + "(?= )"


def _word_pattern(word: str) -> str:
    return re.escape(word.rstrip("*")) + ("[^ ]*" if word.endswith("*") else "")


def _joined(words: Sequence[str], clause_starts: Collection[int]) -> tuple[str, list[int]]:
    pieces, offsets, length = [], [], 0
    for index, word in enumerate(words):
        piece = f" ^{word}" if index in clause_starts else f" {word}"
        pieces.append(piece)
        offsets.append(length + 1)
        length += len(piece)
    return "".join([*pieces, " "]), offsets
