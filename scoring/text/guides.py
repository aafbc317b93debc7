"""The numbered guides of a text: "1. ...", "2) ...", "Stap 3: ..."."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from scoring.text.prepared_text import PreparedText, Word, split_words
from scoring.text.spans import HEADING

_NUMBERED = re.compile(r"[ \t]{0,20}(?:\*\*|__)?(?P<number>\d{1,2})[.)](?:\*\*|__)?[ \t]{1,8}")
_NAMED = re.compile(
    r"[ \t]{0,20}(?:[-+*#]{1,6}[ \t]{1,4})?(?:\*\*|__)?(?P<word>[^\W\d_]{2,12})[ \t]{1,2}(?P<number>\d{1,2})"
    r"(?:\*\*|__)?[ \t]{0,2}[.):–-]?(?:\*\*|__)?(?:[ \t]{1,8}|$|(?=\n))"
)
_FEWEST_STEPS = 2


@dataclass(frozen=True, slots=True)
class GuideStep:
    """One step of a guide: where its text stands and its words."""

    start: int
    end: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Guide:
    """At least two steps that are numbered one after the other from 1."""

    steps: tuple[GuideStep, ...]


def guides(text: PreparedText) -> tuple[Guide, ...]:
    """Return the numbered guides of a text, in order.

    Lines below a step belong to it until an empty line, indented ones also after it; empty lines
    between steps are allowed. Any other line, or a heading, ends the guide.
    """
    collector = _GuideCollector()
    for start, end in text.lines():
        number, body = _step_number(text, start, end)
        if number is not None and number in (1, collector.next_number):
            collector.step(number, body, end)
        elif not text.original[start:end].strip():
            collector.empty_line()
        else:
            may_belong = not HEADING.match(text.original, start, end)
            collector.line(end, may_belong, indented=text.original[start] in " \t")
    return tuple(collector.guides(text))


def _step_number(text: PreparedText, start: int, end: int) -> tuple[int | None, int]:
    if match := _NUMBERED.match(text.original, start, end):
        return int(match["number"]), match.end()
    match = _NAMED.match(text.original, start, end)
    if match and match["word"].casefold() in text.lexicon.step_words:
        return int(match["number"]), match.end()
    return None, start


class _GuideCollector:
    def __init__(self) -> None:
        self._guides: list[list[tuple[int, int]]] = [[]]
        self._open_step = False

    @property
    def next_number(self) -> int:
        return len(self._guides[-1]) + 1

    def step(self, number: int, start: int, end: int) -> None:
        if number == 1:
            self._guides.append([])
        self._guides[-1].append((start, end))
        self._open_step = True

    def empty_line(self) -> None:
        self._open_step = False

    def line(self, end: int, can_continue_step: bool, indented: bool) -> None:
        steps = self._guides[-1]
        if steps and can_continue_step and (self._open_step or indented):
            steps[-1] = (steps[-1][0], end)
        elif steps:
            self._guides.append([])

    def guides(self, text: PreparedText) -> Iterator[Guide]:
        for bounds in self._guides:
            if len(bounds) >= _FEWEST_STEPS:
                yield Guide(tuple(GuideStep(*bound, split_words(text.original, *bound)) for bound in bounds))
