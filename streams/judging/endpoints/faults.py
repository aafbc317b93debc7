"""The faults of asking an endpoint. None holds a text, a key or an address."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """A stable code for ``Failure.code``, logs and metrics."""

    #: No answer in the time that one call may take, or that was left.
    TIMEOUT = "timeout"
    #: All calls that may be made at once were under way until the time was over.
    BUSY = "busy"
    UNREACHABLE = "unreachable"
    #: The endpoint is not who it says, or speaks no TLS.
    TLS = "tls"
    #: The connection broke off, or brought no HTTP.
    DISCONNECTED = "disconnected"
    #: The endpoint names another address, which is not gone to: nobody chose it.
    REDIRECTED = "redirected"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNAUTHORIZED = "unauthorized"
    #: There is no such model, or nothing at this address.
    NOT_FOUND = "not_found"
    #: The endpoint takes no such request.
    REJECTED = "rejected"
    #: The request has more tokens than the model takes.
    TOO_LONG = "too_long"
    #: A filter before the model took offence.
    FILTERED = "filtered"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    BREAKER_OPEN = "breaker_open"
    UNKNOWN_JUDGE = "unknown_judge"
    #: A defect, of ours or of the library.
    UNEXPECTED = "unexpected"


#: The endpoint is at fault, whatever the request: these open the circuit breaker. One that limits rates does
#: answer, and says itself how long to stay away.
OUTAGES = frozenset(
    {
        Fault.TIMEOUT,
        Fault.UNREACHABLE,
        Fault.TLS,
        Fault.DISCONNECTED,
        Fault.REDIRECTED,
        Fault.SERVER_ERROR,
        Fault.UNAUTHORIZED,
        Fault.NOT_FOUND,
        Fault.UNREADABLE,
        Fault.TOO_LARGE,
        Fault.UNEXPECTED,
    }
)

#: Trying again may help.
PASSING = frozenset(
    {
        Fault.TIMEOUT,
        Fault.UNREACHABLE,
        Fault.DISCONNECTED,
        Fault.RATE_LIMITED,
        Fault.SERVER_ERROR,
        Fault.UNREADABLE,
    }
)


@dataclass(frozen=True, slots=True)
class NotAnswered:
    """That no reply came, and why.

    A value and no exception: those of libraries hold the request, and go along with every other that is
    raised while they are handled.

    Attributes:
        fault: what is wrong.
        retry_after: the seconds for which the endpoint wants to be left alone, if it says so.
        named: parameters of a request that the endpoint names while it refuses it.
    """

    fault: Fault
    retry_after: float | None = None
    named: frozenset[str] = frozenset()
