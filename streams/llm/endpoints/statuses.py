"""The meaning of an HTTP status other than 2xx, and of what comes with it."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from streams.llm.endpoints.faults import Fault, NotAnswered

#: What endpoints say of an error is shorter; a whole request that is quoted back need not be searched.
_READ_BYTES = 20_000

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
_FAULTS = {
    401: Fault.UNAUTHORIZED,
    402: Fault.QUOTA_SPENT,
    _FORBIDDEN: Fault.UNAUTHORIZED,
    _NOT_FOUND: Fault.NOT_FOUND,
    405: Fault.NOT_FOUND,
    407: Fault.UNAUTHORIZED,
    408: Fault.TIMEOUT,
    410: Fault.NOT_FOUND,
    _TOO_LARGE: Fault.TOO_LONG,
    _TOO_MANY: Fault.RATE_LIMITED,
}
_CLIENT_ERRORS = range(400, 500)


def not_answered(status: int, headers: Mapping[str, str], body: bytes) -> NotAnswered:
    """Return what a status says, with the parameters that the body names and how long to wait."""
    said = body[:_READ_BYTES].decode("utf-8", "replace").casefold()
    if status in _OF_PARAMETERS:
        if _FILTERED.search(said):
            return NotAnswered(Fault.FILTERED)
        if _TOO_LONG.search(said):
            return NotAnswered(Fault.TOO_LONG)
        named = frozenset(_PARAMETERS.findall(said))
        if named or status in {_BAD_REQUEST, _UNPROCESSABLE}:
            return NotAnswered(Fault.REJECTED, named=named)
    if status == _NOT_FOUND and _NO_MODEL.search(said):
        return NotAnswered(Fault.UNKNOWN_MODEL)
    if status == _TOO_MANY and _QUOTA_SPENT.search(said):
        return NotAnswered(Fault.QUOTA_SPENT)
    return NotAnswered(_fault(status), retry_after(headers, datetime.now(UTC)))


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


def _fault(status: int) -> Fault:
    if status in _REDIRECTS:
        return Fault.REDIRECTED
    return _FAULTS.get(status, Fault.REJECTED if status in _CLIENT_ERRORS else Fault.SERVER_ERROR)
