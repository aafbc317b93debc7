"""The OpenAPI document of `POST /v1/verdicts`."""

from importlib.metadata import version
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from schemas import ChatbotAnswer, Verdict
from schemas.json_schema import json_schemas
from streams.settings import VerdictSettings
from streams.web.verdict_requests import (
    MEDIA_TYPE,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    PROBLEM_TYPES,
    UNAUTHORIZED,
    VERDICTS_PATH,
    ProblemType,
)

_SCHEMAS: Final = "#/components/schemas/"
#: Problems of paths and methods that are not in the document, so it cannot describe them.
_ELSEWHERE: Final = (NOT_FOUND, METHOD_NOT_ALLOWED)

_EXAMPLE: Final = {
    "answer_id": "a-1",
    "conversation_id": "c-1",
    "question": "Can I send an invoice by e-mail?",
    "answer": "Yes, click **Send**.",
    "produced_at": "2026-03-02T09:15:00Z",
    "context": [{"document_id": "invoices", "text": "Click **Send** to mail the invoice."}],
    "language": "en",
}

_PROBLEM: Final = {
    "type": "object",
    "description": "Why there is no verdict (RFC 9457). The answer is not to be sent then.",
    "properties": {
        "type": {"type": "string", "format": "uri", "description": "Names the kind; nothing is there."},
        "title": {"type": "string", "description": "What kind of problem it is."},
        "status": {"type": "integer", "description": "The status of the response."},
        "detail": {"type": "string", "description": "What it is in this request."},
        "code": {"type": "string", "description": "The kind, as a stable code."},
    },
    "required": ["type", "title", "status", "detail", "code"],
}


def openapi_document(settings: VerdictSettings, max_in_flight: int, max_body_bytes: int) -> dict[str, Any]:
    """Return the document for a service with these settings, as OpenAPI 3.1 has it.

    It judges ``max_in_flight`` answers at once, and reads bodies of ``max_body_bytes`` at most.
    """
    schemas = {
        **json_schemas(ChatbotAnswer, "read", _SCHEMAS),
        **json_schemas(Verdict, "written", _SCHEMAS),
        "Problem": _PROBLEM,
    }
    components: dict[str, Any] = {"schemas": schemas}
    if settings.token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "truthgate",
            "version": version("truthgate"),
            "summary": "Judges the answers of a support chatbot, one a request.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "Where this document came from."}],
        "paths": {VERDICTS_PATH: {"post": _operation(settings, max_in_flight, max_body_bytes)}},
        "components": components,
    }


def _operation(settings: VerdictSettings, max_in_flight: int, max_body_bytes: int) -> dict[str, Any]:
    kinds = [
        each
        for each in PROBLEM_TYPES
        if each not in _ELSEWHERE and (settings.token or each is not UNAUTHORIZED)
    ]
    published = "once it is published there" if settings.publish else "and publishes nothing"
    refused = {str(status): _refused(list(same)) for status, same in groupby(kinds, key=attrgetter("status"))}
    return {
        "operationId": "judgeAnswer",
        "summary": "Judge one answer.",
        "description": (
            f"Gives the verdict that the answer would have on a verdict topic, {published}. Only "
            "auto_send may be sent; every other decision, and every other status than 200, does not send. "
            f"What is not judged within {settings.timeout_seconds:g} seconds is for review, degraded "
            f"scoring_timeout. {max_in_flight} are judged at once, and a body has "
            f"{max_body_bytes} bytes at most. An answer_id always has the same verdict_id."
        ),
        "security": [{"token": []}] if settings.token else [],
        "parameters": [
            {
                "name": name,
                "in": "header",
                "description": "The trace that the judging belongs to (W3C Trace Context).",
                "schema": {"type": "string"},
            }
            for name in ("traceparent", "tracestate")
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"$ref": f"{_SCHEMAS}ChatbotAnswer"}, "example": _EXAMPLE}
            },
        },
        "responses": {
            "200": {
                "description": "The verdict.",
                "content": {"application/json": {"schema": {"$ref": f"{_SCHEMAS}Verdict"}}},
            },
            **refused,
        },
    }


def _refused(kinds: list[ProblemType]) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": " ".join(f"`{kind.code}`: {kind.title}" for kind in kinds),
        "content": {MEDIA_TYPE: {"schema": {"$ref": f"{_SCHEMAS}Problem"}}},
    }
    if any("Retry-After" in kind.headers for kind in kinds):
        seconds = {"type": "integer", "minimum": 0}
        response["headers"] = {"Retry-After": {"description": "Seconds to wait.", "schema": seconds}}
    return response
