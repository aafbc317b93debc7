"""An endpoint is asked as often as its limits allow, and left alone where it is down or asks for that."""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from tenacity import wait_fixed

from scoring.cache.call_guards import BreakerState
from scoring.judges.requests import Failure, Outcome
from scoring.values.opinion import Label, UnsureReason
from streams.llm.endpoints.chat_completion import AcceptedParameters, OutputMode
from streams.llm.endpoints.endpoint import Backoff, CallOptions, Endpoint
from streams.llm.endpoints.faults import EndpointFault, NoReply
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.settings import EndpointSettings
from tests.support.clock import Clock
from tests.support.judges import complete_all, inquiry_about, judges_at, request
from tests.support.llm_endpoint import Behaviour, LlmEndpoint
from tests.unit.judges.judges_support import DOCUMENTS, TRUE

GONE_WRONG = Behaviour(status=500)


def _only(output: OutputMode, **others: Any) -> AcceptedParameters:
    """Give parameters of which the form of the reply may not be asked for in a weaker way."""
    return AcceptedParameters(output, falls_back=False, **others)


@pytest.fixture
def endpoint() -> Iterator[LlmEndpoint]:
    with LlmEndpoint() as endpoint:
        yield endpoint


class Watching(EndpointObserver):
    """Keeps what an endpoint tells."""

    def __init__(self) -> None:
        self.states: list[BreakerState] = []
        self.accepted: list[AcceptedParameters] = []

    def breaker_changed(self, judge: str, state: BreakerState) -> None:
        assert judge == "small"
        self.states.append(state)

    def parameters_reduced(self, judge: str, accepted: AcceptedParameters) -> None:
        assert judge == "small"
        self.accepted.append(accepted)


def codes(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.code if isinstance(outcome, Failure) else "reply" for outcome in outcomes]


async def test_what_may_pass_is_tried_again_and_the_rest_is_not(endpoint: LlmEndpoint) -> None:
    async with judges_at(endpoint.url, options=CallOptions(attempts=3)) as judges:
        endpoint.behave_next(GONE_WRONG, Behaviour(half=True))
        assert codes(await complete_all(judges, 20, [request()])) == ["reply"]
        assert len(endpoint.asked) == 3
        endpoint.behave_next(*[GONE_WRONG] * 3)
        assert codes(await complete_all(judges, 20, [request()])) == ["server_error"]
        assert len(endpoint.asked) == 6
        endpoint.behave_next(Behaviour(status=401))
        assert codes(await complete_all(judges, 20, [request()])) == ["unauthorized"]
        assert len(endpoint.asked) == 7


async def test_no_try_begins_that_the_time_does_not_suffice_for(
    endpoint: LlmEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait before the next try is longer than what is left, however slow the first one is."""
    monkeypatch.setattr("streams.llm.endpoints.endpoint.wait_random_exponential", lambda *_: wait_fixed(60))
    endpoint.behave(status=500)
    async with judges_at(endpoint.url, options=CallOptions(attempts=10, breaker_failures=100)) as judges:
        began = time.monotonic()
        assert codes(await complete_all(judges, 20, [request()])) == ["server_error"]
        assert time.monotonic() - began < 20
        assert len(endpoint.asked) == 1


async def test_when_the_time_is_over_before_it_begins_nothing_is_sent_twice(endpoint: LlmEndpoint) -> None:
    async with judges_at(endpoint.url, options=CallOptions(attempts=3)) as judges:
        assert codes(await complete_all(judges, 0, [request()])) == ["timeout"]
        assert len(endpoint.asked) <= 1


async def test_an_endpoint_that_asks_to_be_left_alone_is(endpoint: LlmEndpoint) -> None:
    async with judges_at(endpoint.url, options=CallOptions(attempts=3)) as judges:
        endpoint.behave_next(Behaviour(status=429, headers={"Retry-After": "1"}))
        began = time.monotonic()
        assert codes(await complete_all(judges, 20, [request()])) == ["reply"]
        assert time.monotonic() - began >= 1


async def test_who_cannot_wait_as_long_as_an_endpoint_asks_is_told_at_once(endpoint: LlmEndpoint) -> None:
    async with judges_at(endpoint.url, options=CallOptions(attempts=3)) as judges:
        endpoint.behave_next(Behaviour(status=429, headers={"Retry-After": "600"}))
        began = time.monotonic()
        for _ in range(3):
            assert codes(await complete_all(judges, 20, [request()])) == ["rate_limited"]
        assert time.monotonic() - began < 15
        assert len(endpoint.asked) == 1


async def test_a_pause_ends_within_minutes_whatever_was_asked() -> None:
    clock = Clock()
    pause = Backoff(clock)
    pause.extend(1e9)
    pause.extend(1)
    assert pause.remaining == 300
    assert not await pause.wait(300)
    clock.now += 301
    assert await pause.wait(0)


async def test_calls_at_once_are_limited_and_the_others_wait(endpoint: LlmEndpoint) -> None:
    at_once, most = 0, 0

    class Counting:
        async def complete(self, _: Mapping[str, Any]) -> NoReply:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0.01)
            at_once -= 1
            return NoReply(EndpointFault.REJECTED, rejected_parameters=frozenset({"max_tokens"}))

    settings = EndpointSettings(base_url=endpoint.url, model="m", concurrency=3)
    persistence = CallOptions(parameters=_only(OutputMode.PLAIN))
    limited = Endpoint("small", settings, Counting(), EndpointObserver(), options=persistence)
    deadline = asyncio.get_running_loop().time() + 30
    outcomes = await asyncio.gather(*(limited.complete(request(), deadline) for _ in range(20)))
    assert codes(outcomes) == ["rejected"] * 20
    assert most == 3


async def test_who_gets_no_place_in_time_is_told_so_and_it_is_not_held_against_the_endpoint(
    endpoint: LlmEndpoint,
) -> None:
    watching = Watching()
    async with judges_at(
        endpoint.url, watching, concurrency=1, options=CallOptions(attempts=1, breaker_failures=2)
    ) as judges:
        endpoint.behave_next(Behaviour(delay=3))
        first = asyncio.create_task(complete_all(judges, 30, [request()]))
        async with asyncio.timeout(20):
            while not endpoint.asked:  # noqa: ASYNC110 - a thread is asked
                await asyncio.sleep(0.01)
        assert codes(await complete_all(judges, 0.2, [request()] * 4)) == ["busy"] * 4
        assert codes(await first) == ["reply"]
        assert codes(await complete_all(judges, 30, [request()] * 4)) == ["reply"] * 4
    assert watching.states == []


async def test_an_endpoint_that_is_down_is_left_alone_until_one_call_finds_it_well(
    endpoint: LlmEndpoint,
) -> None:
    watching = Watching()
    async with judges_at(
        endpoint.url, watching, options=CallOptions(1, 3, breaker_reset_seconds=3)
    ) as judges:
        endpoint.behave(reset=True)
        for _ in range(3):
            assert codes(await complete_all(judges, 30, [request()])) == ["disconnected"]
        assert codes(await complete_all(judges, 30, [request()] * 5)) == ["breaker_open"] * 5
        assert len(endpoint.asked) == 3
        endpoint.behave()
        await asyncio.sleep(3.1)
        assert sorted(codes(await complete_all(judges, 30, [request()] * 3))) == [
            "breaker_open",
            "breaker_open",
            "reply",
        ]
        assert codes(await complete_all(judges, 30, [request()] * 3)) == ["reply"] * 3
    assert watching.states == [BreakerState.OPEN, BreakerState.HALF_OPEN, BreakerState.CLOSED]


async def test_a_frozen_endpoint_opens_the_breaker_and_a_short_deadline_does_not(
    endpoint: LlmEndpoint,
) -> None:
    watching = Watching()
    endpoint.behave(frozen=True)
    async with judges_at(
        endpoint.url, watching, options=CallOptions(attempts=1, breaker_failures=2)
    ) as judges:
        assert codes(await complete_all(judges, 0.1, [request()] * 4)) == ["timeout"] * 4
        assert watching.states == []
        assert codes(await complete_all(judges, 1.2, [request()] * 2)) == ["timeout"] * 2
    assert watching.states == [BreakerState.OPEN]


async def test_what_is_about_the_request_is_not_held_against_the_endpoint(endpoint: LlmEndpoint) -> None:
    watching = Watching()
    async with judges_at(
        endpoint.url, watching, options=CallOptions(1, 1, parameters=_only(OutputMode.JSON_SCHEMA))
    ) as judges:
        for status in (400, 413, 429):
            endpoint.behave(status=status)
            await complete_all(judges, 30, [request()])
    assert watching.states == []


@pytest.mark.parametrize("names_them", [True, False])
async def test_a_form_that_an_endpoint_refuses_is_asked_for_more_weakly_from_then_on(
    endpoint: LlmEndpoint, names_them: bool
) -> None:
    watching = Watching()
    endpoint.refuses, endpoint.names_them = frozenset({"json_schema"}), names_them
    async with judges_at(endpoint.url, watching) as judges:
        for _ in range(2):
            assert codes(await complete_all(judges, 30, [request()])) == ["reply"]
    kinds = [asked.body["response_format"]["type"] for asked in endpoint.asked]
    assert kinds == ["json_schema", "json_object", "json_object"]
    assert watching.accepted == [AcceptedParameters(OutputMode.JSON_OBJECT)]


async def test_a_model_that_takes_little_is_asked_with_little(endpoint: LlmEndpoint) -> None:
    endpoint.refuses = frozenset({"response_format", "logprobs", "temperature", "seed", "max_tokens"})
    async with judges_at(endpoint.url) as judges:
        rich = request(logprobs=True, temperature=0.6)
        assert codes(await complete_all(judges, 30, [rich])) == ["reply"]
    assert endpoint.asked[-1].body.keys() == {"model", "messages", "max_completion_tokens"}


async def test_an_endpoint_that_refuses_everything_is_asked_few_times(endpoint: LlmEndpoint) -> None:
    endpoint.behave(status=400, body=b"logprobs seed temperature max_completion_tokens response_format")
    watching = Watching()
    async with judges_at(endpoint.url, watching) as judges:
        assert codes(await complete_all(judges, 30, [request()])) == ["rejected"]
    assert len(endpoint.asked) == 3
    assert watching.accepted == []


async def test_a_set_form_is_the_only_one_asked_for(endpoint: LlmEndpoint) -> None:
    endpoint.refuses = frozenset({"json_schema"})
    async with judges_at(
        endpoint.url, options=CallOptions(1, parameters=_only(OutputMode.JSON_SCHEMA))
    ) as judges:
        assert codes(await complete_all(judges, 30, [request()])) == ["rejected"]
    async with judges_at(
        endpoint.url, options=CallOptions(1, parameters=_only(OutputMode.PLAIN, logprobs=False))
    ) as judges:
        assert codes(await complete_all(judges, 30, [request(logprobs=True)])) == ["reply"]
    assert "response_format" not in endpoint.asked[-1].body
    assert "logprobs" not in endpoint.asked[-1].body


async def test_a_call_that_is_cancelled_leaves_its_place_to_others(endpoint: LlmEndpoint) -> None:
    async with judges_at(endpoint.url, concurrency=2) as judges:
        endpoint.behave(frozen=True)
        asking = asyncio.create_task(complete_all(judges, 60, [request()] * 6))
        await asyncio.sleep(0.5)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        endpoint.behave()
        assert codes(await complete_all(judges, 30, [request()] * 4)) == ["reply"] * 4


async def test_calls_that_ran_out_of_time_leave_their_connections_to_others(endpoint: LlmEndpoint) -> None:
    async with judges_at(
        endpoint.url, concurrency=2, options=CallOptions(1, breaker_failures=1_000)
    ) as judges:
        endpoint.behave(frozen=True)
        for _ in range(5):
            assert set(codes(await complete_all(judges, 0.1, [request()] * 6))) <= {"timeout", "busy"}
        endpoint.behave()
        assert codes(await complete_all(judges, 30, [request()] * 6)) == ["reply"] * 6


async def test_a_method_has_all_its_rounds_within_one_deadline(endpoint: LlmEndpoint) -> None:
    endpoint.respond = lambda body: json.dumps(TRUE[body["response_format"]["json_schema"]["name"]])
    endpoint.behave(delay=0.3)
    async with judges_at(endpoint.url, prices=(10, 100)) as judges:
        inquiry = inquiry_about(DOCUMENTS, judges, 30, "sequential")
        opinion = await inquiry.ask()
        assert opinion is not None
        assert opinion.label is Label.TRUE
        assert opinion.usage.requests > 1
        assert inquiry.cost == pytest.approx(
            (opinion.usage.tokens_in * 10 + opinion.usage.tokens_out * 100) / 1e6
        )
        endpoint.behave(delay=20)
        began = time.monotonic()
        opinion = await inquiry_about(DOCUMENTS, judges, 0.5, "sequential").ask()
        assert opinion is not None
        assert opinion.unsure is UnsureReason.NO_REPLY
        assert time.monotonic() - began < 15


async def test_what_replies_cost_is_unknown_without_prices_or_tokens(endpoint: LlmEndpoint) -> None:
    async with judges_at(endpoint.url) as judges:
        inquiry = inquiry_about(DOCUMENTS, judges, 5)
        await inquiry.ask()
        assert inquiry.cost is None
    async with judges_at(endpoint.url, prices=(1, 1)) as judges:
        endpoint.behave(body=b'{"choices": [{"message": {"content": "{}"}}]}')
        inquiry = inquiry_about(DOCUMENTS, judges, 5)
        await inquiry.ask()
        assert inquiry.cost is None
