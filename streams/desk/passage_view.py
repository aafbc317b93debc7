"""The passage beside a claim: its tables as tables, what the claim leaves out, and a link to its place.

Of Markdown, bold, italics, code and headings are shown without their marks; all else is shown as it is.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from urllib.parse import quote

from streams.web.excerpt import markdown_style

_WORD: Final = re.compile(r"\w+(?:[.,'’-]\w+)*")
_SEPARATORS: Final = re.compile(r"[|\s:-]*")
#: Marks of Markdown, and the number or bullet of a list: a rendered page shows none of them as text.
_MARKS: Final = re.compile(r"[*_`]+|^\s*(?:#{1,6}|[-+]|\d{1,3}[.)])\s+")
_MAX_FRAGMENT_WORDS: Final = 8
#: A passage that differs more than this is put in other words: nothing in it stands out.
_MAX_DIFFERENT: Final = 0.6
# The flags of a character.
_STRONG, _LEFT_OUT, _HIDDEN = 1, 2, 4


@dataclass(frozen=True, slots=True)
class TextRun:
    """A stretch of a text; ``left_out`` if it is of a passage and the claim has none of its words."""

    text: str
    strong: bool = False
    left_out: bool = False


@dataclass(frozen=True, slots=True)
class PassageBlock:
    """Lines of a passage: the ``rows`` of a table, or ``runs`` of text."""

    rows: tuple[tuple[str, ...], ...] = ()
    runs: tuple[TextRun, ...] = ()


def passage_blocks(passage: str, claim: str) -> tuple[PassageBlock, ...]:
    """Divide a passage into tables and texts, and find what the claim leaves out of the texts."""
    said = {word.casefold() for word in _WORD.findall(claim)}
    words = [word.casefold() for word in _WORD.findall(passage)]
    compares = sum(word not in said for word in words) <= _MAX_DIFFERENT * len(words)
    blocks = []
    for is_table, lines in groupby(passage.splitlines(), lambda line: "|" in line):
        if is_table:
            rows = tuple(
                tuple(map(_shown, _cells(line))) for line in lines if not _SEPARATORS.fullmatch(line)
            )
            blocks.append(PassageBlock(rows=rows))
        elif text := "\n".join(lines).strip("\n"):
            left_out = _left_out(text, said) if compares else []
            blocks.append(PassageBlock(runs=text_runs(text, left_out)))
    return tuple(blocks)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def _shown(text: str) -> str:
    return "".join(run.text for run in text_runs(text))


def text_runs(text: str, left_out: Iterable[tuple[int, int]] = ()) -> tuple[TextRun, ...]:
    """Divide a text where its style changes and where spans begin or end, without the marks of Markdown."""
    style, characters = markdown_style(text, 0, len(text)), [0] * len(text)
    for flag, spans in ((_STRONG, style.strong), (_LEFT_OUT, left_out), (_HIDDEN, style.hidden)):
        for start, end in spans:
            characters[start:end] = [each | flag for each in characters[start:end]]
    at, runs = 0, list[TextRun]()
    for flags, run in groupby(characters):
        start, at = at, at + len(list(run))
        if not flags & _HIDDEN:
            runs.append(TextRun(text[start:at], bool(flags & _STRONG), bool(flags & _LEFT_OUT)))
    return tuple(runs)


def _left_out(text: str, said: set[str]) -> list[tuple[int, int]]:
    """Return the spans of the words that a claim lacks; neighbours are one span."""
    spans: list[tuple[int, int]] = []
    for word in _WORD.finditer(text):
        if word[0].casefold() not in said:
            is_next = spans and not text[spans[-1][1] : word.start()].strip("*_` \t\n")
            spans.append((spans.pop()[0] if is_next else word.start(), word.end()))
    return spans


def place_url(url: str, passage: str) -> str:
    """Return an address at which a browser scrolls to the passage (a text fragment), if it finds it there."""
    lines = sorted(passage.splitlines(), key=lambda line: line.startswith("#"))  # headings are in menus too
    line = next(filter(None, map(_plain, lines)), "")
    words = line.split()
    if not words:
        return url
    half = _MAX_FRAGMENT_WORDS // 2
    ends = [words] if len(words) <= _MAX_FRAGMENT_WORDS else [words[:half], words[-half:]]
    text = ",".join(quote(" ".join(each), safe="").replace("-", "%2D") for each in ends)
    return f"{url}{'' if '#' in url else '#'}:~:text={text}"


def _plain(line: str) -> str:
    """Return a line as a rendered page shows it; of a row its first cell with text."""
    cells = () if _SEPARATORS.fullmatch(line) else _cells(line) if "|" in line else (line,)
    return next(filter(None, (_MARKS.sub("", cell).strip() for cell in cells)), "")
