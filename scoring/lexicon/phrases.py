"""Phrases with wildcards, matched against the words of a text."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

TEXT_START = "^^"
CLAUSE_START = "^"
GAP = "..."
# Words further apart are unrelated; the limit also bounds the search.
_MAX_GAP = 8
# Words as texts are split, so that every listed phrase can match.
_WORD = r"(?:\*?[^\W_]+(?:'[^\W_]+)*\*?|\*)"
_SHAPE = re.compile(rf"\^{{0,2}}{_WORD}(?: {_WORD})*(?: \.\.\.(?: {_WORD})+){{0,2}}(?: \.\.\.)?")
_ANY = "[^ ]*"
# A space follows every use, so backtracking never restarts within a word.
_GAP = rf"(?: (?!\^)[^ ]+){{0,{_MAX_GAP}}}"


class PhraseList:
    """Phrases of one or more words, matched against the folded words of a text.

    ``word*`` matches any ending, ``*word`` any beginning, ``*`` any word, ``...`` (at most three times) up to
    eight words of the same clause, a leading ``^`` the start of a clause, ``^^`` the start of the text.

    >>> phrases = PhraseList(["^vat ... samen"])
    >>> list(phrases.find("vat deze mail eens samen".split(), {0}))
    [(0, 5)]
    """

    def __init__(self, phrases: Sequence[str]) -> None:
        """Compile the phrases; raises ValueError that names a malformed one."""
        for phrase in phrases:
            if phrase != phrase.casefold() or not _SHAPE.fullmatch(phrase):
                raise ValueError(f"{phrase!r} is not lowercase words with single spaces")
        # Longest first, so that the longest match is reported.
        ordered = sorted(phrases, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_pattern, ordered)) if phrases else r"(?!)")

    def find(self, words: Sequence[str], clause_starts: Collection[int] = ()) -> Iterator[tuple[int, int]]:
        """Yield the word range (start, end) of every hit, in order."""
        joined, offsets = _joined(words, clause_starts)
        for match in self._pattern.finditer(joined):
            yield bisect_right(offsets, match.start()), bisect_right(offsets, match.end() - 1)

    def occurs(self, words: Sequence[str], clause_starts: Collection[int] = ()) -> bool:
        """Return whether any phrase occurs."""
        return self._pattern.search(_joined(words, clause_starts)[0]) is not None

    def occurs_at_start(self, words: Sequence[str]) -> bool:
        """Return whether any phrase occurs at the start of the words, which start a clause."""
        return any(first == 0 for first, _ in self.find(words, (0,)))


def _pattern(phrase: str) -> str:
    first, *others = phrase.lstrip("^").removesuffix(f" {GAP}").split(f" {GAP} ")
    # In the joined text a word is " word", and " ^word" at the start of a clause.
    start = (
        r"\A \^?" if phrase.startswith(TEXT_START) else r" \^" if phrase.startswith(CLAUSE_START) else r" \^?"
    )
    pattern = start + r" \^?".join(map(_word_pattern, first.split(" ")))
    for part in others:
        # Lazy before a word, greedy at the end of a phrase.
        pattern += f"{_GAP}?" + "".join(f" {_word_pattern(word)}" for word in part.split(" "))
    return pattern + (_GAP if phrase.endswith(GAP) else "") + "(?= )"


def _word_pattern(word: str) -> str:
    if word == "*":
        return _ANY
    before, after = _ANY * word.startswith("*"), _ANY * word.endswith("*")
    return before + re.escape(word.strip("*")) + after


def _joined(words: Sequence[str], clause_starts: Collection[int]) -> tuple[str, list[int]]:
    parts, offsets, length = [], [], 0
    for index, word in enumerate(words):
        parts.append(f" ^{word}" if index in clause_starts else f" {word}")
        offsets.append(length + 1)
        length += len(parts[-1])
    return "".join([*parts, " "]), offsets
