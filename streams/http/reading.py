"""From a request to the answer that is to be judged, or to the problem with it."""

from __future__ import annotations

import hmac

from aiohttp import web

from schemas import ChatbotAnswer, DecodeError
from schemas.validation import from_json
from streams.http.problems import (
    BODY_TOO_LARGE,
    INCOMPLETE_BODY,
    INVALID_JSON,
    INVALID_RECORD,
    UNAUTHORIZED,
    UNKNOWN_FIELD,
    UNSUPPORTED_MEDIA_TYPE,
    Problem,
)

_JSON = "application/json"
_SCHEME = "bearer"
#: Of fields that are none so many are named, each by so many characters: what the sender has, it knows.
_FIELDS_NAMED = 3
_CHARACTERS_NAMED = 100


def check_token(request: web.Request, token: str | None) -> None:
    """Raise Problem where a token is needed and another one, or none, was sent; None: none is needed.

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
    """Raise Problem unless the body is said to be JSON as it is, in UTF-8."""
    given = request.content_type if "Content-Type" in request.headers else "nothing"
    if given != _JSON or (request.charset or "utf-8").lower() not in {"utf-8", "utf8"}:
        raise Problem(UNSUPPORTED_MEDIA_TYPE, f"Content-Type should be {_JSON}")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Problem(UNSUPPORTED_MEDIA_TYPE, "a body with a Content-Encoding is not read")


async def read_body(request: web.Request, most_bytes: int) -> bytes:
    """Return the body; raises Problem where it is too large or does not come to its end."""
    body = bytearray()
    if (request.content_length or 0) <= most_bytes:
        try:
            async for part in request.content.iter_any():
                body += part
                if len(body) > most_bytes:
                    break
            else:
                return bytes(body)
        except TimeoutError:
            raise
        except Exception as error:  # whatever the parser or the connection ended with
            raise Problem(INCOMPLETE_BODY, "the request ended early, or is no HTTP") from error
    raise Problem(BODY_TOO_LARGE, f"{most_bytes} bytes are read (web.verdicts.max_body_bytes)")


def read_answer(body: bytes) -> ChatbotAnswer:
    """Return the answer that a body holds.

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
