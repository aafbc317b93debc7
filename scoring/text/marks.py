"""The marked stretches of a text: bold, italics, quotes, code, whatever style its author keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scoring.text.prepared import PreparedText

#: How a line begins that is a heading.
HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
#: How one begins that is an item of a list, and what a line has that parts the head of a table from its rows.
ITEM = re.compile(r"[ \t]{0,12}(?:[-*+•]|\d{1,3}[.)])[ \t]{1,4}")
RULE = frozenset("|-: \t")

# Nobody names a component with more characters; the limit also bounds the search.
_LONGEST = 120

# Every pattern reads at most _LONGEST characters from where it starts.
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![*\w])(?P<m>\*{{1,3}})(?![\s*])(?P<x>[^*\n]{{1,{_LONGEST}}})(?<!\s)(?P=m)(?![*\w])",
        rf"(?<![_\w])(?P<m>_{{1,2}})(?![\s_])(?P<x>[^_\n]{{1,{_LONGEST}}})(?<!\s)(?P=m)(?![_\w])",
        rf"<(?P<m>b|strong|i|em)>(?P<x>[^<\n]{{1,{_LONGEST}}})</(?P=m)>",
        rf"`(?P<x>[^`\n]{{1,{_LONGEST}}})`",
        rf"[“„](?P<x>[^“”„\n]{{1,{_LONGEST}}})[”“]",
        rf"«(?P<x>[^«»\n]{{1,{_LONGEST}}})»",
        rf"(?<![\"\w])\"(?![\s\"])(?P<x>[^\"\n]{{1,{_LONGEST}}})(?<!\s)\"(?![\"\w])",
        rf"(?<![‘’\w])‘(?!\s)(?P<x>[^‘\n]{{1,{_LONGEST}}}?)(?<!\s)’(?!\w)",
        rf"(?<!['\w])'(?![\s'])(?P<x>[^'\n]{{1,{_LONGEST}}})(?<!\s)'(?!['\w])",
    )
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked stretch of a text: ``inner`` is what is marked, ``outer`` includes the marks."""

    start: int
    end: int
    outer_start: int
    outer_end: int


def marks(text: PreparedText) -> tuple[Mark, ...]:
    """Return the marked stretches of a text in order, without overlaps.

    A stronger mark wins: bold inside a quoted sentence is found, the quotes are not.
    """
    taken = bytearray(text.end)
    found = [mark for pattern in _PATTERNS for mark in _by(pattern, text, taken)]
    return tuple(sorted(found, key=lambda mark: mark.start))


def _by(pattern: re.Pattern[str], text: PreparedText, taken: bytearray) -> list[Mark]:
    found = []
    for match in pattern.finditer(text.original, text.start, text.end):
        start, end = match.span()
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\x01" * (end - start)
            found.append(Mark(*match.span("x"), start, end))
    return found
