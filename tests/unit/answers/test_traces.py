"""The trace of one answer and of a publication: what its spans carry, and what they never do."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import format_trace_id, get_current_span

from schemas.records import ChatbotAnswer, Verdict
from scoring.values.exchange import Exchange
from scoring.values.scored_answer import ScoredAnswer, Timing
from streams.kafka.kafka_records import Headers, ReceivedRecord
from streams.observability.failures import BadAnswer, Stage
from streams.observability.tracing import Tracing
from streams.pipeline.context import ResolvedContext, StaticDocuments
from streams.pipeline.pipeline import Deadline, Pipeline, TracedRetriever
from streams.pipeline.traces import AnswerTraces
from streams.pipeline.verdict import make_verdict
from streams.rates.rate_publication import PublicationTraces
from streams.scorers.options import unscored_answer
from streams.search.types import Hit, RetrievalResult, RetrievalUnavailable
from streams.settings import KafkaSettings, Settings, TelemetrySettings
from tests.support.recorded_traces import Recorded

SECRET = "the customer's own words"
NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ANSWER = ChatbotAnswer("a-1", "c-1", f"How? {SECRET}", f"So. {SECRET}", NOW)
PARENT = ("traceparent", b"00-" + b"ab" * 16 + b"-" + b"cd" * 8 + b"-01")
ASSESSMENT = unscored_answer("truthgate", "en", ("scoring_disabled",))
DECIDED = Settings().policy.decide(ASSESSMENT)
VERDICT = make_verdict(ANSWER, ASSESSMENT, DECIDED, ResolvedContext(()), NOW)


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


def _received(*headers: tuple[str, bytes], key: bytes | None = b"c-1") -> ReceivedRecord:
    return ReceivedRecord("answers", 2, 7, key, b"value", headers)


def _judged(recorded: Recorded, verdict: Verdict, *, texts: bool = False) -> ReadableSpan:
    traces = AnswerTraces(Settings(telemetry=TelemetrySettings(texts=texts)), recorded.tracing)
    with traces.process(_received(), 1):
        traces.record_verdict(verdict)
    return recorded.spans["process answers"]


def test_untraced_answers_keep_the_headers_they_came_with_and_log_lines_can_name_the_chatbots_trace():
    traces = AnswerTraces(Settings())
    headers: Headers = (PARENT, ("tracestate", b"as it came"), ("ce_id", b"1"))
    with traces.process(_received(*headers), 1), traces.sending("verdicts.review", b"c-1") as span:
        assert not span.is_recording()
        assert format_trace_id(get_current_span().get_span_context().trace_id) == "ab" * 16
        assert traces.with_trace_context(headers) == headers
    assert not get_current_span().get_span_context().is_valid


def test_what_is_sent_carries_the_context_of_its_own_span(recorded):
    traces = AnswerTraces(Settings(), recorded.tracing)
    with traces.process(_received(PARENT), 1), traces.sending("verdicts.review", b"c-1") as span:
        (_, sent), (_, parent) = traces.with_trace_context((("ce_id", b"1"), PARENT))
    assert sent == b"1"
    assert parent.decode().split("-")[1:3] == ["ab" * 16, f"{span.get_span_context().span_id:016x}"]
    assert recorded.spans["process answers"].parent is not None


@pytest.mark.parametrize("texts", [False, True])
def test_texts_are_in_a_trace_only_where_they_are_switched_on(recorded, texts):
    span = _judged(recorded, VERDICT, texts=texts)
    assert (SECRET in span.to_json()) is texts
    (event,) = recorded.events.get_finished_logs()
    assert SECRET not in event.to_json()
    if texts:
        (asked,) = json.loads(str(span.attributes["gen_ai.input.messages"]))
        assert asked == {"role": "user", "parts": [{"type": "text", "content": ANSWER.question}]}


@pytest.mark.parametrize("texts", [False, True])
def test_metadata_is_in_no_trace_but_for_the_id_of_the_reply(recorded, texts):
    kept = {"tenant": SECRET, SECRET: "x", "gen_ai.response.id": "r-1"}
    span = _judged(recorded, replace(VERDICT, question="", answer="", metadata=kept), texts=texts)
    (event,) = recorded.events.get_finished_logs()
    assert SECRET not in span.to_json() + event.to_json()
    assert "r-1" in event.to_json()


def test_a_dead_letters_reason_is_its_code_alone(recorded):
    traces = AnswerTraces(Settings(), recorded.tracing)
    with traces.process(_received(), 1):
        traces.record_failure(BadAnswer(Stage.DECODE, "truncated", SECRET))
    span = recorded.spans["process answers"]
    assert span.attributes["error.type"] == "truncated"
    assert SECRET not in span.to_json()


@pytest.mark.parametrize("key", [None, b"", b"\xff" * 10_000, b"k" * 1_000_000, "é".encode() * 500])
def test_any_key_gives_attributes_that_can_be_exported(recorded, key):
    with AnswerTraces(Settings(), recorded.tracing).process(_received(key=key), 1):
        pass
    found = recorded.spans["process answers"].attributes.get("messaging.kafka.message.key")
    assert (found is None) == (key is None)
    assert len(str(found or "").encode()) <= 1024


def test_half_characters_and_long_texts_do_not_keep_a_trace_from_its_collector(recorded):
    odd = replace(VERDICT, answer_id="a\ud800", question="\ud800" * 20_000, answer="x" * 1_000_000)
    span = _judged(recorded, odd, texts=True)
    values = [value for value in span.attributes.values() if isinstance(value, str)]
    assert sum(len(value.encode()) for value in values) < 100_000
    json.loads(str(span.attributes["gen_ai.input.messages"]))


class _Finding:
    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        if question == "?":
            raise RetrievalUnavailable("index_incomplete")
        hit = Hit("d-1", "1", "en", SECRET, SECRET, 0, 1, 0.1, 0.9)
        return RetrievalResult((hit,), is_sufficient=True, relevance=0.5)


async def test_a_search_is_a_part_of_its_stage_with_what_it_found_or_why_it_could_not(recorded):
    traces = AnswerTraces(Settings(), recorded.tracing)
    retriever = TracedRetriever(_Finding(), traces.stages)
    with traces.process(_received(), 1), traces.stages.stage("enrich"):
        await retriever.retrieve(SECRET, None, 1)
        with pytest.raises(RetrievalUnavailable):
            await retriever.retrieve("?", None, 1)
    found, failed, *_ = recorded.exporter.get_finished_spans()
    assert found.attributes["truthgate.search.passages"] == 1
    assert failed.attributes["truthgate.search.unavailable"] == "index_incomplete"
    assert found.parent == failed.parent == recorded.spans["enrich"].context
    assert SECRET not in found.to_json() + failed.to_json()


class _Assessing:
    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        return replace(ASSESSMENT, timings=(Timing("parse", 5, 6),))


async def test_parts_of_scoring_are_spans_below_it_and_every_assessment_is_seen(recorded):
    traces, seen = AnswerTraces(Settings(), recorded.tracing), list[ScoredAnswer]()
    decide = Settings().policy.decide
    way = Pipeline(
        StaticDocuments({}), _Assessing(), decide, "paper", stages=traces.stages, on_scored=seen.append
    )
    with traces.process(_received(), 1):
        await way.verdict(ANSWER, Deadline(None), lambda: NOW)
    await way.verdict(ANSWER, Deadline(None), lambda: NOW)
    parse = recorded.spans["parse"]
    assert parse.parent == recorded.spans["score"].context
    assert parse.context.trace_id == parse.parent.trace_id
    assert (parse.start_time, parse.end_time, parse.resource) == (5, 6, recorded.spans["score"].resource)
    assert seen == [ASSESSMENT, ASSESSMENT]


def test_a_publication_is_one_span_linked_to_the_records_it_rests_on(recorded):
    publications = PublicationTraces(KafkaSettings(), recorded.tracing)
    unsampled = (PARENT[0], PARENT[1][:-1] + b"0")
    for headers in [(PARENT,)] * 200 + [(unsampled,), (), (("traceparent", b"garbage"),)]:
        publications.add_source(headers)
    with publications.send("hallucination-rates", 5) as headers:
        pass
    (span,) = recorded.exporter.get_finished_spans()
    assert span.name == "send hallucination-rates"
    assert span.parent is None
    assert {format_trace_id(link.context.trace_id) for link in span.links} == {"ab" * 16}
    assert len(span.links) == 128
    assert span.attributes["messaging.batch.message_count"] == 5
    assert span.attributes["truthgate.records"] == 203
    ((name, value),) = headers
    assert (name, value.decode().split("-")[1]) == ("traceparent", format_trace_id(span.context.trace_id))
    with publications.send("hallucination-rates", 1) as headers:
        assert headers == ()
    assert len(recorded.exporter.get_finished_spans()) == 1


def test_a_publication_that_fails_is_linked_again_when_it_is_tried_again(recorded):
    publications = PublicationTraces(KafkaSettings(), recorded.tracing)
    publications.add_source((PARENT,))
    with pytest.raises(ValueError, match=SECRET), publications.send("hallucination-rates", 1):
        raise ValueError(SECRET)
    with publications.send("hallucination-rates", 1):
        pass
    failed, succeeded = recorded.exporter.get_finished_spans()
    assert failed.attributes["error.type"] == "ValueError"
    assert len(failed.links) == len(succeeded.links) == 1
    assert SECRET not in failed.to_json()


def test_untraced_publications_cost_nothing_and_send_no_headers():
    publications = PublicationTraces(KafkaSettings(), Tracing())
    publications.add_source((PARENT,))
    with publications.send("hallucination-rates", 1) as headers:
        assert headers == ()
