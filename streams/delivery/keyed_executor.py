"""The keyed executor: in order within a key, concurrent over keys, with a bound."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable

Job = Callable[[], Awaitable[None]]


class KeyedExecutor:
    """Runs at most ``limit`` jobs; jobs of one key run in sequence.

    Args:
        limit: the maximum of waiting and running jobs; :meth:`submit` blocks beyond it.
        on_error: called with the exception of a failed job. Jobs handle their own failures, so an
            exception here is a failure of the whole worker.
    """

    def __init__(self, limit: int, on_error: Callable[[BaseException], None]) -> None:
        self._slots = asyncio.Semaphore(limit)
        self._waiting: dict[Hashable, deque[Job]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._on_error = on_error
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def in_flight(self) -> int:
        """The number of accepted, unfinished jobs."""
        return self._in_flight

    async def submit(self, key: Hashable, job: Job) -> None:
        """Accept a job, after waiting for a free slot; it runs after all earlier jobs of its key."""
        await self._slots.acquire()
        self._in_flight += 1
        self._idle.clear()
        if (queue := self._waiting.get(key)) is not None:
            queue.append(job)
            return
        self._waiting[key] = deque((job,))
        task = asyncio.create_task(self._run(key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Wait until every accepted job is finished."""
        await self._idle.wait()

    async def _run(self, key: Hashable) -> None:
        queue = self._waiting[key]
        while queue:
            try:
                await queue.popleft()()
            except Exception as error:  # noqa: BLE001 - any failure is reported to the worker
                self._on_error(error)
            finally:
                self._slots.release()
                self._in_flight -= 1
                if not self._in_flight:
                    self._idle.set()
        del self._waiting[key]
