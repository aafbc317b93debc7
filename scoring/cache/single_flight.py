"""Single flight: concurrent requests for one key share one computation."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiters: int = 0


class SingleFlight(Generic[T]):
    """Runs one computation per key at a time; nothing is kept afterwards."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    def is_running(self, key: Hashable) -> bool:
        """Return whether a computation for this key is running."""
        return key in self._flights

    async def run(self, key: Hashable, compute: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the result of ``compute``, or of the computation that already runs for this key.

        A cancelled waiter leaves the others waiting. Cancelling the last one cancels the computation, and
        returns when that has ended. All waiters get the exception that it raises.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(compute()))
        flight.waiters += 1
        try:
            await asyncio.wait([flight.task])
            return flight.task.result()
        finally:
            flight.waiters -= 1
            if not flight.waiters or flight.task.done():
                await self._end(key, flight)

    async def _end(self, key: Hashable, flight: _Flight[T]) -> None:
        # First of all, so that a caller that comes during the cancellation starts a new flight.
        if self._flights.get(key) is flight:
            del self._flights[key]
        if not flight.task.done():
            flight.task.cancel()
            await asyncio.wait([flight.task])
        if not flight.task.cancelled():
            flight.task.exception()  # marks it as retrieved, even without any waiter left
