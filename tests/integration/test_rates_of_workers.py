"""Workers that count rates: one leads, one that was stopped is passed over, and a failure stops no answer."""

import asyncio
import os
import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from schemas import Codec
from schemas.records import ChatbotAnswer
from streams.kafka.kafka_clients import open_admin
from streams.kafka.topics import Topics, create_topics, topic_specifications
from streams.settings import Settings
from tests.support.ledger import outgoing, read_until_settled, sample_answers
from tests.support.rates import until_exact, with_rates
from tests.support.records import Outgoing, eventually, produce
from tests.support.workers import Worker, changed

LEADS = "\ntruthgate_rates_leader 1"


@pytest.fixture
async def counted(settings: Settings) -> Settings:
    """Give settings of workers that are soon missed, without scoring, and make their topics."""
    windows = [{"size_seconds": 10}, {"size_seconds": 60, "hop_seconds": 30}]
    quick = with_rates(
        settings, windows=windows, allowed_lateness_seconds=5, retention_seconds=1800, idle_after_seconds=1
    )
    await create_topics(quick)
    return changed(quick, flow={"session_timeout_seconds": 6}, scoring={"enabled": False})


def _answers(count: int, run: str) -> list[ChatbotAnswer]:
    begin = datetime.now(UTC) - timedelta(minutes=10)
    return [
        replace(answer, produced_at=begin + timedelta(seconds=number))
        for number, answer in enumerate(sample_answers(count, run))
    ]


async def _judge(settings: Settings, answers: list[ChatbotAnswer]) -> None:
    topics = Topics(settings.kafka.topic_prefix)
    await produce(settings.kafka, topics.answers, [outgoing(answer, Codec()) for answer in answers])
    assert (await read_until_settled(settings, answers)).unanswered(answers) == set()


async def _shows(worker: Worker, text: str) -> bool:
    return text in (await asyncio.to_thread(worker.get, "/metrics"))[1]


async def test_a_leader_that_was_stopped_and_wakes_up_publishes_nothing(counted, tmp_path):
    workers = [Worker(counted, tmp_path, name) for name in ("first", "second")]
    with workers[0], workers[1]:
        for worker in workers:
            await asyncio.to_thread(worker.wait_ready)
        await _judge(counted, _answers(100, "before"))
        await until_exact(counted)
        leader, other = workers if await _shows(workers[0], LEADS) else reversed(workers)
        os.kill(leader.pid, signal.SIGSTOP)
        try:
            await eventually(lambda: _shows(other, LEADS), "the other one leads", 60)
            await _judge(counted, _answers(60, "meanwhile"))
            await until_exact(counted)
        finally:
            os.kill(leader.pid, signal.SIGCONT)
        await _judge(counted, _answers(60, "after"))
        await until_exact(counted)


async def _let_it_refuse(settings: Settings, refuse: bool) -> None:
    """Let the state topic take the markers of transactions and no more, or what it took before."""
    topic = Topics(settings.kafka.topic_prefix).rates_state
    (spec,) = (spec for spec in topic_specifications(settings) if spec.name == topic)
    config = {**spec.config, "max.message.bytes": "200"} if refuse else dict(spec.config)
    async with open_admin(settings.kafka) as admin:
        await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, config)])


async def test_answers_are_judged_while_rates_fail_and_are_counted_when_they_work_again(counted, tmp_path):
    with Worker(counted, tmp_path) as worker:
        await asyncio.to_thread(worker.wait_ready)
        await _let_it_refuse(counted, refuse=True)
        await _judge(counted, _answers(60, "failing"))
        failed = '\ntruthgate_rates_failures_total{error_type="MessageSizeTooLargeError"}'
        await eventually(lambda: _shows(worker, failed), "it fails")
        assert (await asyncio.to_thread(worker.get, "/readyz"))[0] == 200
        await _let_it_refuse(counted, refuse=False)
        await _judge(counted, _answers(60, "working"))
        await until_exact(counted)
        assert await asyncio.to_thread(worker.terminate) == 0


async def test_records_of_somebody_else_in_the_state_stop_no_rates(counted, tmp_path):
    foreign = [
        Outgoing(b"nonsense", b"progress"),
        Outgoing(b"1", b"a key of somebody else"),
        Outgoing(b"no count", b'["late",60000,0,"instruction","nl"]'),
        Outgoing(None, b"\xff"),
    ]
    await produce(counted.kafka, Topics(counted.kafka.topic_prefix).rates_state, foreign)
    with Worker(counted, tmp_path) as worker:
        await asyncio.to_thread(worker.wait_ready)
        await _judge(counted, _answers(60, "foreign"))
        await until_exact(counted)
        assert '"state_unreadable"' in worker.log
        assert "rates_failed" not in worker.log
