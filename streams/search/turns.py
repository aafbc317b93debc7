"""Who searches when: a few at once, the others in the order in which they came."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Literal, TypeVar

T = TypeVar("T")


class SearchNotStarted(Exception):
    """Nobody got on for as long as one search may take, or there was no time left to wait."""


class BoundedExecutor:
    """Runs what blocks in threads, so many at once, and lets others wait only while these get on.

    The time of one search counts from its beginning: of many answers at once, as after an outage, the
    last ones wait long and are searched for all the same. Where searches hang, whoever waits gives up
    after the time of one.

    Args:
        threads: run the searches.
        at_once: how many of them.
        time_limit: seconds that one search may take.
    """

    def __init__(self, threads: Executor, max_concurrency: int, time_limit: float) -> None:
        self._threads = threads
        self._free = asyncio.Semaphore(max_concurrency)
        self._time_limit = time_limit
        self._progress_at = float("-inf")

    async def run(self, search: Callable[[], T], seconds: float) -> T:
        """Wait for a turn and search, all within ``seconds``.

        Raises:
            SearchNotStarted: it was not searched.
            TimeoutError: the search took too long; its thread may still be at it.
            Exception: what ``search`` raises.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        await self._acquire(until)
        left = min(self._time_limit, max(0.0, until - loop.time()))
        try:
            running = loop.run_in_executor(self._threads, search)
        except RuntimeError:  # the threads are closed
            self._free.release()
            raise
        running.add_done_callback(self._finished)
        async with asyncio.timeout(left):
            return await asyncio.shield(running)

    async def _acquire(self, until: float) -> None:
        turn = asyncio.create_task(self._free.acquire())
        try:
            await self._wait(turn, until)
        except asyncio.CancelledError:
            self._give_up(turn)
            raise
        if not turn.done():
            self._give_up(turn)
            raise SearchNotStarted

    async def _wait(self, turn: asyncio.Task[Literal[True]], until: float) -> None:
        now = began = asyncio.get_running_loop().time()
        while not turn.done() and now < (end := min(until, max(began, self._progress_at) + self._time_limit)):
            await asyncio.wait((turn,), timeout=end - now)
            now = asyncio.get_running_loop().time()

    def _give_up(self, turn: asyncio.Task[Literal[True]]) -> None:
        if turn.done():
            self._free.release()
        else:
            turn.cancel()

    def _finished(self, running: asyncio.Future[T]) -> None:
        # A thread that hangs keeps its turn: what another began beside it would wait for it unseen.
        self._free.release()
        # Read, since nobody may be left to hear of it.
        if not running.cancelled() and running.exception() is None:
            self._progress_at = asyncio.get_running_loop().time()
