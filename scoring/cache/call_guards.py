"""Guards for calls: a circuit breaker for services that are down, and one computation per key at a time."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar


class BreakerState(StrEnum):
    """``closed``: calls pass. ``open``: none passes. ``half_open``: one trial call is out."""

    CLOSED = "closed"
    HALF_OPEN = "half_open"
    OPEN = "open"


class CircuitBreaker:
    """Opens after consecutive failures and admits one trial call after a pause; its success closes it.

    Thread-safe. The libraries for this that were examined admit every waiting call when half open, and read
    the wall clock.

    Args:
        failure_threshold: consecutive failures that open it.
        reset_timeout: seconds that it stays open, and the time limit for a trial call to report.
        on_change: called with each new state.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        failure_threshold: int,
        reset_timeout: float,
        on_change: Callable[[BreakerState], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._threshold = failure_threshold
        self._reset_timeout = reset_timeout
        self._on_change = on_change
        self._clock = clock
        self._lock = threading.Lock()
        self._state = BreakerState.CLOSED
        self._failures = 0
        self._since = self._answered_at = clock()

    @property
    def state(self) -> BreakerState:
        """The current state."""
        return self._state

    @property
    def is_rejecting(self) -> bool:
        """Whether a call would be rejected now; reading it changes nothing."""
        is_reset_due = self._clock() - self._since >= self._reset_timeout
        return self._state is not BreakerState.CLOSED and not is_reset_due

    def allow_call(self) -> bool:
        """Return whether a call may pass; every call that passes must report its outcome."""
        with self._lock:
            if self.is_rejecting:
                return False
            if self._state is not BreakerState.CLOSED:
                self._set_state(BreakerState.HALF_OPEN)
            return True

    def record_success(self) -> None:
        """Report a call that succeeded."""
        with self._lock:
            self._failures = 0
            self._answered_at = self._clock()
            if self._state is BreakerState.HALF_OPEN:
                self._set_state(BreakerState.CLOSED)

    def record_failure(self) -> None:
        """Report a call that failed."""
        with self._lock:
            self._count_failure()

    def record_timeout(self, seconds: float) -> None:
        """Report work that timed out after ``seconds``.

        It counts as a failure only if no call succeeded in that time: otherwise the service is overloaded,
        and rejecting calls would not help.
        """
        with self._lock:
            if self._clock() - self._answered_at >= seconds:
                self._count_failure()

    def _count_failure(self) -> None:
        self._failures += 1
        is_trial = self._state is BreakerState.HALF_OPEN
        if is_trial or (self._state is BreakerState.CLOSED and self._failures >= self._threshold):
            self._set_state(BreakerState.OPEN)

    def _set_state(self, state: BreakerState) -> None:
        changed = state is not self._state
        self._state, self._since = state, self._clock()
        if changed:
            self._on_change(state)


T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiters: int = 0


class SingleFlight(Generic[T]):
    """Runs one computation per key at a time; nothing is kept afterwards."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    def is_running(self, key: Hashable) -> bool:
        """Return whether a computation for this key is running."""
        return key in self._flights

    async def run(self, key: Hashable, compute: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the result of ``compute``, or of the computation that already runs for this key.

        A cancelled waiter leaves the others waiting. Cancelling the last one cancels the computation, and
        returns when that has ended. All waiters get the exception that it raises.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(compute()))
        flight.waiters += 1
        try:
            await asyncio.wait([flight.task])
            return flight.task.result()
        finally:
            flight.waiters -= 1
            if not flight.waiters or flight.task.done():
                await self._end(key, flight)

    async def _end(self, key: Hashable, flight: _Flight[T]) -> None:
        # First of all, so that a caller that comes during the cancellation starts a new flight.
        if self._flights.get(key) is flight:
            del self._flights[key]
        if not flight.task.done():
            flight.task.cancel()
            await asyncio.wait([flight.task])
        if not flight.task.cancelled():
            flight.task.exception()  # marks it as retrieved, even without any waiter left
