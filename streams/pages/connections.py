"""A bound on what clients can hold: so many connections, each for as long as it gets on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aiohttp.web import RequestHandler

MOST_CONNECTIONS = 512
PATIENCE_SECONDS = 30.0


class Connections:
    """Makes the server's ends of connections, and ends those that only take up room.

    A client that sends no whole request, or does not read its answer, within ``patience`` seconds
    is cut off. Where there are too many, the one that has been quiet for longest makes room for
    the next: a probe always gets in. One whose request is at work here waits for us, and is left alone.

    Args:
        make: makes the server's end of a connection.
        most: how many there may be at once.
        patience: seconds without a request after which a connection is cut off.
        clock: monotonic, in seconds.
    """

    def __init__(
        self,
        make: Callable[[], RequestHandler],
        most: int = MOST_CONNECTIONS,
        patience: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._make = make
        self._most = most
        self._patience = patience
        self._clock = clock
        self._heard_at: dict[RequestHandler, float] = {}  # the quietest first
        self._at_work: set[RequestHandler] = set()

    def open(self) -> RequestHandler:
        """Make one more."""
        while len(self._heard_at) >= self._most:
            waiting = (each for each in self._heard_at if each not in self._at_work)
            self._cut_off(next(waiting, next(iter(self._heard_at))))
        connection = self._make()
        self._heard_at[connection] = self._clock()
        return connection

    def heard(self, connection: RequestHandler) -> None:
        """Note that a whole request came in."""
        if self._heard_at.pop(connection, None) is not None:
            self._heard_at[connection] = self._clock()

    @contextmanager
    def at_work(self, connection: RequestHandler) -> Iterator[None]:
        """Leave a connection alone while its request is at work, for which something else sets a limit."""
        self.heard(connection)
        self._at_work.add(connection)
        try:
            yield
        finally:
            self._at_work.discard(connection)
            self.heard(connection)

    def sweep(self) -> None:
        """Cut off those that have been quiet for too long, and forget those that are gone."""
        now = self._clock()
        for connection, heard_at in list(self._heard_at.items()):
            if now - heard_at > self._patience and connection not in self._at_work:
                self._cut_off(connection)
            elif connection.transport is None and now > heard_at:
                del self._heard_at[connection]

    def _cut_off(self, connection: RequestHandler) -> None:
        del self._heard_at[connection]
        if connection.transport is not None:
            connection.transport.abort()
