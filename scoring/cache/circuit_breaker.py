"""A circuit breaker: no calls to a service that is down, and one trial call after a pause."""

import threading
import time
from collections.abc import Callable
from enum import StrEnum


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
