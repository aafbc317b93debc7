"""Errors of translation, and their observer. None holds a text or an address with one in it."""

from enum import StrEnum

from scoring.cache.circuit_breaker import BreakerState


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


#: The translator is at fault, whatever the text: these open the circuit breaker.
OUTAGES = frozenset(
    {
        TranslationFault.TIMEOUT,
        TranslationFault.UNREACHABLE,
        TranslationFault.RATE_LIMITED,
        TranslationFault.SERVER_ERROR,
        TranslationFault.UNAUTHORIZED,
    }
)

#: Faults of the moment. The others come again when the same text is sent again.
TRANSIENT_FAULTS = OUTAGES | {TranslationFault.BREAKER_OPEN}

#: Trying again may help.
RETRYABLE_FAULTS = frozenset(
    {
        TranslationFault.TIMEOUT,
        TranslationFault.UNREACHABLE,
        TranslationFault.RATE_LIMITED,
        TranslationFault.SERVER_ERROR,
    }
)


class TranslationFailed(Exception):
    """A text could not be translated; ``fault`` says why."""

    def __init__(self, fault: TranslationFault) -> None:
        super().__init__(fault.value)
        self.fault = fault


class TranslatorMisconfigured(ValueError):
    """A translator cannot be made from these settings; the message is one line, without secrets."""


class TranslationObserver:
    """Hears what happens, and ignores what no subclass of it makes use of.

    Called from several threads; must return at once.
    """

    def exchange_finished(self, outcome: str, seconds: float) -> None:
        """An exchange was translated, or not: how that ended, and the seconds that it waited."""

    def call_finished(self, outcome: str, seconds: float) -> None:
        """One HTTP call ended: ``translated`` or the code of a fault."""

    def cache_looked_up(self, hits: int, misses: int) -> None:
        """So many sentences were in the cache, so many were not."""

    def breaker_changed(self, state: BreakerState) -> None:
        """The circuit breaker changed its state."""

    def cache_failed(self, error: str) -> None:
        """The cache could not be read or written; ``error`` is SQLite's name of it."""

    def document_failed(self, document_id: str, fault: TranslationFault) -> None:
        """A document could not be translated, and it is the document's doing; told once in a while."""
