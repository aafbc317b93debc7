"""The lines of a text as answers are compared with them: steps, headings, and what belongs to a step."""

from __future__ import annotations

import re
import unicodedata

from scoring.lexicon import Lexicon
from scoring.text.prepared import PreparedText

_STEP = re.compile(r"([0-9]{1,2})\. ")
_ANY_STEP = re.compile(r"(?:(?P<word>[^\W\d_]{2,12}) (?P<number>[0-9]{1,2}):|(?P<plain>[0-9]{1,2})[.)]) ")
_HEADING = re.compile(r"#{1,6} ")
# Bold that begins and ends between words, so that the stars of "src/**/file" and "2**10" stay.
_BOLD = re.compile(r"(?<![\w*])\*\*(?=[^\s*])([^*\n]{1,200})(?<=\S)\*\*(?![\w*])")
# What stands indented, in a list, a table or a quotation below a step belongs to it; so does a picture.
_BELONGS_TO_STEP = re.compile(r"[ \t]|[-+*•>|!]|<img")


def plain_lines(text: PreparedText) -> tuple[tuple[int, str], ...]:
    """Return the lines of the whole original that are not blank: where each begins, and its plain text.

    Steps are numbered alike: "2) ..." and "Step 2: ..." become "2. ...".
    """
    return plain_lines_of(text.original, text.lexicon)


def plain_lines_of(original: str, lexicon: Lexicon) -> tuple[tuple[int, str], ...]:
    """Return the same of a text that is not prepared."""
    lines, start = [], 0
    for line in original.split("\n"):
        if plain := _numbered_alike(_plain(line), lexicon):
            lines.append((start, plain))
        start += len(line) + 1
    return tuple(lines)


def _plain(line: str) -> str:
    # In code every star says something.
    text = line if "`" in line else _BOLD.sub(r"\1", line)
    return " ".join(unicodedata.normalize("NFC", text).split())


def _numbered_alike(line: str, lexicon: Lexicon) -> str:
    match = _ANY_STEP.match(line)
    if match is None or (match["word"] and match["word"].casefold() not in lexicon.step_words):
        return line
    return f"{int(match['number'] or match['plain'])}. {line[match.end() :]}"


def is_heading(line: str) -> bool:
    """Say whether a plain line is a heading."""
    return _HEADING.match(line) is not None


def heading_level(line: str) -> int:
    """Return how deep a heading is, from 1 on; 0 for a line that is none."""
    return len(line) - len(line.lstrip("#")) if is_heading(line) else 0


def belongs_to_step(original: str, start: int) -> bool:
    """Say whether a line of a text belongs to what stands above it: a list, a table, a picture."""
    return _BELONGS_TO_STEP.match(original, start) is not None


def line_number(line: str) -> int | None:
    """Return the number of a step's plain line, or None where it is no step."""
    match = _STEP.match(line)
    return int(match[1]) if match else None
