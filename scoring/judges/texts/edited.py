"""A text with some of its parts replaced, and the way back to the places of the original."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    original_start: int
    original_end: int


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after replacements; ``before`` is what it was made from, where it was edited more than once."""

    text: str
    edits: tuple[_Edit, ...] = ()
    before: Edited | None = None

    @property
    def original(self) -> str:
        """The text before all of it."""
        return self.before.original if self.before else self.text

    def replaced(
        self,
        pattern: re.Pattern[str],
        replacement: Callable[[re.Match[str]], str],
        read_as: Callable[[str], str] = str,
    ) -> Edited:
        """Return this text with every match of the pattern replaced.

        ``read_as`` gives the text that the pattern is looked for in: of the same length, sign by sign.
        """
        parts: list[str] = []
        edits: list[_Edit] = []
        length = read = 0
        for match in pattern.finditer(read_as(self.text)):
            new = replacement(match)
            start = length + match.start() - read
            parts += self.text[read : match.start()], new
            edits.append(_Edit(start, start + len(new), *match.span()))
            length, read = start + len(new), match.end()
        return Edited("".join([*parts, self.text[read:]]), tuple(edits), self) if edits else self

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the places in the original of a part of this text; what was replaced counts whole."""
        start, end = self._before(start, begins=True), self._before(end, begins=False)
        return self.before.original_span(start, end) if self.before else (start, end)

    def _before(self, place: int, *, begins: bool) -> int:
        """Return where a place was; inside a replacement, where the replaced part begins or ends."""
        # A replacement that begins where a part ends is no part of it.
        at = bisect_right(self.edits, place if begins else place - 1, key=lambda edit: edit.start) - 1
        if at < 0:
            return place
        edit = self.edits[at]
        if place >= edit.end:
            return edit.original_end + place - edit.end
        return edit.original_start if begins else edit.original_end
