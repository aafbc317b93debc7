"""The pause for which an endpoint asks to be left alone."""

import asyncio
import time
from collections.abc import Callable

#: An endpoint may ask for hours, or for nonsense. Asked again after this at the latest, it can say so again.
_MAX_SECONDS = 300.0


class Backoff:
    """Holds back all calls to an endpoint until the time is over for which it asked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock()

    @property
    def remaining(self) -> float:
        """How many seconds it lasts yet."""
        return max(0.0, self._until - self._clock())

    def extend(self, seconds: float) -> None:
        """Hold back calls for so long, or for longer where that was asked before."""
        self._until = max(self._until, self._clock() + min(seconds, _MAX_SECONDS))

    async def wait(self, max_seconds: float) -> bool:
        """Wait until it is over, and say so; say no at once where that takes more than ``within`` seconds."""
        while left := self.remaining:
            if left >= max_seconds:
                return False
            await asyncio.sleep(left)
            max_seconds -= left
        return True
