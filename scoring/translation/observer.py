"""The observer of translating, told of it beside the work."""

from __future__ import annotations

from scoring.breaker import BreakerState
from scoring.translation.errors import Fault


class Observer:
    """Hears what happens, and ignores what no subclass of it makes use of.

    Called from several threads; must return at once.
    """

    def ended(self, outcome: str, seconds: float) -> None:
        """An exchange was translated, or not: how that ended, and the seconds that it waited."""

    def called(self, outcome: str, seconds: float) -> None:
        """One HTTP call ended: ``translated`` or the code of a fault."""

    def looked_up(self, hits: int, misses: int) -> None:
        """So many sentences were in the cache, so many were not."""

    def breaker_became(self, state: BreakerState) -> None:
        """The circuit breaker changed its state."""

    def cache_failed(self, error: str) -> None:
        """The cache could not be read or written; ``error`` is SQLite's name of it."""

    def document_failed(self, document_id: str, fault: Fault) -> None:
        """A document could not be translated, and it is the document's doing; told once in a while."""
