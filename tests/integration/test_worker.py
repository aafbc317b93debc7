"""The worker as an operator meets it: its pages, its counts, its log, and its one-line refusals."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import psutil
import pytest
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.producer import message_accumulator, producer
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy
from prometheus_client.parser import text_string_to_metric_families

from docs.generate.reference.telemetry_page import PAGE
from schemas import Codec, to_json
from schemas.records import ChatbotAnswer, ContextPassage, KnowledgeDocument
from streams.kafka.kafka_clients import open_admin, open_consumer
from streams.kafka.topics import Topics, create_topics
from streams.observability.failures import EXIT_SOFTWARE
from streams.settings import Settings
from tests.support.documents import sample_documents
from tests.support.ledger import outgoing, read_until_settled, sample_answers
from tests.support.otlp import OtlpReceiver, hanging_collector
from tests.support.ports import NOBODY
from tests.support.records import Outgoing, RawName, committed, eventually, produce
from tests.support.retrieval import with_retrieval
from tests.support.workers import Supervised, Worker, changed, environment

#: Metrics of the reference that a worker shows only with rates, known answers, a fitted policy, translation,
#: retrieval or profile `paper`.
_SOMETIMES = re.compile(
    r"truthgate_(hallucination_rate|faithfulness|alert|rates_(leader|lag|watermark)|translation_(call_)?duration_seconds"
    r"|retrieval_complete|company_terms(_age_seconds)?$|pauses$|known_answers(_current)?$|policy_(withdrawn|certificates)$|opinions_total|verdicts_by_model_total|judge_(breaker|budget_left|in_flight))"
    r"|gen_ai_client_"  # where judges are named
    r"|http_server_"  # where answers are posted
    r"|truthgate_kafka_certificate_end_seconds$"  # where the brokers ask for a certificate
)

_OF_THE_DESK = re.compile(r"truthgate\.(desk_|policy_(withdrawals|evidence|drift)$)")

#: Stands in every text of a customer below, and must stand in no log.
SECRET = "Zwaluwstaart-4711"

#: Exports by OTLP come, and fail, within a second.
_QUICK_EXPORT = {"OTEL_METRIC_EXPORT_INTERVAL": "500", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}


@pytest.fixture
def quick(settings: Settings) -> Settings:
    """Give settings for one worker with one scoring process, whose successor takes over at once."""
    return changed(
        settings,
        kafka={"group_instance_id": "only"},
        flow={"session_timeout_seconds": 6},
        scoring={"processes": 1},
        documents={"wait_timeout_seconds": 0.5},
    )


def _counts(worker: Worker, name: str, *labels: str) -> dict[tuple[str, ...], float]:
    """Give what was counted by the values of these labels, summed over the others; 0 only without labels."""
    counts: dict[tuple[str, ...], float] = {}
    for family in text_string_to_metric_families(worker.metrics()):
        for sample in family.samples:
            if sample.name == name and (sample.value or not labels):
                key = tuple(sample.labels[label] for label in labels)
                counts[key] = counts.get(key, 0) + sample.value
    return counts


def _reference() -> dict[str, tuple[str, str]]:
    """Give a worker's metrics of the reference page: names in OTLP and types by Prometheus' names.

    The review desk, a process of its own, exports the others.
    """
    rows = re.findall(r"^\| `(\w+)` \| `([\w.]+)` \| (\w+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    return {name: (otlp, kind) for name, otlp, kind in rows if not _OF_THE_DESK.match(otlp)}


def _missing(exported: Mapping[str, object], reference: Mapping[str, object]) -> set[str]:
    return {name for name in reference.keys() - exported.keys() if not _SOMETIMES.match(name)}


def _exported(worker: Worker) -> dict[str, str]:
    """Give the types of the metrics that the worker shows, by their names."""
    families = text_string_to_metric_families(worker.metrics())
    return {family.name + ("_total" if family.type == "counter" else ""): family.type for family in families}


def _refusal(settings: Settings, **variables: str) -> tuple[int, str]:
    """Start a worker that must end by itself; give its exit code and what it wrote.

    Without the schemas that it may have been the first to publish.
    """
    done = subprocess.run(
        [sys.executable, "-m", "streams.cli", "worker"],
        env=environment(settings) | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=240,
        check=False,
    )
    lines = (done.stdout + done.stderr).decode().splitlines()
    return done.returncode, "\n".join(line for line in lines if '"schema_published"' not in line)


async def test_pages_and_counts_agree_with_what_came_out(quick, topics, tmp_path):
    answers = sample_answers(40, "counts")
    keyless = replace(answers[0], answer_id="keyless", conversation_id="alone")
    bad = [
        Outgoing(None, b"c"),
        Outgoing(b"nothing", b"c"),
        Outgoing(Codec().encode(replace(keyless, answer_id=""))),
    ]
    with (
        OtlpReceiver() as collector,
        Worker(
            changed(quick, telemetry={"otlp_endpoint": collector.grpc}),
            tmp_path,
            secrets=_QUICK_EXPORT,
        ) as worker,
    ):
        await eventually(lambda: worker.get("/readyz")[0] == 503, "it is up and not ready", 120)
        assert worker.get("/healthz") == (200, "ok\n")
        assert _counts(worker, "truthgate_ready") == {(): 0}
        worker.wait_ready()
        assert _counts(worker, "truthgate_dead_letters_waiting") == {(): 0}
        records = [
            *(outgoing(answer, Codec()) for answer in answers),
            Outgoing(Codec().encode(keyless)),
            *bad,
        ]
        await produce(quick.kafka, topics.answers, records)
        ledger = await read_until_settled(quick, [*answers, keyless], buried=3)
        await eventually(lambda: _counts(worker, "truthgate_answers_in_flight") == {(): 0}, "all is finished")
        decisions = [verdict.decision for verdict in ledger.verdicts]
        assert _counts(worker, "truthgate_verdicts_total", "decision") == {
            (decision,): decisions.count(decision) for decision in set(decisions)
        }
        assert _counts(worker, "truthgate_dead_letters_total", "stage") == {("decode",): 2, ("validate",): 1}
        assert _counts(worker, "truthgate_answers_total") == {(): len(records)}
        assert _counts(worker, "truthgate_answer_duration_seconds_count") == {(): len(records)}
        assert _counts(worker, "truthgate_verdict_latency_seconds_count") == {(): len(answers) + 1}
        assert _counts(worker, "truthgate_stage_duration_seconds_count", "stage") == {
            ("decode",): len(records),
            **dict.fromkeys([("enrich",), ("score",)], len(answers) + 1),
            ("publish",): len(records),
        }
        assert _counts(worker, "truthgate_scoring_processes") == {(): 1}
        assert _counts(worker, "truthgate_ready") == {(): 1}
        reference = _reference()
        # Lag and the like are shown once the brokers were asked for them.
        await eventually(lambda: not _missing(_exported(worker), reference), "all metrics are shown")
        exported = _exported(worker)
        assert worker.terminate() == 0
    assert exported.pop("target_info")
    assert exported.items() <= {name: kind for name, (_, kind) in reference.items()}.items()
    assert not _missing(exported, reference)
    assert {metric.name for metric in collector.metrics} == {reference[name][0] for name in exported}
    assert answers[0].answer.encode() not in b"".join(collector.raw)
    ledger.assert_settled([*answers, keyless], buried=3)
    assert ledger.repeated_share == 0


async def test_a_long_conversation_keeps_its_order_and_json_is_read_where_it_is_allowed(
    quick, topics, tmp_path
):
    answers = sample_answers(50, "order", conversation_length=50)
    records = [
        Outgoing(json.dumps(to_json(answer)).encode(), answer.conversation_id.encode()) for answer in answers
    ]
    with Worker(changed(quick, encoding={"json_input": True}, scoring={"processes": 2}), tmp_path) as worker:
        worker.wait_ready()
        await produce(quick.kafka, topics.answers, records)
        ledger = await read_until_settled(quick, answers)
        assert worker.terminate() == 0
    ledger.assert_settled(answers)
    assert ledger.repeated_share == 0
    number = {answer.answer_id: position for position, answer in enumerate(answers)}
    for topic in topics.outputs:
        landed = [
            number[verdict.answer_id]
            for record, verdict in zip(ledger.records, ledger.verdicts, strict=True)
            if record.topic == topic
        ]
        assert landed == sorted(landed)


def _secret_answers() -> list[ChatbotAnswer]:
    """Give answers with the secret in every text: judged, degraded by missing context, and unjudgeable."""
    secretive = [
        replace(
            answer,
            question=f"{SECRET} {answer.question}",
            answer=f"{answer.answer} Klik op **{SECRET}**.",
            context=(*answer.context, ContextPassage("d-1", f"Klik op **{SECRET}**.", SECRET)),
        )
        for answer in sample_answers(20, "secret")
    ]
    referring = replace(secretive[0], answer_id="referring", context=(), document_ids=("d-1",))
    foreign = replace(secretive[0], answer_id="foreign", language=None, question=SECRET, answer=SECRET * 50)
    bare = replace(secretive[0], answer_id="bare", context=())
    return [*secretive, referring, foreign, bare]


def _secret_nonsense(whole: bytes) -> list[Outgoing]:
    values = [SECRET.encode(), whole[:-20], whole + b"\x00", f'{{"question": "{SECRET}"}}'.encode()]
    values += [b"\xc3\x01" + bytes(8) + SECRET.encode(), b"\x00\x00\x00\x00\x07" + SECRET.encode()]
    return [Outgoing(value, SECRET.encode(), ((SECRET, SECRET.encode()),)) for value in values]


def _exporting(settings: Settings, endpoint: str) -> Settings:
    return changed(settings, telemetry={"otlp_endpoint": endpoint})


async def test_no_text_of_a_customer_comes_into_the_log_whatever_happens(quick, topics, tmp_path):
    answers = _secret_answers()
    nonsense = _secret_nonsense(Codec().encode(answers[0]))
    document = KnowledgeDocument("d-1", "nl", SECRET, f"Klik op **{SECRET}**.", answers[0].produced_at)
    documents = [Outgoing(Codec().encode(document), b"d-1"), Outgoing(SECRET.encode(), b"d-2")]
    noisy = with_retrieval(changed(quick, log={"level": "debug"}, encoding={"json_input": True}))
    with (
        hanging_collector() as nobody,
        Worker(_exporting(noisy, nobody), tmp_path, secrets=_QUICK_EXPORT) as worker,
    ):
        worker.wait_ready()
        await produce(quick.kafka, topics.documents, documents)
        await produce(quick.kafka, topics.answers, [outgoing(a, Codec()) for a in answers[:10]] + nonsense)
        worker.kill()
        worker.start()
        worker.wait_ready()
        await produce(quick.kafka, topics.answers, [outgoing(a, Codec()) for a in answers[10:]])
        await read_until_settled(quick, answers, buried=len(nonsense))
        # And once more, to be asked to stop while there is work.
        await produce(quick.kafka, topics.answers, [outgoing(a, Codec()) for a in answers])
        assert worker.terminate() == 0
        log = worker.log
    assert SECRET not in log
    assert SECRET.encode().hex() not in log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    letters = [line for line in lines if line["event"] == "dead_letter"]
    assert letters
    assert all(len(line["trace_id"]) == 32 and len(line["span_id"]) == 16 for line in letters)
    # Of the collector that says nothing: a line for each signal of each process, and two of the library.
    of_collector = [line for line in lines if line["logger"].startswith(("opentelemetry", "grpc"))]
    assert sum(line["event"] == "telemetry_not_exported" for line in lines) in range(1, 7)
    assert len(of_collector) <= 4


async def test_a_header_name_that_is_not_utf_8_stops_neither_the_answers_nor_the_documents(
    quick, topics, tmp_path, monkeypatch
):
    for module in (message_accumulator, producer):
        monkeypatch.setattr(module, "DefaultRecordBatchBuilder", _DefaultRecordBatchBuilderPy)
    odd = ((RawName(b"\xff\xfe" + SECRET.encode()), b"x"),)
    now = datetime.now(UTC)
    document = KnowledgeDocument("d-1", "nl", "t", "Klik op **Nieuw**.", now)
    documents = [Outgoing(Codec().encode(document), b"d-1", odd)]
    await produce(quick.kafka, topics.documents, documents)
    answers = [replace(answer, document_ids=("d-1",), context=()) for answer in sample_answers(20, "odd")]
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        records = [replace(outgoing(answer, Codec()), headers=odd) for answer in answers]
        records += [Outgoing(b"no answer", b"c", odd)]
        await produce(quick.kafka, topics.answers, records)
        ledger = await read_until_settled(quick, answers, buried=1)
        assert SECRET not in worker.log
    ledger.assert_settled(answers, buried=1)
    assert {verdict.context_ids for verdict in ledger.verdicts} == {("d-1",)}
    assert "\\xff\\xfe" + SECRET in ledger.buried[0]


def _is_building(worker: Worker) -> bool:
    children = psutil.Process(worker.pid).children()
    return any("spawn_main" in " ".join(child.cmdline()) for child in children)


async def test_the_processes_of_a_killed_worker_end_by_themselves(quick, topics, tmp_path):
    await produce(quick.kafka, topics.documents, sample_documents())
    searching = with_retrieval(changed(quick, scoring={"processes": 2}), ready_before_complete=True)
    with Worker(searching, tmp_path) as worker:
        worker.wait_ready()
        await eventually(lambda: _is_building(worker), "the index is being built")
        children = psutil.Process(worker.pid).children(recursive=True)
        assert len(children) >= 4  # two that score, the one that starts them, and the one that builds
        await produce(quick.kafka, topics.answers, [outgoing(a, Codec()) for a in sample_answers(40, "left")])
        worker.kill()
        gone, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []
    assert len(gone) == len(children)


async def test_a_web_port_that_is_taken_is_told(quick, topics):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, output = _refusal(changed(quick, web={"port": port}))
    assert code == 2
    assert f"web.port {port}" in output
    assert len(output.splitlines()) == 1


async def test_a_variable_that_opentelemetry_refuses_is_told(quick, topics):
    exporting = changed(quick, telemetry={"otlp_endpoint": f"http://{NOBODY}"})
    code, output = _refusal(exporting, OTEL_EXPORTER_OTLP_TIMEOUT="abc")
    assert code == 2
    assert "OTEL_EXPORTER_OTLP_TIMEOUT" in output
    assert len(output.splitlines()) == 1


async def test_a_pipeline_that_cannot_be_had_is_told(quick, topics):
    code, output = _refusal(changed(quick, scoring={"pipelines": {"nl": "nope_pipeline"}}))
    assert code == 2
    assert "language 'nl': pipeline 'nope_pipeline' cannot be loaded" in output
    assert json.loads(output.splitlines()[-1])["event"] == "worker_failed"


@pytest.mark.parametrize("seconds", [1, 3_600])
async def test_a_session_timeout_that_kafka_refuses_is_told(quick, topics, tmp_path, seconds):
    with Worker(changed(quick, flow={"session_timeout_seconds": seconds}), tmp_path) as worker:
        assert worker.wait() == 2
    last = json.loads(worker.log.splitlines()[-1])
    assert (last["event"], last["exit_code"]) == ("worker_ends", 2)
    assert last["reason"].startswith(f"flow.session_timeout_seconds {seconds} is refused by Kafka: ")


async def test_a_documents_store_in_use_by_another_worker_is_told(quick, topics, tmp_path):
    with Worker(quick, tmp_path, "first") as worker:
        worker.wait_ready()
        code, output = _refusal(changed(quick, documents={"store": tmp_path / "first"}))
        assert worker.running
    assert code == 2
    *before, last = output.splitlines()
    assert str(tmp_path / "first") in last
    assert [json.loads(line)["event"] for line in before] == ["policy_current"]


async def test_a_worker_that_is_refused_by_its_group_says_so_and_stops_when_asked(quick, topics, tmp_path):
    """A consumer of another kind holds the group, so the worker never gets its partitions."""
    async with open_consumer(
        quick.kafka,
        topics.answers,
        group_id=quick.kafka.consumer_group,
        partition_assignment_strategy=[StickyPartitionAssignor],
    ) as other:
        await eventually(lambda: bool(other.assignment()), "the other consumer has the partitions")
        with Worker(quick, tmp_path) as worker:
            await eventually(
                lambda: worker.get("/readyz") == (503, "waiting for the consumer group\n"),
                "it says what it waits for",
            )
            assert worker.get("/healthz")[0] == 200
            assert worker.terminate() == 0


async def _replace_answers(settings: Settings, topics: Topics) -> None:
    async with open_admin(settings.kafka) as admin:
        await admin.delete_topics([topics.answers])

        async def gone() -> bool:
            return topics.answers not in await admin.list_topics()

        await eventually(gone, "the topic is deleted")
    await create_topics(settings)


async def test_no_answer_is_lost_when_the_topic_is_deleted_and_made_again(quick, topics, tmp_path):
    before, after = sample_answers(20, "before"), sample_answers(40, "after")

    async def all_committed() -> bool:
        return sum((await committed(quick.kafka, topics.answers)).values()) == len(before)

    with Supervised(Worker(quick, tmp_path)) as supervised:
        supervised.worker.wait_ready()
        await produce(quick.kafka, topics.answers, [outgoing(answer, Codec()) for answer in before])
        await read_until_settled(quick, before)
        await eventually(all_committed, "the offsets are committed")
        await _replace_answers(quick, topics)
        await produce(quick.kafka, topics.answers, [outgoing(answer, Codec()) for answer in after])
        # Not in order: what the first process read of the new topic came out before it noticed.
        ledger = await read_until_settled(quick, [*before, *after])
        await eventually(lambda: bool(supervised.exit_codes), "the first process has ended")
        assert len(ledger.times_answered) == len(before) + len(after)
        assert not ledger.buried
        assert EXIT_SOFTWARE in supervised.exit_codes
        assert "was deleted or replaced" in supervised.worker.log
