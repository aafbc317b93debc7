"""The pipe to a scoring process, in the event loop."""

import asyncio
import os
import pickle
import socket
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, cast

from scoring.values.scored_answer import ScoredAnswer
from streams.scorers.scoring_process import (
    BatchParsed,
    BatchStarted,
    PipelineLoading,
    ScoringFailed,
    ScoringRequest,
)

ScoringOutcome = ScoredAnswer | ScoringFailed

#: The length of a message as multiprocessing writes it; no message here needs its longer form.
_LENGTH = struct.Struct("!i")

#: How long loading a pipeline for an answer may take: as long as at the start of a process.
_LOADING_SECONDS = 120.0


class PipeClosed(Exception):
    """The process is gone.

    ``was_started``: whether it was scoring this answer by itself. ``in_batch``: whether it was parsing this
    answer together with others, each of which may be the cause.
    """

    def __init__(self, *, was_started: bool = False, in_batch: bool = False) -> None:
        super().__init__()
        self.was_started = was_started
        self.in_batch = in_batch


class LoadingTimeout(Exception):
    """A pipeline that an answer needed was not loaded in time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """One exchange that was sent, its outcome, and a callback for when the process has finished with it."""

    outcome: asyncio.Future[ScoringOutcome]
    on_done: Callable[[], None]


class ScoringPipe(asyncio.Protocol):
    """Sends exchanges to a scoring process, which scores them in order, and receives the results.

    Several may be sent at once: the process parses those that wait together, and never waits for the event
    loop. The timeout applies to the parse of such a batch, and then to its first answer, and so on.

    Args:
        timeout: seconds that scoring one answer, or parsing a batch, may take, without pipelines loaded on
            demand.
        kill: kills the process; called when scoring takes too long.
        on_lost: called once when the process is gone, with whether it had ever scored or had work.
    """

    def __init__(self, timeout: float, kill: Callable[[], None], on_lost: Callable[[bool], None]) -> None:
        self._timeout = timeout
        self._end_process = kill
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.WriteTransport | None = None
        self._jobs: deque[_Job] = deque()
        #: How many of the first answers are being parsed together; 0 while one is scored by itself.
        self.batched = 0
        self._received = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._is_loading = False
        self._is_killed = False
        self._has_answered = False

    async def open(self, connection: Connection) -> None:
        """Open the pipe to a process that has started."""
        with connection:
            end = socket.socket(fileno=os.dup(connection.fileno()))
        await self._loop.create_unix_connection(lambda: self, sock=end)

    @property
    def is_open(self) -> bool:
        """Whether the pipe to the process is open."""
        return self._transport is not None

    async def score(self, request: ScoringRequest, on_done: Callable[[], None]) -> ScoringOutcome:
        """Score one exchange after those sent before it.

        ``on_done`` is called once, when the process has finished with it or never got it, which may be after
        this call was cancelled.

        Raises:
            TimeoutError: scoring took too long; the process is killed.
            LoadingTimeout: loading a pipeline for it took too long.
            PipeClosed: the process has died.
        """
        if self._transport is None:
            on_done()
            raise PipeClosed
        try:
            # First: a request that cannot be pickled must not enter the queue.
            content = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
            message = _LENGTH.pack(len(content)) + content
        except BaseException:
            on_done()
            raise
        job = _Job(self._loop.create_future(), on_done)
        self._jobs.append(job)
        if len(self._jobs) == 1:
            self._start_timer(self._timeout)
        self._transport.write(message)
        # If the caller is cancelled, the process goes on and the result is dropped: an overloaded worker
        # gives up answers all the time, and would be slower still if each took a process with it.
        return await job.outcome

    def close(self) -> None:
        """Close this end; outstanding exchanges fail as if the process had died."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, to write to."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - whatever it was, the process is gone
        """Fail outstanding exchanges: the first was being scored, or those of a batch were being parsed."""
        self._transport = None
        self._stop_timer()
        was_of_use = self._has_answered or bool(self._jobs)
        # The exchange that it was killed for has failed already; the others are not the cause.
        was_started = not self._is_killed and not self.batched
        for index, job in enumerate(self._jobs):
            if not job.outcome.done():
                closed = PipeClosed(was_started=was_started and index == 0, in_batch=index < self.batched)
                job.outcome.set_exception(closed)
            job.on_done()
        self._jobs.clear()
        self._on_lost(was_of_use)

    def data_received(self, data: bytes) -> None:
        """Handle each complete message."""
        self._received += data
        try:
            while (message := self._next_message()) is not None:
                self._handle(pickle.loads(message))  # noqa: S301 - written by our own process
        except Exception:
            self._kill()  # the boundaries of further messages are lost
            raise

    def _next_message(self) -> bytes | None:
        if len(self._received) < _LENGTH.size:
            return None
        end = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
        if len(self._received) < end:
            return None
        message = bytes(self._received[_LENGTH.size : end])
        del self._received[:end]
        return message

    def _handle(self, message: Any) -> None:
        if not self._jobs:
            raise ValueError("a scoring process sent a result without a request")
        if isinstance(message, PipelineLoading):
            self._is_loading = True
            self._start_timer(_LOADING_SECONDS)
        elif isinstance(message, BatchStarted):
            self.batched = message.answers
            self._start_timer(self._timeout)
        elif isinstance(message, BatchParsed):
            self.batched = 0
            self._start_timer(self._timeout)
        elif message is None:
            self._is_loading = False
            self._start_timer(self._timeout)
        else:
            self._finish(message)

    def _finish(self, outcome: ScoringOutcome) -> None:
        self._has_answered = True
        self._stop_timer()
        job = self._jobs.popleft()
        if self._jobs:
            self._start_timer(self._timeout)
        if not job.outcome.done():
            job.outcome.set_result(outcome)
        job.on_done()

    def _start_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self._loop.call_later(seconds, self._on_timeout)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_timeout(self) -> None:
        outcome = self._jobs[0].outcome
        # In a batch none is known to be the cause: each is tried again by itself.
        if not outcome.done() and (self._is_loading or not self.batched):
            outcome.set_exception(LoadingTimeout() if self._is_loading else TimeoutError())
        self._kill()

    def _kill(self) -> None:
        self._is_killed = True
        self._end_process()
