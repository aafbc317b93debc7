"""A broker that freezes: its connections stay open, and whoever asks it hears nothing."""

import asyncio
import signal
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from schemas import Codec
from streams.cli.command_output import ExitCode
from streams.embedded import EmbeddedKafka
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topics import Topics, create_topics
from streams.observability.failures import EXIT_UNREACHABLE
from streams.settings import Settings
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.commands import clean_environment, command, variables
from tests.support.ledger import outgoing, read_until_settled, sample_answers
from tests.support.records import eventually, produce
from tests.support.verdicts import any_verdict
from tests.support.workers import Supervised, Worker, changed

pytestmark = pytest.mark.timeout(600)

_NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
_VERDICT = Codec().encode(any_verdict(produced_at=_NOW, scored_at=_NOW))

_OF_PROGRESS = {"truthgate_consumer_lag", "truthgate_commit_age_seconds"}
#: What a loaded machine may take beside the limits of the settings.
_SLACK_SECONDS = 5.0


@pytest.fixture
async def settings(kafka: EmbeddedKafka, tmp_path: Path) -> Settings:
    """Give settings of one quick worker with limits as shipped; the topics exist."""
    settings = isolated_settings(kafka.bootstrap_servers, tmp_path, unique_prefix())

    async def created() -> bool:
        # A broker that was frozen leaves its cluster for a moment once it notices, and has no leader then.
        with suppress(ServiceUnreachable):
            await create_topics(settings)
            return True
        return False

    await eventually(created, "the topics are created")
    return changed(
        settings,
        kafka={"group_instance_id": "only"},
        flow={"session_timeout_seconds": 6},
        scoring={"processes": 1},
    )


def _shown(worker: Worker) -> dict[str, float]:
    """Give what the worker's metrics show of Kafka and of its progress, summed over labels."""
    shown: dict[str, float] = {}
    for family in text_string_to_metric_families(worker.metrics()):
        for sample in family.samples:
            shown[sample.name] = shown.get(sample.name, 0) + sample.value
    return shown


async def _until_unready(worker: Worker, limit: float) -> float:
    """Wait until the worker says that Kafka does not answer, and return after how many seconds it did."""
    began = time.monotonic()

    def unready() -> bool:
        return worker.get("/readyz")[1].startswith("Kafka has not answered for ")

    await eventually(unready, "it says that Kafka does not answer", limit + _SLACK_SECONDS)
    return time.monotonic() - began


async def _seconds(number: int) -> AsyncIterator[int]:
    """Count seconds as they go by."""
    for second in range(number):
        await asyncio.sleep(1)
        yield second


async def test_a_frozen_broker_makes_a_worker_unready_in_seconds_and_nothing_is_lost(
    kafka, settings, tmp_path, scale, report, record_property
):
    answers = sample_answers(60, "frozen")
    topic, limit = Topics(settings.kafka.topic_prefix).answers, settings.health.kafka_timeout_seconds
    with Supervised(Worker(settings, tmp_path)) as supervised:
        worker = supervised.worker
        worker.wait_ready()
        await produce(settings.kafka, topic, [outgoing(answer, Codec()) for answer in answers[:30]])
        await read_until_settled(settings, answers[:30])
        await eventually(lambda: _shown(worker).keys() >= _OF_PROGRESS, "progress is shown")
        shown = _shown(worker)
        assert (shown["truthgate_kafka_up"], shown["truthgate_ready"]) == (1, 1)
        kafka.brokers[0].pause()
        record_property("unready_seconds", await _until_unready(worker, limit))
        shown = _shown(worker)
        assert (shown["truthgate_kafka_up"], shown["truthgate_ready"]) == (0, 0)
        assert limit < shown["truthgate_kafka_silence_seconds"] < limit + _SLACK_SECONDS
        assert not _OF_PROGRESS & shown.keys()
        await asyncio.sleep(scale.outage_seconds)  # the outage itself, not a wait for something
        assert worker.get("/healthz") == (200, "ok\n")
        kafka.brokers[0].resume()
        began = time.monotonic()
        await eventually(lambda: worker.get("/readyz")[0] == 200, "it is ready again", 60)
        record_property("ready_seconds", time.monotonic() - began)
        await produce(settings.kafka, topic, [outgoing(answer, Codec()) for answer in answers[30:]])
        ledger = await read_until_settled(settings, answers)
        await eventually(lambda: _shown(worker).keys() >= _OF_PROGRESS, "progress is shown again")
    ledger.assert_settled(answers)
    assert supervised.exit_codes == []
    report(ledger, answers, faults=1)


async def test_one_frozen_broker_of_three_makes_a_worker_unready_at_most_until_others_take_over(
    trio, tmp_path, record_property
):
    settings = isolated_settings(trio.bootstrap_servers, tmp_path, unique_prefix())
    await create_topics(settings)
    with Supervised(Worker(changed(settings, scoring={"processes": 1}), tmp_path)) as supervised:
        worker = supervised.worker
        worker.wait_ready()
        trio.brokers[0].pause()
        ready = [worker.get("/readyz")[0] == 200 async for _ in _seconds(45)]
        trio.brokers[0].resume()
    record_property("unready_seconds", ready.count(False))
    # A controller gives a broker up after nine seconds; to ask it in vain, and another one, takes the rest.
    assert all(ready[30:])
    assert supervised.exit_codes == []


async def test_a_worker_that_gives_up_on_a_frozen_broker_ends_as_unreachable(kafka, settings, tmp_path):
    impatient = {"stall_timeout_seconds": 15, "kafka_timeout_seconds": 3}
    with Worker(changed(settings, health=impatient), tmp_path) as worker:
        worker.wait_ready()
        kafka.brokers[0].pause()
        assert await _until_unready(worker, 3) < 3 + _SLACK_SECONDS
        assert worker.get("/healthz") == (200, "ok\n")
        assert await asyncio.to_thread(worker.wait, 15 + _SLACK_SECONDS) == EXIT_UNREACHABLE
        kafka.brokers[0].resume()
    assert '"reason": "Kafka has not answered for 1' in worker.log


async def test_tail_says_once_that_a_frozen_broker_does_not_answer_and_goes_on_when_it_does(kafka, settings):
    topic = Topics(settings.kafka.topic_prefix).review
    tail = await asyncio.create_subprocess_exec(
        *command("tail", "--json", "--from-beginning"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(variables(settings)),
    )
    assert tail.stdout
    assert tail.stderr
    try:
        await produce(settings.kafka, topic, [_VERDICT])
        assert await asyncio.wait_for(tail.stdout.readline(), 60)
        kafka.brokers[0].pause()
        told = await asyncio.wait_for(tail.stderr.readline(), 20 + _SLACK_SECONDS)
        await asyncio.sleep(25)  # long enough to ask, and hear nothing, once more
        kafka.brokers[0].resume()
        await produce(settings.kafka, topic, [_VERDICT])
        assert await asyncio.wait_for(tail.stdout.readline(), 60)
        tail.send_signal(signal.SIGINT)
        rest = await asyncio.wait_for(tail.stderr.read(), 20)
        assert await tail.wait() == ExitCode.INTERRUPTED
    finally:
        if tail.returncode is None:
            tail.kill()
            await tail.wait()
    assert b"does not answer within 10 s" in told
    assert rest.splitlines() == [b"truthgate: Kafka answers again", b"truthgate: interrupted"]
