"""How often something may be done."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

_MAX_KEYS: Final = 10_000


class RateLimit:
    """Allows so many events a minute for each key, in a burst or spread (the generic cell rate algorithm).

    It remembers the 10,000 keys that were used last.

    Args:
        per_minute: how many.
        clock: monotonic, in seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = 60 / per_minute
        self._clock = clock
        self._free_at: OrderedDict[str, float] = OrderedDict()

    def take(self, key: str) -> int:
        """Count one event and return 0; or count nothing, and return the whole seconds until the next one."""
        now = self._clock()
        free_at = max(self._free_at.get(key, now), now) + self._interval
        if free_at - now > 60 + 1e-6:  # the sum of intervals is not exact
            return math.ceil(free_at - now - 60)
        self._free_at[key] = free_at
        self._free_at.move_to_end(key)
        if len(self._free_at) > _MAX_KEYS:
            self._free_at.popitem(last=False)
        return 0

    def forget(self, key: str) -> None:
        """Forget the events of a key."""
        self._free_at.pop(key, None)
