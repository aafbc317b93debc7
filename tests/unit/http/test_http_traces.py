"""A request is one trace with what was done for it, and continues that of who asks; texts are not in it."""

import json
from datetime import UTC, datetime

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from schemas import ChatbotAnswer, to_json
from streams.observability.failures import BadAnswer, Stage
from tests.support.http_service import service, settings_of, way_of
from tests.support.recorded_traces import Recorded
from tests.support.scorers import Failing, Scoring

SECRET = "the customer's own words"
NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
BODY = json.dumps(to_json(ChatbotAnswer("a-1", "c-1", f"Can I? {SECRET}", f"Yes. {SECRET}", NOW))).encode()
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
NAME = "POST /v1/verdicts"


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


async def test_the_trace_of_who_asks_goes_on_with_each_step(recorded):
    async with service(way_of(settings_of(), Scoring()), tracing=recorded.tracing) as running:
        _, _, verdict = await running.post(BODY, traceparent=f"00-{TRACE}-{SPAN}-01", tracestate="a=1")
    spans = recorded.spans
    assert {f"{span.context.trace_id:032x}" for span in spans.values()} == {TRACE}
    asked = spans[NAME]
    assert f"{asked.parent.span_id:016x}" == SPAN
    assert asked.context.trace_state.to_header() == "a=1"
    assert asked.kind is SpanKind.SERVER
    assert {spans[step].parent.span_id for step in ("enrich", "score")} == {asked.context.span_id}
    assert asked.attributes["http.response.status_code"] == 200
    assert asked.attributes["truthgate.verdict.id"] == verdict["verdict_id"]
    assert asked.attributes["http.route"] == "/v1/verdicts"
    (event,) = recorded.events.get_finished_logs()
    assert event.log_record.attributes["gen_ai.evaluation.score.label"] == verdict["decision"]
    assert SECRET not in "".join(span.to_json() for span in spans.values()) + event.to_json()


@pytest.mark.parametrize("traceparent", [None, "garbage", f"00-{'0' * 32}-{SPAN}-01"])
async def test_without_a_valid_context_a_trace_begins(recorded, traceparent):
    async with service(way_of(settings_of(), Scoring()), tracing=recorded.tracing) as running:
        status, _, _ = await running.post(BODY, **({"traceparent": traceparent} if traceparent else {}))
    assert status == 200
    assert recorded.spans[NAME].parent is None


async def test_a_problem_of_the_client_is_told_and_is_no_error_of_the_service(recorded):
    async with service(way_of(settings_of(), Scoring()), tracing=recorded.tracing) as running:
        await running.post(BODY[:-1])
    span = recorded.spans[NAME]
    assert (span.attributes["http.response.status_code"], span.attributes["error.type"]) == (
        400,
        "invalid_json",
    )
    assert span.status.status_code is StatusCode.UNSET


async def test_an_answer_that_cannot_be_judged_is_an_error(recorded):
    breaking = Failing(BadAnswer(Stage.SCORE, "ProcessDied", SECRET))
    async with service(way_of(settings_of(), breaking), tracing=recorded.tracing) as running:
        await running.post(BODY)
    span = recorded.spans[NAME]
    assert (span.attributes["error.type"], span.status.status_code) == ("not_judged", StatusCode.ERROR)
    assert SECRET not in span.to_json()
