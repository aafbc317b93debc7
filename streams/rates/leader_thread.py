"""A thread with an event loop of its own, in which a leader counts: judging never waits for it.

A pass over many windows takes seconds at a time, in which the worker's own event loop goes on: it judges,
commits, and answers those who ask how it is.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog

from streams.observability.tracing import Tracing
from streams.rates.rate_leader import RateLeader
from streams.rates.rate_metrics import RateMetrics
from streams.settings import Settings

log = structlog.get_logger(__name__)

#: How often it is looked at whether this worker leads.
_ELECTION_SECONDS = 0.25
#: How much longer than all else the rates may take to end; what is left then is a successor's.
_END_SECONDS = 5.0


class LoopThread:
    """Runs a job in a daemon thread with an event loop of its own; nothing that fails there comes out.

    To be made and used in an event loop, whose context (of log lines and traces) the job has too.

    Args:
        job: makes the coroutine of an event that is set when it is to end.
        name: the thread's.
    """

    def __init__(self, job: Callable[[asyncio.Event], Coroutine[Any, Any, None]], name: str) -> None:
        self._home = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        # Nothing runs in that loop yet, so this is safe from here.
        self._task = self._loop.create_task(job(self._stopping))
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def request_stop(self) -> None:
        """Set the job's event."""
        self._call(self._stopping.set)

    def cancel(self) -> None:
        """Cancel the job."""
        self._call(self._task.cancel)

    async def wait_until_ended(self, seconds: float) -> bool:
        """Wait until the thread is at its end, for so long at most; say whether it is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        return self._ended.is_set()

    def _call(self, action: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # its loop is closed: it has ended
            self._loop.call_soon_threadsafe(action)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._to_the_end())
        except BaseException as error:  # noqa: BLE001 - the worker judges all the same
            log.warning("rates_thread_failed", error_type=type(error).__name__)
        finally:
            with suppress(RuntimeError):  # the worker ended before
                self._home.call_soon_threadsafe(self._ended.set)

    async def _to_the_end(self) -> None:
        with suppress(asyncio.CancelledError):
            await self._task


@asynccontextmanager
async def rate_leader_thread(
    settings: Settings,
    telemetry: RateMetrics,
    tracing: Tracing,
    is_leader: Callable[[], bool],
    stopping: asyncio.Event,
) -> AsyncIterator[None]:
    """Count the verdicts of all workers in a thread, if rates are on, while ``leads`` says so.

    ``leads`` is called here, in the worker's event loop. Nothing that fails in the thread comes out. It ends
    by itself once ``stopping`` is set, and at the end of the context has some seconds to do so.
    """
    if not settings.rates.enabled:
        yield
        return
    lead = threading.Event()
    thread = LoopThread(
        lambda asked: RateLeader(settings, telemetry, tracing, lead.is_set, asked).run(), "rates"
    )
    following = asyncio.create_task(_relay_leadership(is_leader, stopping, lead, thread))
    try:
        yield
    finally:
        following.cancel()
        await _end(thread, by_itself=stopping.is_set())


async def _relay_leadership(
    is_leader: Callable[[], bool], stopping: asyncio.Event, lead: threading.Event, thread: LoopThread
) -> None:
    """Tell the thread whether this worker leads, and when it is to stop."""
    # What an application has is not to be read from other threads: it changes in the middle of that.
    while not stopping.is_set():
        if is_leader():
            lead.set()
        else:
            lead.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(_ELECTION_SECONDS):
                await stopping.wait()
    thread.request_stop()


async def _end(thread: LoopThread, by_itself: bool) -> None:
    if by_itself:
        thread.request_stop()
        if await thread.wait_until_ended(_END_SECONDS):
            return
    thread.cancel()
    if not await thread.wait_until_ended(_END_SECONDS):
        log.warning("rates_thread_left")
