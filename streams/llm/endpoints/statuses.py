"""The meaning of an HTTP status other than 2xx, and of what comes with it."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from streams.llm.endpoints.faults import EndpointFault, NoReply

#: What endpoints say of an error is shorter; a whole request that is quoted back need not be searched.
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
#: With these an endpoint refuses a parameter; OpenAI's forbids log probabilities of some models.
_OF_PARAMETERS = frozenset({_BAD_REQUEST, _FORBIDDEN, _UNPROCESSABLE, _NOT_IMPLEMENTED})
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
    """Return what a status says, with the parameters that the body names and how long to wait."""
    said = body[:_MAX_READ_BYTES].decode("utf-8", "replace").casefold()
    if status in _OF_PARAMETERS:
        if _FILTERED.search(said):
            return NoReply(EndpointFault.FILTERED)
        if _TOO_LONG.search(said):
            return NoReply(EndpointFault.TOO_LONG)
        named = frozenset(_PARAMETERS.findall(said))
        if named or status in {_BAD_REQUEST, _UNPROCESSABLE}:
            return NoReply(EndpointFault.REJECTED, rejected_parameters=named)
    if status == _NOT_FOUND and _NO_MODEL.search(said):
        return NoReply(EndpointFault.UNKNOWN_MODEL)
    if status == _TOO_MANY and _QUOTA_SPENT.search(said):
        return NoReply(EndpointFault.QUOTA_SPENT)
    return NoReply(_fault(status), retry_after(headers, datetime.now(UTC)))


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that ``Retry-After`` asks for (RFC 9110, 10.2.3), or None where there are none."""
    asked = headers.get("retry-after", "")
    try:
        seconds = float(asked)
    except ValueError:
        try:
            moment = parsedate_to_datetime(asked)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    return seconds if 0 <= seconds < math.inf else None


def _fault(status: int) -> EndpointFault:
    if status in _REDIRECTS:
        return EndpointFault.REDIRECTED
    return _FAULT_BY_STATUS.get(
        status, EndpointFault.REJECTED if status in _CLIENT_ERRORS else EndpointFault.SERVER_ERROR
    )
