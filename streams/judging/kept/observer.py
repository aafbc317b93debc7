"""The observer of kept opinions, told of them beside the work."""

from __future__ import annotations

from enum import StrEnum


class Lookup(StrEnum):
    """Where an opinion was found."""

    HIT = "hit"
    #: Another answer's asking for the same was under way.
    SHARED = "shared"
    MISS = "miss"


class Observer:
    """Hears what happens, and ignores what no subclass of it makes use of; must return at once."""

    def looked_up(self, result: Lookup) -> None:
        """An opinion was looked for."""

    def failed(self, error: str) -> None:
        """The file, or an opinion in it, could not be used; ``error`` is a name such as ``SQLITE_FULL``."""
