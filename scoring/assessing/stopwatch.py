"""Notes how long the parts of judging an answer take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns, time_ns

from scoring.values.assessment import Timing


class Stopwatch:
    """Takes the times of parts, in order, on a clock that starts as the system's and never goes back."""

    def __init__(self) -> None:
        self._ahead = time_ns() - perf_counter_ns()
        self._taken: list[Timing] = []

    @property
    def timings(self) -> tuple[Timing, ...]:
        """What has been taken so far."""
        return tuple(self._taken)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Take the time of what is inside."""
        began = perf_counter_ns()
        try:
            yield
        finally:
            self._taken.append(Timing(name, began + self._ahead, perf_counter_ns() + self._ahead))
