"""The faults of an endpoint, and the HTTP statuses that mean them. None holds a text, a key or an address."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from scoring.values.rules import Code


class EndpointFault(Code):
    """A stable code for ``Failure.code``, logs and metrics."""

    TIMEOUT = "timeout", "no response within the timeout of a call"
    BUSY = "busy", "as many calls as are allowed at once were under way until the deadline"
    DNS = "dns", "its host name cannot be resolved"
    CONNECTION_REFUSED = "connection_refused", "nothing listens at its address, or at the proxy's"
    UNREACHABLE = "unreachable", "no connection to its address, or to the proxy"
    TLS = "tls", "its certificate is not trusted, or it does not speak TLS"
    DISCONNECTED = "disconnected", "the connection broke, or the response is not HTTP"
    #: Not followed: that address is not configured.
    REDIRECTED = "redirected", "it redirects to another address"
    RATE_LIMITED = "rate_limited", "too many requests"
    QUOTA_SPENT = "quota_spent", "the quota or credit is spent"
    SERVER_ERROR = "server_error", "it failed (HTTP 5xx)"
    UNAUTHORIZED = "unauthorized", "the key is missing or refused (HTTP 401 or 403)"
    UNKNOWN_MODEL = "unknown_model", "it has no such model"
    NOT_FOUND = "not_found", "no chat completions at its address (HTTP 404)"
    REJECTED = "rejected", "it rejects the request"
    TOO_LONG = "too_long", "the request has more tokens than the model takes"
    FILTERED = "filtered", "a content filter rejected the request"
    UNREADABLE = "unreadable", "the response is not a chat completion"
    TOO_LARGE = "too_large", "the response is larger than any reply"
    BREAKER_OPEN = "breaker_open", "it failed before, and is not called for a while"
    UNEXPECTED = "unexpected", "a defect in truthgate or in a library"


def describe_code(code: str) -> str:
    """Return a code with its meaning; an unknown code is returned as it is."""
    return next((f"{fault}: {fault.description}" for fault in EndpointFault if fault == code), code)


#: Nothing was sent.
NO_CONNECTION = frozenset({EndpointFault.DNS, EndpointFault.CONNECTION_REFUSED, EndpointFault.UNREACHABLE})

#: The endpoint is at fault, whatever the request: these open the circuit breaker. An endpoint that limits
#: rates does respond, and says how long to wait.
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

#: A retry may help.
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
    """The fault because of which no reply came.

    A value and not an exception: exceptions of libraries hold the request, and are chained to every other one
    that is raised while they are handled.

    Attributes:
        fault: what is wrong.
        retry_after: the seconds after which the endpoint may be called again, if it says so.
        rejected_parameters: those that the endpoint names as it rejects a request.
    """

    fault: EndpointFault
    retry_after: float | None = None
    rejected_parameters: frozenset[str] = frozenset()


#: Error messages are shorter; a whole request that is quoted back need not be searched.
_MAX_READ_BYTES = 20_000

_PARAMETERS = re.compile(
    r"\b(response_format|json_schema|json_object|logprobs|top_logprobs|seed|temperature"
    r"|max_tokens|max_completion_tokens)\b"
)
# The codes of OpenAI and llama.cpp, and what vLLM and others write.
_TOO_LONG = re.compile(r"context_length_exceeded|exceed_context_size|context[ _](length|size|window)")
_QUOTA_SPENT = re.compile(r"insufficient_quota|exceeded your current quota|credit balance|billing")
_NO_MODEL = re.compile(r"model_not_found|model[^{}]{1,200}(?:not found|does not exist)")
_FILTERED = re.compile(r"content_filter|content_policy_violation")

_REDIRECTS = range(300, 400)
_BAD_REQUEST, _FORBIDDEN, _NOT_FOUND, _TOO_LARGE, _UNPROCESSABLE = 400, 403, 404, 413, 422
_TOO_MANY, _NOT_IMPLEMENTED = 429, 501
#: Statuses that reject a parameter; OpenAI answers 403 where a model has no log probabilities.
_REJECTING_STATUSES = frozenset({_BAD_REQUEST, _FORBIDDEN, _UNPROCESSABLE, _NOT_IMPLEMENTED})
_FAULT_BY_STATUS = {
    401: EndpointFault.UNAUTHORIZED,
    402: EndpointFault.QUOTA_SPENT,
    _FORBIDDEN: EndpointFault.UNAUTHORIZED,
    _NOT_FOUND: EndpointFault.NOT_FOUND,
    405: EndpointFault.NOT_FOUND,
    407: EndpointFault.UNAUTHORIZED,
    408: EndpointFault.TIMEOUT,
    410: EndpointFault.NOT_FOUND,
    _TOO_LARGE: EndpointFault.TOO_LONG,
    _TOO_MANY: EndpointFault.RATE_LIMITED,
}
_CLIENT_ERRORS = range(400, 500)


def no_reply_from_status(status: int, headers: Mapping[str, str], body: bytes) -> NoReply:
    """Return the meaning of a status other than 2xx, with the rejected parameters and the time to wait."""
    message = body[:_MAX_READ_BYTES].decode("utf-8", "replace").casefold()
    if status in _REJECTING_STATUSES:
        if _FILTERED.search(message):
            return NoReply(EndpointFault.FILTERED)
        if _TOO_LONG.search(message):
            return NoReply(EndpointFault.TOO_LONG)
        named = frozenset(_PARAMETERS.findall(message))
        if named or status in {_BAD_REQUEST, _UNPROCESSABLE}:
            return NoReply(EndpointFault.REJECTED, rejected_parameters=named)
    if status == _NOT_FOUND and _NO_MODEL.search(message):
        return NoReply(EndpointFault.UNKNOWN_MODEL)
    if status == _TOO_MANY and _QUOTA_SPENT.search(message):
        return NoReply(EndpointFault.QUOTA_SPENT)
    other = EndpointFault.REJECTED if status in _CLIENT_ERRORS else EndpointFault.SERVER_ERROR
    fault = EndpointFault.REDIRECTED if status in _REDIRECTS else _FAULT_BY_STATUS.get(status, other)
    return NoReply(fault, retry_after(headers, datetime.now(UTC)))


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that ``Retry-After`` asks for (RFC 9110, 10.2.3), or None if there are none."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    return seconds if 0 <= seconds < math.inf else None
