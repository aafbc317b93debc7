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
    """Runs one asking for each key at a time; nothing of it is kept when it is over."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    def is_running(self, key: Hashable) -> bool:
        """Say whether somebody is asking for it now."""
        return key in self._flights

    async def run(self, key: Hashable, compute: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what ``ask`` gives, or what it gives to another that began it before.

        Whoever is cancelled leaves the others waiting; when the last one is, so is the asking, and it has
        ended when this does. What it raises, all of them get.
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
        # First, so that who comes while it is being cancelled begins another.
        if self._flights.get(key) is flight:
            del self._flights[key]
        if not flight.task.done():
            flight.task.cancel()
            await asyncio.wait([flight.task])
        if not flight.task.cancelled():
            flight.task.exception()  # seen, even where everybody who waited has left
