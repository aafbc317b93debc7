"""The cascade ends in time, and whoever watches an endpoint hears that it took too long."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from scoring.judges.requests import Failure, Outcome
from scoring.policy import Policy
from scoring.values.exchange import Exchange, MessageType, Passage
from scoring.values.scored_answer import ScoredAnswer
from streams.llm.budget import Budget, Limits
from streams.llm.cascade import Cascade
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.llm.endpoints.opening import open_judges
from streams.llm.inquiry import chain_from_settings
from streams.llm.opinion_cache import OpinionCache
from streams.settings import EndpointSettings, JudgeSettings
from tests.support.llm_endpoint import LlmEndpoint

EXCHANGES = [
    Exchange(question, "Yes, click Save.", (Passage("d-1", "Click Save."),), "en")
    for question in ("Can I save?", "Can I keep it?")
]
DOUBTFUL = ScoredAnswer(3.0, MessageType.BINARY, "en", profile="truthgate")


class Hears(EndpointObserver):
    """Notes the outcomes."""

    def __init__(self, outcomes: list[str]) -> None:
        self._outcomes = outcomes

    def completed(self, _endpoint: EndpointSettings, outcome: Outcome) -> None:
        self._outcomes.append(outcome.code if isinstance(outcome, Failure) else "reply")


@contextmanager
def frozen(**settings: object) -> Iterator[JudgeSettings]:
    """Give settings for an endpoint that never answers."""
    with LlmEndpoint() as endpoint:
        endpoint.behave(frozen=True)
        named = {"base_url": endpoint.url, "model": "gpt-small", **settings}
        yield JudgeSettings.model_validate({"endpoints": {"small": named}})


@asynccontextmanager
async def cascade_of(settings: JudgeSettings, outcomes: list[str], seconds: float) -> AsyncIterator[Cascade]:
    """Give a cascade without limits but that of time, which notes the outcomes of its requests."""
    async with open_judges(settings, Hears(outcomes)) as judges:
        chain = chain_from_settings(settings)
        budget, kept = Budget(Limits(), time.time), OpinionCache(None)
        yield Cascade(Policy(), chain, judges, budget, kept, seconds, 100, lambda: (frozenset({0}), 1))


@pytest.mark.parametrize(("concurrency", "heard"), [(2, ["timeout", "timeout"]), (1, ["busy", "timeout"])])
async def test_an_endpoint_that_freezes_costs_the_time_limit_and_is_heard_of(concurrency, heard):
    outcomes: list[str] = []
    with frozen(concurrency=concurrency) as settings:
        async with cascade_of(settings, outcomes, 1.0) as cascade:
            began = time.monotonic()
            # The second ends while the first still waits: it never gets the only call.
            asked = zip(EXCHANGES, (60.0, 0.5), strict=True)
            advice = await asyncio.gather(*(cascade.ask_judges(each, DOUBTFUL, left) for each, left in asked))
            took = time.monotonic() - began
    assert [each.degraded for each in advice] == [("judge_unavailable",)] * 2
    assert sorted(outcomes) == heard
    assert took < 30, "the endpoint may take a minute"
