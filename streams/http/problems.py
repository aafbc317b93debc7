"""The problems that a request can be answered with, as JSON (RFC 9457, "Problem Details for HTTP APIs")."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

MEDIA_TYPE: Final = "application/problem+json"
_TYPE: Final = "urn:truthgate:problem:"
#: Places are free again within the time of an answer, which takes milliseconds.
_SOON: Final = {"Retry-After": "1"}
#: What starts needs seconds, and what stops is not back sooner.
_LATER: Final = {"Retry-After": "5"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: its stable code, the status, and what it is in a sentence."""

    code: str
    status: int
    title: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """The URI that names it; there is nothing to be fetched from there."""
        return f"{_TYPE}{self.code}"


INVALID_JSON: Final = Kind("invalid_json", 400, "The body is no JSON object in UTF-8.")
INCOMPLETE_BODY: Final = Kind("incomplete_body", 400, "The body ended before its end.")
UNAUTHORIZED: Final = Kind(
    "unauthorized", 401, "The token is missing or is another one.", {"WWW-Authenticate": "Bearer"}
)
NOT_FOUND: Final = Kind("not_found", 404, "There is nothing at this address.")
METHOD_NOT_ALLOWED: Final = Kind("method_not_allowed", 405, "This address does not take that method.")
BODY_TIMEOUT: Final = Kind("body_timeout", 408, "The body did not come in time.", {"Connection": "close"})
BODY_TOO_LARGE: Final = Kind("body_too_large", 413, "The body is larger than is read.")
UNSUPPORTED_MEDIA_TYPE: Final = Kind(
    "unsupported_media_type",
    415,
    "The body is no plain JSON.",
    {"Accept-Post": "application/json", "Accept-Encoding": "identity"},
)
INVALID_RECORD: Final = Kind("invalid_record", 422, "A field is missing, or has a value that it cannot have.")
UNKNOWN_FIELD: Final = Kind("unknown_field", 422, "There are fields that an answer does not have.")
TOO_MANY_IN_FLIGHT: Final = Kind("too_many_in_flight", 429, "As many are judged as may be at once.", _SOON)
NOT_JUDGED: Final = Kind("not_judged", 500, "This answer cannot be judged, now or later: do not send it.")
INTERNAL_ERROR: Final = Kind("internal_error", 500, "Something failed that should not: do not send it.")
NOT_READY: Final = Kind("not_ready", 503, "It is starting, stopping, or cannot judge any more.", _LATER)
NOT_PUBLISHED: Final = Kind(
    "not_published", 503, "Kafka does not take the verdict: do not send it, and ask again.", _LATER
)

#: All of them, in the order above, which is that of their status.
KINDS: Final = tuple(each for each in tuple(globals().values()) if isinstance(each, Kind))


class Problem(Exception):
    """A request that gets no verdict.

    Args:
        kind: what is wrong.
        detail: what it is in this request; it names fields and sizes, and never a value of a field.
        headers: beside those of the kind.
    """

    def __init__(self, kind: Kind, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(kind.code)
        self.kind = kind
        self.detail = detail
        self._headers = {**kind.headers, **(headers or {})}

    def response(self) -> web.Response:
        """Give what the client gets."""
        kind = self.kind
        told = {
            "type": kind.type,
            "title": kind.title,
            "status": kind.status,
            "detail": self.detail,
            "code": kind.code,
        }
        return web.Response(
            status=kind.status,
            body=json.dumps(told).encode(),
            content_type=MEDIA_TYPE,
            headers={"Cache-Control": "no-store", **self._headers},
        )
