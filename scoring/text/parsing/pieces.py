"""The pieces of a help text that a parser trained on running text can read.

Marks of Markdown and HTML are left out, a list item or heading is a piece of its own, and every
character of a piece knows its place in the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scoring.text.parsing.parse import Integers
from scoring.text.sentences import SENTENCE_END, is_closed

#: What stands beyond either limit is not parsed: no help page or answer is that long. The tokens are what
#: takes time, about a second and a half for so many.
MOST_CHARACTERS = 100_000
MOST_TOKENS = 10_000
# A piece costs as much as so many tokens, however short it is.
_TOKENS_PER_PIECE = 8
# No language has longer words; a tokenizer takes quadratic time over them.
_LONGEST_WORD = 100
# Bounds what the parser holds in memory at once. Sentences are shorter.
_LONGEST_PIECE = 1_000
# A line that is at least so long and ends in no stop goes on in the next one.
_WRAPPED_LINE = 60

_MARKUP = re.compile(
    r"(?:^|(?<=\n))[ \t]{0,20}(?:#{1,6}[ \t]|>[ \t]?|[-+*•–][ \t]|(?:\*\*)?\d{1,3}[.)](?:\*\*)?[ \t])"
    r"|\*+|`+|~~|__"
    r"|</?[A-Za-z][^<>\n]{0,100}>"
    r"|!?\[(?=[^\[\]\n]{1,200}\]\()|\]\([^()\s]{0,300}\)"
)
_DROPPED = "\0"
_TOKEN = re.compile(r"\w+|[^\w\s]")
_STRETCH = re.compile(r"(?P<space>\s+)|[^\s\0]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """Running text; character ``n`` of ``text`` stands at ``places[n]`` of the original."""

    text: str
    places: Integers


def pieces(original: str) -> Iterator[Piece]:
    """Yield the pieces of a text, in order and as far as it is parsed; none is blank."""
    cleaned = _MARKUP.sub(lambda mark: _DROPPED * len(mark.group()), original[:MOST_CHARACTERS])
    tokens = 0
    for start, end in _blocks(cleaned):
        for piece in _cut(_running(cleaned, start, end)):
            tokens += len(_TOKEN.findall(piece.text)) + _TOKENS_PER_PIECE
            if tokens > MOST_TOKENS:
                return
            yield piece


def _blocks(cleaned: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of every line, joined with those that go on with its sentence."""
    start, end = 0, -1
    previous = ""
    for line in cleaned.split("\n"):
        begin = end + 1
        if not _goes_on(previous, line):
            yield start, max(end, 0)
            start = begin
        end = begin + len(line)
        previous = line
    yield start, end


def _goes_on(previous: str, line: str) -> bool:
    before = previous.rstrip()
    if not before or not line.strip(" \t\r\0") or line.startswith(_DROPPED) or is_closed(before, also=":;|"):
        return False
    return len(before) >= _WRAPPED_LINE or line.lstrip()[:1].islower()


def _running(cleaned: str, start: int, end: int) -> Piece:
    """Drop the marks, and leave one space of every run of white space."""
    kept: list[str] = []
    places: list[range] = []
    for match in _STRETCH.finditer(cleaned, start, end):
        first, last = match.span()
        if match["space"] is None:
            last = min(last, first + _LONGEST_WORD)
            kept.append(cleaned[first:last])
            places.append(range(first, last))
        elif kept and kept[-1] != " ":
            kept.append(" ")
            places.append(range(first, first + 1))
    return Piece("".join(kept).rstrip(), np.array([place for run in places for place in run], dtype=np.int32))


def _cut(piece: Piece) -> Iterator[Piece]:
    text, start = piece.text, 0
    while start < len(text):
        end = _best_cut(text, start)
        yield Piece(text[start:end], piece.places[start:end])
        start = end + text.startswith(" ", end)


def _best_cut(text: str, start: int) -> int:
    limit = start + _LONGEST_PIECE
    if limit >= len(text):
        return len(text)
    # One further, since what is not looked at is an end too.
    ends = [match.end() for match in SENTENCE_END.finditer(text, start, limit + 1) if match.end() <= limit]
    if ends:
        return ends[-1]
    space = text.rfind(" ", start + 1, limit)
    return limit if space < 0 else space
