"""The pause for which an endpoint asks to be left alone."""

import asyncio
import time
from collections.abc import Callable

#: An endpoint may ask for hours, or for nonsense. Asked again after this at the latest, it can say so again.
_LONGEST_SECONDS = 300.0


class Pause:
    """Holds back all calls to an endpoint until the time is over for which it asked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock()

    @property
    def left(self) -> float:
        """How many seconds it lasts yet."""
        return max(0.0, self._until - self._clock())

    def begin(self, seconds: float) -> None:
        """Hold back calls for so long, or for longer where that was asked before."""
        self._until = max(self._until, self._clock() + min(seconds, _LONGEST_SECONDS))

    async def over(self, within: float) -> bool:
        """Wait until it is over, and say so; say no at once where that takes more than ``within`` seconds."""
        while left := self.left:
            if left >= within:
                return False
            await asyncio.sleep(left)
            within -= left
        return True
