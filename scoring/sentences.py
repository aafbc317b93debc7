"""Splits running text into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(r"[.!?:]++(?=\s|$)|\n++")


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the sentences of ``text[start:end]``; a colon and a line end end one too."""
    begin = start
    for match in _END.finditer(text, start, end):
        yield begin, match.end()
        begin = match.end()
    if begin < end:
        yield begin, end
