"""Normalization of lists for Python-Markdown.

Pages are written in CommonMark, as most readers know it. Python-Markdown, with which the site is made,
begins a list only behind a blank line, and takes as part of an item only what stands four columns further in.
"""

import re
from collections.abc import Iterator
from typing import Final

_ITEM: Final = re.compile(r"( *)([-*]|\d+\.)( +)\S")
_FENCE: Final = re.compile(r" *```")
_COLUMNS: Final = 4
#: What begins a list directly after a line of text; other numbers are part of the text.
_BEGIN_BEHIND_TEXT: Final = ("-", "*", "1.")


def normalize_lists(text: str) -> str:
    """Return the page with a blank line before each list, and four columns of indent per level."""
    return "\n".join(_widened(text.split("\n")))


def _widened(lines: list[str]) -> Iterator[str]:
    levels: list[int] = []  # the column at which the text of each open list item begins
    before, fenced = "", False
    begins_with_item = False  # the lines since the last empty one
    for line in lines:
        column = len(line) - len(line.lstrip(" "))
        fence = bool(_FENCE.match(line))
        behind = bool(before.strip()) and not fenced
        item = None if fenced else _ITEM.match(line)
        if item and behind and not levels and item[2] not in _BEGIN_BEHIND_TEXT:
            item = None
        goes_on = behind and not item and not fence
        if not behind and line.strip():
            begins_with_item = bool(item)
        while levels and column < levels[-1] and line.strip() and not fenced and not goes_on:
            levels.pop()
        if item and behind and not begins_with_item:
            yield ""
            begins_with_item = True
        deeper = _COLUMNS * len(levels) - (levels or [0])[-1]
        # A continuation line is indented a little less: otherwise it would begin a paragraph.
        yield " " * max(column + deeper - (2 if goes_on and levels else 0), 0) + line.lstrip(" ")
        if item:
            levels.append(item.end(3))
        fenced, before = fenced != fence, line
