"""The worker's end of the pipe to a scoring process, in the event loop: no thread waits for an answer."""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import struct
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, cast

from scoring.values.assessment import Assessment
from scoring.values.types import Exchange
from streams.judging.scoring_process import Failed, Loading

Outcome = Assessment | Failed

#: How multiprocessing writes the length of what follows; nothing that is sent here needs its longer form.
_LENGTH = struct.Struct("!i")

#: How long a pipeline may take to load for an answer: as long as at the start of a process.
_LOADING_SECONDS = 120.0


class PipeClosed(Exception):
    """The process is gone; ``begun`` tells whether it had this answer in work or still before it."""

    def __init__(self, *, begun: bool) -> None:
        super().__init__()
        self.begun = begun


class LoadingOverdue(Exception):
    """A pipeline that an answer needed was not loaded in time."""


class AssessingPipe(asyncio.Protocol):
    """Sends exchanges to a scoring process, which assesses them in order, and takes what comes back.

    Several may be sent at once, so that the process never waits for the loop: the first is in work, the
    others lie in the pipe. Time counts for the one in work alone.

    Args:
        timeout: seconds that one answer may take, without what is loaded for it on demand.
        kill: ends the process; called when the answer in work takes too long or nobody waits for it.
        on_lost: called once when the process is gone.
    """

    def __init__(self, timeout: float, kill: Callable[[], None], on_lost: Callable[[], None]) -> None:
        self._timeout = timeout
        self._kill = kill
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.WriteTransport | None = None
        self._sent: deque[asyncio.Future[Outcome]] = deque()
        self._received = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._is_loading = False
        self.done = 0
        """How many answers have come back."""

    async def open(self, connection: Connection) -> None:
        """Take over the pipe to a process that has started."""
        with connection:
            end = socket.socket(fileno=os.dup(connection.fileno()))
        await self._loop.create_unix_connection(lambda: self, sock=end)

    @property
    def is_open(self) -> bool:
        """Whether the process is there, as far as the pipe tells."""
        return self._transport is not None

    async def assess(self, exchange: Exchange, degraded: tuple[str, ...]) -> Outcome:
        """Have one exchange assessed after those before it.

        Raises:
            TimeoutError: it was in work for too long; the process is killed.
            LoadingOverdue: so it was with a pipeline that it needs.
            PipeClosed: the process has died.
        """
        if self._transport is None:
            raise PipeClosed(begun=False)
        job: asyncio.Future[Outcome] = self._loop.create_future()
        self._sent.append(job)
        if len(self._sent) == 1:
            self._begin(self._timeout)
        content = pickle.dumps((exchange, degraded), pickle.HIGHEST_PROTOCOL)
        self._transport.write(_LENGTH.pack(len(content)) + content)
        try:
            return await job
        except asyncio.CancelledError:
            # What lies in the pipe cannot be taken back; it comes to nothing when its turn is over.
            if self._sent and self._sent[0] is job:
                self._kill()
            raise

    def close(self) -> None:
        """Close this end; what was sent ends as if the process had died."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note that the pipe can be written to."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - whatever it was, the process is gone
        """End what was sent: the first was in work, the others were not begun."""
        self._transport = None
        self._stop_timer()
        for place, job in enumerate(self._sent):
            if not job.done():
                job.set_exception(PipeClosed(begun=place == 0))
        self._sent.clear()
        self._on_lost()

    def data_received(self, data: bytes) -> None:
        """Take in what the process has written, message by message."""
        self._received += data
        while (message := self._next_message()) is not None:
            self._take(pickle.loads(message))  # noqa: S301 - written by our own process

    def _next_message(self) -> bytes | None:
        if len(self._received) < _LENGTH.size:
            return None
        end = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
        if len(self._received) < end:
            return None
        message = bytes(self._received[_LENGTH.size : end])
        del self._received[:end]
        return message

    def _take(self, message: Any) -> None:
        if isinstance(message, Loading):
            self._is_loading = True
            self._begin(_LOADING_SECONDS)
        elif message is None:
            self._is_loading = False
            self._begin(self._timeout)
        else:
            self._finish(message)

    def _finish(self, outcome: Outcome) -> None:
        self.done += 1
        self._stop_timer()
        job = self._sent.popleft()
        if self._sent:
            self._begin(self._timeout)
        if not job.done():
            job.set_result(outcome)

    def _begin(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self._loop.call_later(seconds, self._overdue)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _overdue(self) -> None:
        job = self._sent[0]
        if not job.done():
            job.set_exception(LoadingOverdue() if self._is_loading else TimeoutError())
        self._kill()
