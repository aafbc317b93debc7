"""Errors of translation and their observer; none contains a text, or an address with one in it."""

from enum import StrEnum

from scoring.cache.call_guards import BreakerState


class TranslationFault(StrEnum):
    """A stable code for logs and metrics."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNAUTHORIZED = "unauthorized"
    BREAKER_OPEN = "breaker_open"
    UNSUPPORTED_LANGUAGE = "unsupported_language"
    REFUSED = "refused"
    TOO_LONG = "too_long"
    NOT_TEXT = "not_text"
    EMPTY = "empty"
    WRONG_LENGTH = "wrong_length"
    NUMBERS_LOST = "numbers_lost"
    MARKS_LOST = "marks_lost"
    NOT_ENGLISH = "not_english"


#: A retry may succeed.
RETRYABLE_FAULTS = frozenset(
    {
        TranslationFault.TIMEOUT,
        TranslationFault.UNREACHABLE,
        TranslationFault.RATE_LIMITED,
        TranslationFault.SERVER_ERROR,
    }
)

#: Faults of the provider, whatever the text: these open the circuit breaker.
OUTAGES = RETRYABLE_FAULTS | {TranslationFault.UNAUTHORIZED}

#: Temporary faults. The others recur for the same text.
TRANSIENT_FAULTS = OUTAGES | {TranslationFault.BREAKER_OPEN}


class TranslationFailed(Exception):
    """A text could not be translated; ``fault`` says why."""

    def __init__(self, fault: TranslationFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


class TranslatorMisconfigured(ValueError):
    """A translator cannot be created from its settings; the message is one line, without secrets."""


class TranslationObserver:
    """Observes translation; ignores every event that a subclass does not override.

    Called from several threads; must return at once.
    """

    def exchange_finished(self, outcome: str, seconds: float) -> None:
        """An exchange was translated, or failed: the outcome, and the seconds that it waited."""

    def call_finished(self, outcome: str, seconds: float) -> None:
        """An HTTP call ended: ``translated`` or the code of a fault."""

    def cache_looked_up(self, hits: int, misses: int) -> None:
        """Sentences were looked up in the cache."""

    def breaker_changed(self, state: BreakerState) -> None:
        """The circuit breaker changed its state."""

    def cache_failed(self, error: str) -> None:
        """The cache could not be read or written; ``error`` is SQLite's error name."""

    def document_failed(self, document_id: str, fault: TranslationFault) -> None:
        """A document has a permanent fault; reported at most once per retry interval."""
