"""Requests for verdicts over HTTP, and the problems they are answered with (RFC 9457)."""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

from schemas import ChatbotAnswer, DecodeError
from schemas.validation import from_json

MEDIA_TYPE: Final = "application/problem+json"
_TYPE: Final = "urn:truthgate:problem:"
#: Places are free again within the time of an answer, which takes milliseconds.
_SOON: Final = {"Retry-After": "1"}
#: What starts needs seconds, and what stops is not back sooner.
_LATER: Final = {"Retry-After": "5"}


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A kind of problem: its stable code, the status, and what it is in a sentence."""

    code: str
    status: int
    title: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """The URI that identifies it; it does not resolve to a document."""
        return f"{_TYPE}{self.code}"


INVALID_JSON: Final = ProblemType("invalid_json", 400, "The body is not a JSON object in UTF-8.")
INCOMPLETE_BODY: Final = ProblemType("incomplete_body", 400, "The body is incomplete.")
UNAUTHORIZED: Final = ProblemType(
    "unauthorized", 401, "Missing or invalid token.", {"WWW-Authenticate": "Bearer"}
)
NOT_FOUND: Final = ProblemType("not_found", 404, "There is nothing at this path.")
METHOD_NOT_ALLOWED: Final = ProblemType("method_not_allowed", 405, "This path does not support the method.")
BODY_TIMEOUT: Final = ProblemType(
    "body_timeout", 408, "The body did not arrive in time.", {"Connection": "close"}
)
BODY_TOO_LARGE: Final = ProblemType("body_too_large", 413, "The body is too large.")
UNSUPPORTED_MEDIA_TYPE: Final = ProblemType(
    "unsupported_media_type",
    415,
    "The content type is not uncompressed JSON.",
    {"Accept-Post": "application/json", "Accept-Encoding": "identity"},
)
INVALID_RECORD: Final = ProblemType("invalid_record", 422, "A field is missing or has an invalid value.")
UNKNOWN_FIELD: Final = ProblemType("unknown_field", 422, "There are unknown fields.")
TOO_MANY_IN_FLIGHT: Final = ProblemType(
    "too_many_in_flight", 429, "The maximum number of answers is being judged.", _SOON
)
NOT_JUDGED: Final = ProblemType("not_judged", 500, "This answer can never be judged: do not send it.")
INTERNAL_ERROR: Final = ProblemType("internal_error", 500, "Internal error: do not send the answer.")
NOT_READY: Final = ProblemType(
    "not_ready", 503, "The service is starting, stopping, or can no longer judge.", _LATER
)
NOT_PUBLISHED: Final = ProblemType(
    "not_published", 503, "Kafka does not accept the verdict: do not send the answer; retry.", _LATER
)

#: All of them, in the order above, which is that of their status.
PROBLEM_TYPES: Final = tuple(each for each in tuple(globals().values()) if isinstance(each, ProblemType))


class Problem(Exception):
    """A request without a verdict, as problem details (RFC 9457).

    Args:
        problem_type: what is wrong.
        detail: what is wrong in this request; it names fields and sizes, but never a value of a field.
        headers: in addition to those of the type.
    """

    def __init__(
        self, problem_type: ProblemType, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(problem_type.code)
        self.problem_type = problem_type
        self.detail = detail
        self._headers = {**problem_type.headers, **(headers or {})}

    def response(self) -> web.Response:
        """Return the response."""
        kind = self.problem_type
        details = {
            "type": kind.uri,
            "title": kind.title,
            "status": kind.status,
            "detail": self.detail,
            "code": kind.code,
        }
        return web.Response(
            status=kind.status,
            body=json.dumps(details).encode(),
            content_type=MEDIA_TYPE,
            headers={"Cache-Control": "no-store", **self._headers},
        )


API_PREFIX: Final = "/v1/"
VERDICTS_PATH: Final = f"{API_PREFIX}verdicts"
OPENAPI_PATH: Final = f"{API_PREFIX}openapi.json"

_JSON = "application/json"
_SCHEME = "bearer"
#: Of fields that are none so many are named, each by so many characters: what the sender has, it knows.
_FIELDS_NAMED = 3
_CHARACTERS_NAMED = 100


def check_token(request: web.Request, token: str | None) -> None:
    """Raise Problem if the required token is missing or wrong; None: no token is required.

    How long it takes does not tell how much of a token is right.
    """
    if token is None:
        return
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != _SCHEME:
        raise Problem(UNAUTHORIZED, "Authorization: Bearer and the token are needed")
    if not hmac.compare_digest(sent.strip().encode("utf-8", "surrogateescape"), token.encode()):
        raise Problem(UNAUTHORIZED, "the token is another one")


def check_media_type(request: web.Request) -> None:
    """Raise Problem unless the headers declare the body as uncompressed JSON in UTF-8."""
    given = request.content_type if "Content-Type" in request.headers else "nothing"
    if given != _JSON or (request.charset or "utf-8").lower() not in {"utf-8", "utf8"}:
        raise Problem(UNSUPPORTED_MEDIA_TYPE, f"Content-Type should be {_JSON}")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Problem(UNSUPPORTED_MEDIA_TYPE, "a body with a Content-Encoding is not read")


async def read_body(request: web.Request, max_bytes: int) -> bytes:
    """Return the body; raises Problem if it is too large or incomplete."""
    body = bytearray()
    if (request.content_length or 0) <= max_bytes:
        try:
            async for part in request.content.iter_any():
                body += part
                if len(body) > max_bytes:
                    break
            else:
                return bytes(body)
        except TimeoutError:
            raise
        except Exception as error:  # whatever the parser or the connection ended with
            raise Problem(INCOMPLETE_BODY, "the request ended early, or is no HTTP") from error
    raise Problem(BODY_TOO_LARGE, f"{max_bytes} bytes are read (encoding.max_value_bytes)")


def read_answer(body: bytes) -> ChatbotAnswer:
    """Return the answer in a body.

    The record is that of the topic ``answers`` with JSON values. But a sender that waits for the reply can
    hear of it, so fields that an answer does not have are refused and not ignored.

    Raises:
        Problem: what is wrong with it.
    """
    unknown: list[str] = []
    try:
        answer = from_json(body, ChatbotAnswer, ChatbotAnswer, unknown.append)
    except DecodeError as error:
        raise Problem(INVALID_RECORD if error.stage == "validate" else INVALID_JSON, error.detail) from None
    if unknown:
        raise Problem(UNKNOWN_FIELD, _named(unknown))
    return answer


def _named(fields: list[str]) -> str:
    named = ", ".join(field[:_CHARACTERS_NAMED] for field in fields[:_FIELDS_NAMED])
    more = f" and {len(fields) - _FIELDS_NAMED} more" if len(fields) > _FIELDS_NAMED else ""
    return f"{named}{more}: no field of an answer; what is your own goes into metadata"
