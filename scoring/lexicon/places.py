"""The lines of a lexicon file that keys and values stand on; TOML's reader does not tell."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the file: its name (empty: the top) and which of the tables of that name, from 0."""

    name: str = ""
    number: int = 0


class Places:
    r"""Line numbers, from 1, in the text of one file.

    >>> Places('a = 1\n[t]\na = ["x",\n"x"]').line(Section("t"), "a", "x", occurrence=1)
    4
    """

    def __init__(self, text: str) -> None:
        """Look at ``text``, which is valid TOML."""
        self._lines = text.split("\n")

    def line(self, section: Section, key: str, value: object = None, occurrence: int = 0) -> int:
        """Return the line of a value at or after its key in a section, else of the key, else of the section.

        ``occurrence`` 1 asks for the second place of a text that is listed twice.
        """
        first, end = self._bounds(section)
        at_key = self._line_of_key(key, range(first, end))
        if at_key is None:
            # A table stands below what is at the top.
            at_key = self._line_of_key(rf"[{key}", range(end, len(self._lines))) if not section.name else None
        if at_key is None:
            return first + 1
        if not isinstance(value, str):
            return at_key + 1
        quoted = re.compile(rf"(['\"]){re.escape(value)}\1")
        hits = [n for n in range(at_key, end) for _ in quoted.findall(self._lines[n])]
        return (hits[occurrence] if len(hits) > occurrence else at_key) + 1

    def _line_of_key(self, key: str, lines: range) -> int | None:
        named = re.compile(rf"\[?{re.escape(key)}\b")
        return next((n for n in lines if named.match(self._lines[n].strip())), None)

    def _bounds(self, section: Section) -> tuple[int, int]:
        header = re.compile(r"\[{1,2}[\w. ]{1,200}\]")
        headers = [n for n, line in enumerate(self._lines) if header.match(line.strip())]
        named = rf"\[{{1,2}} {{0,20}}{re.escape(section.name)} {{0,20}}\]"
        own = [n for n in headers if re.match(named, self._lines[n].strip())] if section.name else [0]
        first = own[section.number] if section.number < len(own) else 0
        return first, next((n for n in headers if n > first), len(self._lines))
