"""Ends a worker that does not get on, from a thread that a blocked event loop cannot stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from streams.failures import InfrastructureFailure
from streams.health import Health


@contextmanager
def watchdog(health: Health, interval: float, end: Callable[[InfrastructureFailure], None]) -> Iterator[None]:
    """Call ``end`` with the problem as soon as :class:`Health` names one, while the context lasts.

    Kubernetes restarts a pod whose liveness fails; this does the same where nobody probes, and
    where the event loop that would answer the probe is what hangs. ``interval`` is in seconds.
    """
    stopped = threading.Event()

    def watch() -> None:
        while not stopped.wait(interval):
            if problem := health.problem():
                end(problem)
                return

    threading.Thread(target=watch, name="watchdog", daemon=True).start()
    try:
        yield
    finally:
        stopped.set()
