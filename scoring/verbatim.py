"""Whether an answer quotes a guide of a document, line for line, and says nothing else.

Such an answer may be sent without anybody seeing it, so nothing here is tolerant: one more
sentence, another sign or another order of the lines, and it is no quotation.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from scoring.features.base import ContextText, Material
from scoring.features.prompt_overlap import content_stems
from scoring.lexicon import Lexicon
from scoring.text import PreparedText

_STEP = re.compile(r"([0-9]{1,2})\. ")
_ANY_STEP = re.compile(r"(?:(?P<word>[^\W\d_]{2,12}) (?P<number>[0-9]{1,2}):|(?P<plain>[0-9]{1,2})[.)]) ")
_HEADING = re.compile(r"#{1,6} ")
_FEWEST_STEPS = 2


@dataclass(frozen=True, slots=True)
class Quotation:
    """The guide that an answer quotes: where it begins in the answer, and the document it is from."""

    start: int
    document: ContextText


def quotation(material: Material) -> Quotation | None:
    """Return the quotation that the whole answer is, or None.

    The lines of the answer, after one introductory line of the lexicon's ``lead_ins`` at most, are
    lines of one document, one after the other: they begin with step 1 and leave out no step. The
    title of the document, or the heading over the guide, shares a word with the question: a guide
    of something else is no answer. Spaces and bold marks may differ, and nothing else.
    """
    answer = material.answer
    lines = plain_lines(answer)
    if lines and lines[0][1].casefold() in answer.lexicon.lead_ins:
        lines = lines[1:]
    quoted = [text for _, text in lines]
    if len(quoted) < _FEWEST_STEPS:
        return None
    for document in material.context:
        place = _place(quoted, [text for _, text in document.text.derived(plain_lines)])
        if place is not None and _is_about(document, place, material.question):
            return Quotation(lines[0][0], document)
    return None


def plain_lines(text: PreparedText) -> tuple[tuple[int, str], ...]:
    """Return the lines of the whole original that are not blank: where each begins, and its plain text.

    Steps are numbered alike: "2) ..." and "Step 2: ..." become "2. ...".
    """
    lines, start = [], 0
    for line in text.original.split("\n"):
        if plain := _numbered_alike(_plain(line), text.lexicon):
            lines.append((start, plain))
        start += len(line) + 1
    return tuple(lines)


def _plain(line: str) -> str:
    return " ".join(unicodedata.normalize("NFC", line.replace("**", "")).split())


def _numbered_alike(line: str, lexicon: Lexicon) -> str:
    match = _ANY_STEP.match(line)
    if match is None or (match["word"] and match["word"].casefold() not in lexicon.step_words):
        return line
    return f"{int(match['number'] or match['plain'])}. {line[match.end() :]}"


def _place(quoted: list[str], lines: list[str]) -> int | None:
    """Return the index in ``lines`` where a whole guide is quoted, or None."""
    if _number(quoted[0]) != 1:
        return None
    for place, line in enumerate(lines):
        end = place + len(quoted)
        if line == quoted[0] and lines[place:end] == quoted and _is_whole(quoted, lines[end:]):
            return place
    return None


def _is_whole(quoted: list[str], rest: list[str]) -> bool:
    steps = [number for line in quoted if (number := _number(line))]
    return len(steps) >= _FEWEST_STEPS and (not rest or _number(rest[0]) != steps[-1] + 1)


def _number(line: str) -> int | None:
    match = _STEP.match(line)
    return int(match[1]) if match else None


def _is_about(document: ContextText, place: int, question: PreparedText) -> bool:
    lines = [text for _, text in document.text.derived(plain_lines)]
    headings = [line for line in lines[:place] if _HEADING.match(line)]
    named = PreparedText.of("\n".join([lines[0], *headings[-1:]]), question.lexicon)
    return not question.derived(content_stems).isdisjoint(content_stems(named))
