"""The times that the parts of assessing an answer take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter_ns, time_ns

from scoring.values.assessment import Timing


class Stopwatch:
    """Takes the times of parts, in order, on a clock that starts as the system's and never goes back.

    One that is not ``running`` takes none.
    """

    def __init__(self, *, running: bool = True) -> None:
        self._running = running
        self._ahead = time_ns() - perf_counter_ns()
        self._taken: list[Timing] = []

    @property
    def timings(self) -> tuple[Timing, ...]:
        """What has been taken so far."""
        return tuple(self._taken)

    def part(self, name: str) -> AbstractContextManager[None]:
        """Take the time of what is inside."""
        return self._taking(name) if self._running else nullcontext()

    @contextmanager
    def _taking(self, name: str) -> Iterator[None]:
        began = perf_counter_ns()
        try:
            yield
        finally:
            self._taken.append(Timing(name, began + self._ahead, perf_counter_ns() + self._ahead))
