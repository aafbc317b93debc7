"""How long to wait before an index is built anew once more."""

from __future__ import annotations

import time
from collections.abc import Callable

_LONGEST = 3_600.0


class Patience:
    """Lets an index be built anew at once, and then after ever longer waits, up to an hour.

    What damages it again and again must not keep the machine at work. An index that stayed whole for
    twice the last wait makes the next failure a first one.

    Args:
        shortest: seconds between the first time and the second.
        clock: seconds, from any beginning.
    """

    def __init__(self, shortest: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._shortest = shortest
        self._clock = clock
        self._wait = 0.0
        self._next = float("-inf")
        self._whole_since: float | None = None

    @property
    def allows(self) -> bool:
        """Whether the index may be built anew now."""
        return self._clock() >= self._next

    def began(self) -> None:
        """Note that it is built anew."""
        now = self._clock()
        held = 0.0 if self._whole_since is None else now - self._whole_since
        longer = min(2 * self._wait, _LONGEST)
        self._wait = longer if self._wait and held <= 2 * self._wait else self._shortest
        self._next = now + self._wait
        self._whole_since = None

    def is_whole(self) -> None:
        """Note that the index is complete."""
        if self._whole_since is None:
            self._whole_since = self._clock()
