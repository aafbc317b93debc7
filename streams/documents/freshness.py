"""Whether a copy is known to be up to date."""

from __future__ import annotations

from collections.abc import Callable


class Freshness:
    """Remembers when a copy was last known to miss nothing.

    Args:
        limit: seconds after which a copy that was not confirmed again is stale.
        clock: seconds since 1970.
    """

    def __init__(self, limit: float, clock: Callable[[], float]) -> None:
        self._limit = limit
        self._clock = clock
        self._complete_at: float | None = None

    def confirm(self, complete_at: float) -> None:
        """Note that the copy held everything at that time of the clock."""
        self._complete_at = complete_at

    @property
    def stale(self) -> bool:
        """Whether the copy may be out of date; it is until it is confirmed for the first time."""
        if self._complete_at is None:
            return True
        # A clock that went back proves nothing about the age.
        return not 0 <= self._clock() - self._complete_at <= self._limit
