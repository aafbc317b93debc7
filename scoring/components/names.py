"""The values that finding components works with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    """The name of one component: its folded words and its place in the original text.

    ``open_ended``: nothing marks where the name ends, it may go on.
    """

    words: tuple[str, ...]
    start: int
    end: int
    open_ended: bool = False


@dataclass(frozen=True, slots=True)
class Component:
    """One component, or a menu path where there are several parts."""

    parts: tuple[Name, ...]

    @property
    def span(self) -> tuple[int, int]:
        """Where it stands in the original text."""
        return self.parts[0].start, self.parts[-1].end
