"""The observer of endpoints, told of what changes beside the work."""

from __future__ import annotations

from scoring.breaker import BreakerState
from streams.judging.endpoints.faults import Fault
from streams.judging.endpoints.parameters import Accepted


class Observer:
    """Hears what changes, and ignores what no subclass of it makes use of; must return at once.

    ``judge`` is what the settings call the endpoint.
    """

    def failed(self, judge: str, fault: Fault) -> None:
        """A call brought no reply."""

    def breaker_became(self, judge: str, state: BreakerState) -> None:
        """The circuit breaker changed its state."""

    def accepts_only(self, judge: str, accepted: Accepted) -> None:
        """The endpoint refuses parameters, and takes these."""
