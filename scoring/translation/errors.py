"""The faults of translating. No error here holds a text, nor an address with one in it."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
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
    {Fault.TIMEOUT, Fault.UNREACHABLE, Fault.RATE_LIMITED, Fault.SERVER_ERROR, Fault.UNAUTHORIZED}
)

#: Faults of the moment. The others come again when the same text is sent again.
OF_THE_MOMENT = OUTAGES | {Fault.BREAKER_OPEN}

#: Trying again may help.
PASSING = frozenset({Fault.TIMEOUT, Fault.UNREACHABLE, Fault.RATE_LIMITED, Fault.SERVER_ERROR})


class TranslationFailed(Exception):
    """A text could not be translated; ``fault`` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.value)
        self.fault = fault


class TranslatorMisconfigured(ValueError):
    """A translator cannot be made from these settings; the message is one line, without secrets."""
