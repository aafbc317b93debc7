"""The marks of Markdown in an answer: which characters are marks, and what they stress."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

Span = tuple[int, int]

# Between what is shown stand marks, line ends and indentation, else this is not where a text came from.
_BETWEEN: Final = re.compile(r"[*_`#\s]*")
_MARKS: Final = re.compile(r"[*_`]+|#{1,6}[ \t]+$")

_OPENING: Final = frozenset({"em_open", "strong_open"})
_CLOSING: Final = frozenset({"em_close", "strong_close"})


@dataclass(frozen=True, slots=True)
class Styled:
    """Which characters of a text are marks that need not be shown, and which are stressed by some."""

    hidden: tuple[Span, ...] = ()
    strong: tuple[Span, ...] = ()

    @property
    def edges(self) -> frozenset[int]:
        """Where the style changes."""
        return frozenset(place for span in (*self.hidden, *self.strong) for place in span)

    def hides(self, place: int) -> bool:
        """Say whether the character there is a mark."""
        return _within(place, self.hidden)

    def stresses(self, place: int) -> bool:
        """Say whether the character there is stressed."""
        return _within(place, self.strong)


PLAIN: Final = Styled()


def styled(text: str, begin: int, end: int) -> Styled:
    """Find the marks of bold, italics, code and headings in ``text[begin:end]``; all else stays as it is.

    Offsets are those of the whole text. Addresses of links are shown, since they may be what is untrue.
    """
    hidden: list[Span] = []
    strong: list[Span] = []
    at = begin
    for content, is_strong in _contents(text[begin:end]):
        found = text.find(content, at, end)
        if found < 0 or not _BETWEEN.fullmatch(text, at, found):
            break  # written otherwise than it is read: the rest is shown as it came
        hidden += _marks(text, at, found)
        at = found + len(content)
        if is_strong:
            strong.append((found, at))
    if _BETWEEN.fullmatch(text, at, end) and strong:
        hidden += _marks(text, at, end)
    return Styled(tuple(hidden), tuple(strong))


def _marks(text: str, start: int, end: int) -> list[Span]:
    return [mark.span() for mark in _MARKS.finditer(text, start, end)]


def _contents(text: str) -> Iterator[tuple[str, bool]]:
    """Give what is shown of a text, in order, and whether it is stressed."""
    in_heading = False
    for token in _reader().parse(text):
        if token.type in {"heading_open", "heading_close"}:
            in_heading = token.type == "heading_open"
        yield from _inline(token.children or (), in_heading=in_heading)


def _inline(children: Iterable[Token], *, in_heading: bool) -> Iterator[tuple[str, bool]]:
    depth = int(in_heading)
    for child in children:
        depth += (child.type in _OPENING) - (child.type in _CLOSING)
        if child.content:
            yield child.content, depth > 0 or child.type == "code_inline"


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("zero").enable(["heading", "emphasis", "backticks"])


def _within(place: int, spans: Iterable[Span]) -> bool:
    return any(start <= place < end for start, end in spans)
