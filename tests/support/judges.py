"""Requests to judges, and judges of one endpoint, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from scoring.judges.requests import Message, Outcome, ReplySchema, Request
from streams.llm.endpoints.endpoint import Persistence
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.llm.endpoints.judges import Judges
from streams.llm.endpoints.opening import open_judges
from streams.settings import JudgeSettings
from tests.support.llm_endpoint import LlmEndpoint

SECRET = "the customer's own words"
KEY = "sk-very-secret"
SCHEMA = ReplySchema(
    "label",
    '{"type": "object", "additionalProperties": false, "required": ["label"], '
    '"properties": {"label": {"enum": ["TRUE", "FALSE"]}}}',
)


def request(**changes: Any) -> Request:
    messages = (Message("system", "Judge. Reply in JSON."), Message("user", SECRET))
    return Request(**{"messages": messages, "schema": SCHEMA, "judge": "small", "max_tokens": 50, **changes})


@asynccontextmanager
async def judges_at(
    url: str,
    observer: EndpointObserver | None = None,
    persistence: Persistence = Persistence(attempts=1),  # noqa: B008 - frozen
    **settings: Any,
) -> AsyncIterator[Judges]:
    """Give judges with one of them, ``small``, at this address, which is asked once unless told otherwise."""
    endpoint = {"base_url": url, "model": "gpt-small", "api_key": KEY, **settings}
    asking = JudgeSettings(endpoints={"small": endpoint})
    async with open_judges(asking, observer, persistence=persistence) as judges:
        assert judges
        yield judges


async def asked_once(
    endpoint: LlmEndpoint,
    seconds: float = 5,
    observer: EndpointObserver | None = None,
    persistence: Persistence = Persistence(attempts=1),  # noqa: B008 - frozen
    **settings: Any,
) -> Outcome:
    """Give the outcome of one request."""
    async with judges_at(endpoint.url, observer, persistence, **settings) as judges:
        (outcome,) = await judges.inquire(seconds).complete_all([request()])
    return outcome
