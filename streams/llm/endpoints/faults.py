"""The faults of asking an endpoint. None holds a text, a key or an address."""

from dataclasses import dataclass

from scoring.values.rules import Code


class EndpointFault(Code):
    """A stable code for ``Failure.code``, logs and metrics."""

    TIMEOUT = "timeout", "no answer in the time that a call may take"
    BUSY = "busy", "all calls that may be made at once were under way"
    DNS = "dns", "the name of its host is not known"
    CONNECTION_REFUSED = "connection_refused", "nothing listens at its address, or the proxy's"
    UNREACHABLE = "unreachable", "there is no connection to its address, or to the proxy"
    TLS = "tls", "it is not who it says, or speaks no TLS"
    DISCONNECTED = "disconnected", "the connection broke off, or brought no HTTP"
    #: Not gone to: nobody chose that address.
    REDIRECTED = "redirected", "it names another address"
    RATE_LIMITED = "rate_limited", "too many requests for now"
    QUOTA_SPENT = "quota_spent", "its quota or credit is spent"
    SERVER_ERROR = "server_error", "it failed by itself (HTTP 5xx)"
    UNAUTHORIZED = "unauthorized", "it refuses the key, or there is none (HTTP 401 or 403)"
    UNKNOWN_MODEL = "unknown_model", "it has no such model"
    NOT_FOUND = "not_found", "there are no chat completions at its address (HTTP 404)"
    REJECTED = "rejected", "it takes no such request"
    TOO_LONG = "too_long", "the request has more tokens than the model takes"
    FILTERED = "filtered", "a filter before the model took offence"
    UNREADABLE = "unreadable", "what it sends is no chat completion"
    TOO_LARGE = "too_large", "what it sends is larger than any reply"
    BREAKER_OPEN = "breaker_open", "it failed before, and is spared for a while"
    UNKNOWN_JUDGE = "unknown_judge", "no endpoint has this name"
    UNEXPECTED = "unexpected", "a defect, of truthgate or of a library"


def describe_code(code: str) -> str:
    """Return a code with what it means; one of another sender as it is."""
    return next((f"{fault}: {fault.description}" for fault in EndpointFault if fault == code), code)


#: Nothing was sent.
NO_CONNECTION = frozenset({EndpointFault.DNS, EndpointFault.CONNECTION_REFUSED, EndpointFault.UNREACHABLE})

#: The endpoint is at fault, whatever the request: these open the circuit breaker. One that limits rates does
#: answer, and says itself how long to stay away.
OUTAGES = frozenset(
    {
        EndpointFault.TIMEOUT,
        *NO_CONNECTION,
        EndpointFault.TLS,
        EndpointFault.DISCONNECTED,
        EndpointFault.REDIRECTED,
        EndpointFault.SERVER_ERROR,
        EndpointFault.QUOTA_SPENT,
        EndpointFault.UNAUTHORIZED,
        EndpointFault.UNKNOWN_MODEL,
        EndpointFault.NOT_FOUND,
        EndpointFault.UNREADABLE,
        EndpointFault.TOO_LARGE,
        EndpointFault.UNEXPECTED,
    }
)

#: Trying again may help.
RETRYABLE_FAULTS = frozenset(
    {
        EndpointFault.TIMEOUT,
        *NO_CONNECTION,
        EndpointFault.DISCONNECTED,
        EndpointFault.RATE_LIMITED,
        EndpointFault.SERVER_ERROR,
        EndpointFault.UNREADABLE,
    }
)


@dataclass(frozen=True, slots=True)
class NoReply:
    """That no reply came, and why.

    A value and no exception: those of libraries hold the request, and go along with every other that is
    raised while they are handled.

    Attributes:
        fault: what is wrong.
        retry_after: the seconds for which the endpoint wants to be left alone, if it says so.
        named: parameters of a request that the endpoint names while it refuses it.
    """

    fault: EndpointFault
    retry_after: float | None = None
    rejected_parameters: frozenset[str] = frozenset()
