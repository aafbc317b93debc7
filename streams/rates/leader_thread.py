"""Runs the leader in a thread with its own event loop, so that judging never waits for it.

A pass over many windows can take seconds. Meanwhile the worker's own event loop judges, commits, and answers
health checks.
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

#: How often the thread is told whether this worker leads.
_ELECTION_SECONDS = 0.25
#: How long the rates may take to end; the next leader does the rest.
_SHUTDOWN_SECONDS = 5.0


class LoopThread:
    """A daemon thread that runs a job in its own event loop; failures of the job are logged, not raised.

    To be created and used in an event loop, whose context (of log lines and traces) the job inherits.

    Args:
        job: returns the coroutine, given an event that is set when it must stop.
        name: the name of the thread.
    """

    def __init__(self, job: Callable[[asyncio.Event], Coroutine[Any, Any, None]], name: str) -> None:
        self._worker_loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        # That loop does not run yet, so this is safe here.
        self._task = self._loop.create_task(job(self._stopping))
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def request_stop(self) -> None:
        """Ask the job to stop."""
        self._call(self._stopping.set)

    def cancel(self) -> None:
        """Cancel the job."""
        self._call(self._task.cancel)

    async def wait_until_ended(self, seconds: float) -> bool:
        """Wait for the end of the thread, at most for so long; return whether it has ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        return self._ended.is_set()

    def _call(self, action: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed: the thread has ended
            self._loop.call_soon_threadsafe(action)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._wait_for_job())
        except BaseException as error:  # noqa: BLE001 - the worker keeps judging
            log.warning("rates_thread_failed", error_type=type(error).__name__)
        finally:
            with suppress(RuntimeError):  # the worker has ended
                self._worker_loop.call_soon_threadsafe(self._ended.set)

    async def _wait_for_job(self) -> None:
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
    """Run the leader in a thread, if rates are on.

    ``is_leader`` is called in the worker's event loop. Failures in the thread are not raised. The thread ends
    once ``stopping`` is set, and has some seconds for that at the end of the context.
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
    """Tell the thread whether this worker leads, and when to stop."""
    # The application's state must not be read from other threads.
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
        if await thread.wait_until_ended(_SHUTDOWN_SECONDS):
            return
    thread.cancel()
    if not await thread.wait_until_ended(_SHUTDOWN_SECONDS):
        log.warning("rates_thread_abandoned")
