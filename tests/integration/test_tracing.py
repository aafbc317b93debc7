"""One trace from the chatbot's span to the consumer's, as a collector gets it over gRPC and over HTTP."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from aiokafka import ConsumerRecord
from opentelemetry.trace import SpanContext

from schemas import Codec
from schemas.records import ChatbotAnswer, Verdict
from streams.kafka.topics import Topics, create_topics
from streams.settings import Settings
from tests.support.ledger import Ledger, outgoing, read_until_settled, sample_answers
from tests.support.libretranslate import LibreTranslate
from tests.support.otlp import OtlpReceiver, ReceivedSpan, attributes, hanging_collector
from tests.support.parallel_texts import ParallelTexts
from tests.support.ports import NOBODY
from tests.support.rates import with_rates
from tests.support.records import Outgoing, eventually, produce
from tests.support.retrieval import without_context
from tests.support.traces import Service, children, hexadecimal
from tests.support.workers import Worker, changed

SECRET = b"Zwaluwstaart-4711"
CODEC = Codec()

#: What a scoring process reports of an answer that is scored.
PARTS_OF_SCORING = {
    "wait for a process",
    "language",
    "message type",
    "refusal",
    "prepare",
    "parse",
    *(f"features {group}" for group in ("support", "contradiction", "quotation")),
    "claims",
}


@pytest.fixture
def collector() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as receiver:
        yield receiver


@pytest.fixture
def only(settings: Settings) -> Settings:
    """Give settings for one worker that judges nothing, so that it starts at once."""
    return changed(
        settings,
        kafka={"group_instance_id": "worker-0"},
        flow={"session_timeout_seconds": 6},
        scoring={"processes": 1, "enabled": False},
    )


def _texts(answer: ChatbotAnswer) -> list[bytes]:
    texts = (answer.question, answer.answer, *(passage.text for passage in answer.context))
    return [text[:40].encode() for text in texts]


def _record_of(ledger: Ledger, answer: ChatbotAnswer) -> ConsumerRecord:
    found = zip(ledger.records, ledger.verdicts, strict=True)
    return next(record for record, verdict in found if verdict.answer_id == answer.answer_id)


def _contexts(record: ConsumerRecord) -> list[bytes]:
    return [value for name, value in record.headers if name == "traceparent"]


def _linked(topics: Topics, collector: OtlpReceiver) -> set[tuple[str, str]]:
    return {link for span in collector.named(f"send {topics.rates}") for link in span.links}


def _translating(translator: LibreTranslate) -> dict[str, object]:
    return {"provider": "libretranslate", "base_url": translator.url}


def _assert_processing(process: ReceivedSpan, topics: Topics, verdict: Verdict, settings: Settings) -> None:
    assert process.kind == "consumer"
    assert process.name == f"process {topics.answers}"
    assert process.resource["service.name"] == "truthgate"
    assert process.resource["service.instance.id"] == "worker-0"
    expected = {
        "messaging.system": "kafka",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": topics.answers,
        "messaging.destination.partition.id": "1",
        "messaging.kafka.offset": 0,
        "messaging.consumer.group.name": settings.kafka.consumer_group,
        "messaging.client.id": "truthgate-worker-0",
        "messaging.kafka.message.key": verdict.conversation_id,
        "messaging.message.conversation_id": verdict.conversation_id,
        "truthgate.answer.id": verdict.answer_id,
        "truthgate.decision": verdict.decision,
        "truthgate.score": verdict.score,
        "truthgate.message_type": verdict.message_type,
        "truthgate.language": "nl",
        "truthgate.context.source": "inline",
    }
    told = process.attributes
    assert {name: told.get(name) for name in expected} == expected
    assert "error.type" not in told


def _assert_steps(process: ReceivedSpan, verdict: Verdict, collector: OtlpReceiver) -> ReceivedSpan:
    spans = [span for span in collector.spans if span.trace_id == process.trace_id]
    steps = children(spans, process)
    (send,) = (span for name, span in steps.items() if name.startswith("send "))
    assert set(steps) == {"decode", "enrich", "translate", "score", send.name}
    assert set(children(spans, steps["score"])) == PARTS_OF_SCORING
    assert len(spans) == 1 + len(steps) + len(PARTS_OF_SCORING)
    assert steps["translate"].attributes["truthgate.translated"] is True
    assert steps["score"].attributes["truthgate.score"] == verdict.score
    began, ended = process.span.start_time_unix_nano, process.span.end_time_unix_nano
    assert all(began <= s.span.start_time_unix_nano <= s.span.end_time_unix_nano <= ended for s in spans)
    return send


def _assert_goes_on(record: ConsumerRecord, send: ReceivedSpan, asked: SpanContext) -> None:
    assert send.kind == "producer"
    assert send.name == f"send {record.topic}"
    assert send.attributes["messaging.operation.type"] == "send"
    assert send.attributes["messaging.destination.partition.id"] == str(record.partition)
    assert send.attributes["messaging.kafka.offset"] == record.offset
    taken, parent = Service("review-desk").take(record)
    assert parent is not None
    assert hexadecimal(parent) == (send.trace_id, send.span_id)
    assert hexadecimal(taken)[0] == hexadecimal(asked)[0]
    assert parent.trace_state.to_header() == "vendor=7"
    assert "baggage" not in dict(record.headers)


def _assert_event(process: ReceivedSpan, verdict: Verdict, collector: OtlpReceiver) -> None:
    (event,) = (event for event in collector.logs if event.trace_id.hex() == process.trace_id)
    assert event.event_name == "gen_ai.evaluation.result"
    assert event.span_id.hex() == process.span_id
    assert attributes(event.attributes) == {
        "gen_ai.evaluation.name": "truthfulness",
        "gen_ai.evaluation.score.value": verdict.score,
        "gen_ai.evaluation.score.label": verdict.decision,
        "gen_ai.evaluation.explanation": ", ".join(verdict.reasons),
        "gen_ai.response.id": "chatcmpl-7",
        "truthgate.answer.id": verdict.answer_id,
    }


def _assert_letter(
    letter: ConsumerRecord, failed: SpanContext, topics: Topics, collector: OtlpReceiver
) -> None:
    (unread,) = (span for span in collector.spans if span.parent_id == hexadecimal(failed)[1])
    steps = children(collector.spans, unread)
    send = steps[f"send {topics.dead_letters}"]
    assert set(steps) == {"decode", send.name}
    assert unread.failed
    assert unread.attributes["error.type"] == steps["decode"].attributes["error.type"] == "unknown_format"
    _, parent = Service("operator").take(letter)
    assert parent is not None
    assert hexadecimal(parent) == hexadecimal(failed)


async def test_the_whole_trace_of_an_answer_arrives_over_grpc_and_goes_on_with_its_verdict(
    only, topics, collector, tmp_path
):
    chatbot = Service("chatbot")
    answer = replace(sample_answers(1, "trace")[0], metadata={"gen_ai.response.id": "chatcmpl-7"})
    (searched,) = without_context([answer], "searched")
    state, baggage = ("tracestate", b"vendor=7"), ("baggage", b"user=1")
    sent, asked = chatbot.publish(replace(outgoing(answer, CODEC), partition=1), state, baggage)
    bad, failed = chatbot.publish(Outgoing(b"no answer at all", b"c-9"))
    with LibreTranslate(ParallelTexts.of_sample()) as translator:
        settings = changed(
            only,
            scoring={"enabled": True},
            # Whether its index is there in time makes no difference here.
            documents={"wait_timeout_seconds": 1},
            retrieval={"embedder": "use", "ready_before_complete": True},
            telemetry={"otlp_endpoint": collector.grpc, "parts": True},
            translation=_translating(translator),
        )
        with Worker(settings, tmp_path) as worker:
            worker.wait_ready()
            await produce(settings.kafka, topics.answers, [sent, bad, outgoing(searched, CODEC)])
            ledger = await read_until_settled(settings, [answer, searched], buried=1)
            assert worker.terminate() == 0

    (process,) = (span for span in collector.spans if span.parent_id == hexadecimal(asked)[1])
    verdict = next(verdict for verdict in ledger.verdicts if verdict.answer_id == answer.answer_id)
    _assert_processing(process, topics, verdict, settings)
    send = _assert_steps(process, verdict, collector)
    _assert_goes_on(_record_of(ledger, answer), send, asked)
    _assert_event(process, verdict, collector)
    _assert_letter(ledger.buried_records[0], failed, topics, collector)
    (search,) = collector.named("search")
    assert search.parent_id in {span.span_id for span in collector.named("enrich")}
    exported = b"".join(collector.raw)
    assert not [text for text in _texts(answer) if text in exported]


async def test_over_http_with_texts_switched_on_hostile_headers_do_nothing_and_unsampled_traces_stay_unseen(
    only, topics, collector, tmp_path
):
    telemetry = {"otlp_endpoint": collector.http, "texts": True}
    settings = with_rates(changed(only, telemetry=telemetry, log={"level": "debug"}))
    await create_topics(settings)
    answers = sample_answers(6, "http", conversation_length=1)
    valid = f"00-{'ab' * 16}-{'cd' * 8}-01".encode()
    hostile = [
        (("traceparent", SECRET),),
        (("traceparent", valid), ("traceparent", valid)),
        (("traceparent", valid + b"-" + SECRET * 20_000),),
        (("traceparent", valid), ("tracestate", SECRET * 20), ("baggage", SECRET)),
    ]
    records = [
        replace(outgoing(answer, CODEC), headers=headers)
        for answer, headers in zip(answers, hostile, strict=False)
    ]
    plain, asked = Service("chatbot").publish(outgoing(answers[4], CODEC))
    unseen, hidden = Service("chatbot", sampled=False).publish(outgoing(answers[5], CODEC))
    with Worker(settings, tmp_path) as worker:
        worker.wait_ready()
        await produce(settings.kafka, topics.answers, [*records, plain, unseen])
        ledger = await read_until_settled(settings, answers)
        await eventually(lambda: len(_linked(topics, collector)) == len(answers) - 1, "rates are published")
        assert worker.terminate() == 0
        assert SECRET.decode() not in worker.log

    (process,) = (span for span in collector.spans if span.parent_id == hexadecimal(asked)[1])
    assert set(children(collector.spans, process)) == {
        "enrich",
        "score",
        f"send {topics.review}",
    }
    told = process.attributes
    assert json.loads(told["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": answers[4].question}]}
    ]
    (said,) = json.loads(told["gen_ai.output.messages"])
    assert (said["role"], said["parts"][0]["content"]) == ("assistant", answers[4].answer)
    assert told["truthgate.degraded"] == ["scoring_disabled"]

    parents = [_contexts(_record_of(ledger, answer)) for answer in answers]
    assert [len(found) for found in parents] == [1] * len(answers)
    traces = [found[0].decode().split("-")[1] for found in parents]
    assert len(set(traces)) == len(answers)
    assert traces[3] == "ab" * 16
    assert "ab" * 16 not in traces[:3]
    assert traces[5] == hexadecimal(hidden)[0]
    assert traces[5] not in {span.trace_id for span in collector.spans}
    sent = {(span.trace_id, span.span_id) for span in collector.named(f"send {topics.review}")}
    assert _linked(topics, collector) == sent
    assert len(collector.named(f"process {topics.answers}")) == len(collector.logs) == len(answers) - 1
    assert SECRET not in b"".join(collector.raw)


async def test_a_collector_that_hangs_or_refuses_changes_nothing(only, topics, tmp_path):
    answers = sample_answers(60, "hang")
    with hanging_collector() as hanging:
        for endpoint, share in ((hanging, answers[:30]), (f"http://{NOBODY}", answers[30:])):
            settings = changed(only, telemetry={"otlp_endpoint": endpoint})
            with Worker(settings, tmp_path, secrets={"OTEL_EXPORTER_OTLP_TIMEOUT": "1"}) as worker:
                worker.wait_ready()
                await produce(settings.kafka, topics.answers, [outgoing(answer, CODEC) for answer in share])
                await read_until_settled(settings, answers[: answers.index(share[-1]) + 1])
                assert worker.terminate() == 0
    ledger = await read_until_settled(only, answers)
    ledger.assert_settled(answers)
    lines = [json.loads(line) for line in worker.log.splitlines() if line.startswith("{")]
    signals = [line["signal"] for line in lines if line["event"] == "telemetry_not_exported"]
    assert {"traces", "logs"} <= set(signals)
    assert max(map(signals.count, signals)) == 2, "once for each worker"
    assert not [line for line in lines if line["logger"].startswith("opentelemetry.exporter")]
