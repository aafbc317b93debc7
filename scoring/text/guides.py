"""The numbered guides of a text: "1. ...", "2) ...", "Stap 3: ..."."""

import re
from dataclasses import dataclass

from scoring.text.prepared_text import PreparedText, Word, split_words
from scoring.text.spans import HEADING

_NUMBERED = re.compile(r"[ \t]{0,20}(?:\*\*|__)?(?P<number>\d{1,2})[.)](?:\*\*|__)?[ \t]{1,8}")
_NAMED = re.compile(
    r"[ \t]{0,20}(?:[-+*#]{1,6}[ \t]{1,4})?(?:\*\*|__)?(?P<word>[^\W\d_]{2,12})[ \t]{1,2}(?P<number>\d{1,2})"
    r"(?:\*\*|__)?[ \t]{0,2}[.):–-]?(?:\*\*|__)?(?:[ \t]{1,8}|$|(?=\n))"
)
_MIN_STEPS = 2


@dataclass(frozen=True, slots=True)
class GuideStep:
    """One step of a guide: the span of its text and its words."""

    start: int
    end: int
    words: tuple[Word, ...]


#: At least two steps, numbered consecutively from 1.
Guide = tuple[GuideStep, ...]


def guides(text: PreparedText) -> tuple[Guide, ...]:
    """Return the numbered guides of a text, in order.

    Lines below a step belong to it up to an empty line, indented ones also after it. Empty lines may separate
    steps. Any other line, or a heading, ends the guide.
    """
    runs: list[list[tuple[int, int]]] = [[]]
    is_step_open = False
    for start, end in text.lines():
        number, body_start = _step_number(text, start, end)
        steps = runs[-1]
        if number is not None and number in (1, len(steps) + 1):
            if number == 1:
                runs.append([])
            runs[-1].append((body_start, end))
            is_step_open = True
        elif not text.original[start:end].strip():
            is_step_open = False
        elif steps:
            is_heading = HEADING.match(text.original, start, end)
            if not is_heading and (is_step_open or text.original[start] in " \t"):
                steps[-1] = steps[-1][0], end
            else:
                runs.append([])
    return tuple(
        tuple(GuideStep(*span, split_words(text.original, *span)) for span in steps)
        for steps in runs
        if len(steps) >= _MIN_STEPS
    )


def _step_number(text: PreparedText, start: int, end: int) -> tuple[int | None, int]:
    if match := _NUMBERED.match(text.original, start, end):
        return int(match["number"]), match.end()
    match = _NAMED.match(text.original, start, end)
    if match and match["word"].casefold() in text.lexicon.step_words:
        return int(match["number"]), match.end()
    return None, start
