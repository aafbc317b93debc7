"""A clock that a test moves."""

from __future__ import annotations


class Clock:
    """Gives the seconds that a test has set; starts at 1,000."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now
