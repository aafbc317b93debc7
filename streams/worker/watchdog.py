"""Ends a worker that does not get on, from a thread that a blocked event loop cannot stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Self

from streams.failures import InfrastructureFailure
from streams.health import Health


class Watchdog:
    """Calls ``end`` with the problem as soon as :class:`Health` names one.

    Kubernetes restarts a pod whose liveness fails; this does the same where nobody probes, and
    where the event loop that would answer the probe is what hangs.
    """

    def __init__(self, health: Health, interval: float, end: Callable[[InfrastructureFailure], None]) -> None:
        self._health = health
        self._interval = interval
        self._end = end
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def __enter__(self) -> Self:
        """Start watching."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop watching."""
        self._stopped.set()

    def _watch(self) -> None:
        while not self._stopped.wait(self._interval):
            if problem := self._health.problem():
                self._end(problem)
                return
