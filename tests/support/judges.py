"""Requests to judges, and judges of one endpoint, for tests."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from scoring.judges import Case, JudgeOptions
from scoring.judges.requests import Message, Outcome, ReplySchema, Request
from streams.llm.budget import Budget, Limits, Priority
from streams.llm.endpoints.endpoint import CallOptions, Endpoint
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.llm.endpoints.opening import open_judges
from streams.llm.inquiry import ChainLink, Inquiry
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
    options: CallOptions = CallOptions(attempts=1),  # noqa: B008 - frozen
    **settings: Any,
) -> AsyncIterator[Mapping[str, Endpoint]]:
    """Give judges with one of them, ``small``, at this address, which is asked once unless told otherwise."""
    endpoint = {"base_url": url, "model": "gpt-small", "api_key": KEY, **settings}
    asking = JudgeSettings(endpoints={"small": endpoint})
    async with open_judges(asking, observer, options=options) as judges:
        yield judges


def inquiry_about(
    case: Case, judges: Mapping[str, Endpoint], seconds: float, method: str = "single", **options: Any
) -> Inquiry:
    """Give an inquiry to ``small`` without limits but that of time."""
    budget = Budget(Limits(), time.time)
    budget.assign(frozenset({0}), 1)
    return Inquiry(
        case=case,
        link=ChainLink(method, JudgeOptions(judges=("small",), **options), {"small": "gpt-small"}),
        judges=judges,
        budget=budget,
        priority=Priority.FIRST,
        deadline=asyncio.get_running_loop().time() + seconds,
    )


async def complete_all(
    judges: Mapping[str, Endpoint], seconds: float, requests: Sequence[Request]
) -> list[Outcome]:
    """Give the outcomes of requests that are sent at the same time, within so many seconds."""
    deadline = asyncio.get_running_loop().time() + seconds
    return await asyncio.gather(*(judges[each.judge].complete(each, deadline) for each in requests))


async def asked_once(
    endpoint: LlmEndpoint,
    seconds: float = 30,
    observer: EndpointObserver | None = None,
    options: CallOptions = CallOptions(attempts=1),  # noqa: B008 - frozen
    **settings: Any,
) -> Outcome:
    """Give the outcome of one request."""
    async with judges_at(endpoint.url, observer, options, **settings) as judges:
        return await judges["small"].complete(request(), asyncio.get_running_loop().time() + seconds)
