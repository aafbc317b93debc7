"""The lines of requests, in OpenAI's batch format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scoring.judges import Request
from streams.judging.endpoints.parameters import Accepted, chat_body

_URL = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class Models:
    """The model behind each judge: the one of its own, the one for all, or the one called like it."""

    default: str | None = None
    named: Mapping[str, str] = field(default_factory=dict)

    def of(self, judge: str) -> str:
        """Return the model to ask."""
        return self.named.get(judge) or self.default or judge


def request_line(request: Request, models: Models) -> dict[str, Any]:
    """Return a request as JSON values; its ``custom_id`` is its key, by which the reply is found again."""
    body = chat_body(request, models.of(request.judge), Accepted())
    return {"custom_id": request.key, "method": "POST", "url": _URL, "body": body}
