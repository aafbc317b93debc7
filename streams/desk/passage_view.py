"""The passage beside a claim: its tables as tables, what the claim leaves out, and a link to its place."""

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from urllib.parse import quote

_WORD: Final = re.compile(r"\w+(?:[.,'’-]\w+)*")
_SEPARATORS: Final = re.compile(r"[|\s:-]*")
#: Marks of Markdown, and the number or bullet of a list: a rendered page shows none of them as text.
_MARKS: Final = re.compile(r"[*_`]+|^\s*(?:#{1,6}|[-+]|\d{1,3}[.)])\s+")
_MAX_FRAGMENT_WORDS: Final = 8
#: A passage that differs more than this is put in other words: nothing in it stands out.
_MAX_DIFFERENT: Final = 0.6


@dataclass(frozen=True, slots=True)
class PassageRun:
    """A stretch of a passage; ``left_out`` if the claim has none of its words."""

    text: str
    left_out: bool


@dataclass(frozen=True, slots=True)
class PassageBlock:
    """Lines of a passage: the ``rows`` of a table, or ``runs`` of text."""

    rows: tuple[tuple[str, ...], ...] = ()
    runs: tuple[PassageRun, ...] = ()


def passage_blocks(passage: str, claim: str) -> tuple[PassageBlock, ...]:
    """Divide a passage into tables and texts, and find what the claim leaves out of the texts."""
    said = {word.casefold() for word in _WORD.findall(claim)}
    words = [word.casefold() for word in _WORD.findall(passage)]
    compares = sum(word not in said for word in words) <= _MAX_DIFFERENT * len(words)
    blocks = []
    for is_table, lines in groupby(passage.splitlines(), lambda line: "|" in line):
        if is_table:
            rows = tuple(_cells(line) for line in lines if not _SEPARATORS.fullmatch(line))
            blocks.append(PassageBlock(rows=rows))
        elif text := "\n".join(lines).strip("\n"):
            blocks.append(PassageBlock(runs=_runs(text, said if compares else None)))
    return tuple(blocks)


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def _runs(text: str, said: set[str] | None) -> tuple[PassageRun, ...]:
    """Divide a text where words begin or end that the claim lacks; neighbours are one run."""
    if said is None:
        return (PassageRun(text, left_out=False),)
    runs: list[PassageRun] = []
    at = 0
    for word in _WORD.finditer(text):
        if word[0].casefold() in said:
            continue
        gap = text[at : word.start()]
        if runs and not gap.strip():
            runs[-1] = PassageRun(runs[-1].text + gap + word[0], left_out=True)
        else:
            runs += [*([PassageRun(gap, left_out=False)] if gap else []), PassageRun(word[0], left_out=True)]
        at = word.end()
    return (*runs, PassageRun(text[at:], left_out=False)) if text[at:] else tuple(runs)


def place_url(url: str, passage: str) -> str:
    """Return an address at which a browser scrolls to the passage (a text fragment), if it finds it there."""
    line = next(filter(None, map(_plain, passage.splitlines())), "")
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
