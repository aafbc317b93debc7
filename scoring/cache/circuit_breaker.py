"""The circuit breaker: no calls to a service that is down, and one trial call after a pause."""

import threading
import time
from collections.abc import Callable
from enum import StrEnum


class BreakerState(StrEnum):
    """``closed``: calls go through. ``open``: none does. ``half_open``: one is trying."""

    CLOSED = "closed"
    HALF_OPEN = "half_open"
    OPEN = "open"


class CircuitBreaker:
    """Opens after failures in a row, and lets one call try after a while; its success closes it.

    Safe for use by several threads. There are libraries for this; those seen let every waiting call
    try at once when half open, and read the wall clock.

    Args:
        failures: how many failures in a row open it.
        reset_after: seconds for which it then stays open, and that a trying call has to report.
        on_change: called with the new state at each change of it.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        failure_threshold: int,
        reset_timeout: float,
        on_change: Callable[[BreakerState], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._threshold = failure_threshold
        self._reset_after = reset_timeout
        self._on_change = on_change
        self._clock = clock
        self._lock = threading.Lock()
        self._state = BreakerState.CLOSED
        self._failures = 0
        self._since = self._answered_at = clock()

    @property
    def state(self) -> BreakerState:
        """The present state."""
        return self._state

    @property
    def is_rejecting(self) -> bool:
        """Whether a call would not be let through now; asking changes nothing."""
        return self._state is not BreakerState.CLOSED and not self._is_reset_due

    def allow_call(self) -> bool:
        """Say whether a call may go through; every call that may must report how it ended."""
        with self._lock:
            if self._state is BreakerState.CLOSED:
                return True
            if not self._is_reset_due:
                return False
            self._set_state(BreakerState.HALF_OPEN)
            return True

    def record_success(self) -> None:
        """Report that a call was answered."""
        with self._lock:
            self._failures = 0
            self._answered_at = self._clock()
            if self._state is BreakerState.HALF_OPEN:
                self._set_state(BreakerState.CLOSED)

    def record_failure(self) -> None:
        """Report that a call was not answered."""
        with self._lock:
            self._count_failure()

    def record_timeout(self, seconds: float) -> None:
        """Report that work ended after so many ``seconds`` without what it asked for.

        That is a failure only if no call at all was answered in that time: otherwise the service
        has more to do than it can, and stopping for a while would not help it.
        """
        with self._lock:
            if self._clock() - self._answered_at >= seconds:
                self._count_failure()

    def _count_failure(self) -> None:
        self._failures += 1
        trying = self._state is BreakerState.HALF_OPEN
        if trying or (self._state is BreakerState.CLOSED and self._failures >= self._threshold):
            self._set_state(BreakerState.OPEN)

    @property
    def _is_reset_due(self) -> bool:
        return self._clock() - self._since >= self._reset_after

    def _set_state(self, state: BreakerState) -> None:
        changed = state is not self._state
        self._state, self._since = state, self._clock()
        if changed:
            self._on_change(state)
