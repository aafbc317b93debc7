"""What the brokers say about the worker's partitions reaches its health as it is."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from faust.types import TP

from streams.kafka.kafka_clients import client_arguments, open_admin, open_consumer
from streams.kafka.topics import Topics, create_topics
from streams.observability.failures import EXIT_SOFTWARE, InfrastructureFailure
from streams.observability.health import Health, PartitionProgress
from streams.settings import Settings
from streams.worker.progress_probe import ProgressProbe
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.records import DEADLINE_SECONDS, Outgoing, committed, eventually, produce


class Observer(Health):
    """The health of a worker that waits for nothing; it keeps what it is told, in order."""

    def __init__(self, stall_timeout: float = 600) -> None:
        super().__init__(stall_timeout, kafka_timeout=10)
        self.set_waiting_for(None)
        self.seen: list[dict[TP, PartitionProgress]] = []

    def observe(self, progress) -> None:
        super().observe(progress)
        self.record_heartbeat()
        self.seen.append(dict(progress))


@asynccontextmanager
async def probing(settings: Settings, health: Health, *tps: TP) -> AsyncIterator[None]:
    """Observe these partitions ten times a second while the context lasts."""
    rewinds: list[bool] = []
    async with open_probe(settings, health, rewinds, *tps) as running:
        yield
        assert not running.done()
    assert not rewinds


@asynccontextmanager
async def open_probe(
    settings: Settings, health: Health, rewinds: list[bool], *tps: TP
) -> AsyncIterator[asyncio.Task[None]]:
    """Let a probe run that has identified the topic; each call of ``on_replaced`` adds to ``rewinds``."""

    async def rewind() -> None:
        rewinds.append(True)

    async with open_consumer(settings.kafka, group_id=settings.kafka.consumer_group) as consumer:
        answers = Topics(settings.kafka.topic_prefix).answers
        probe = ProgressProbe(
            settings.kafka, consumer, answers, lambda: tps, health, 0.1, rewind, lambda _: True
        )
        await probe.identify()
        running = asyncio.create_task(probe.run())
        try:
            yield running
        finally:
            running.cancel()
            await asyncio.wait([running])


async def failure(running: asyncio.Task[None]) -> str:
    """Wait until the probe fails as it should; give what it says."""
    with pytest.raises(InfrastructureFailure) as failed:
        await asyncio.wait_for(running, DEADLINE_SECONDS)
    assert failed.value.exit_code == EXIT_SOFTWARE
    return str(failed.value)


async def commit(settings: Settings, tp: TP, offset: int) -> None:
    async with open_consumer(settings.kafka, group_id=settings.kafka.consumer_group) as consumer:
        partition = TopicPartition(tp.topic, tp.partition)
        consumer.assign([partition])
        await consumer.commit({partition: offset})


async def produce_in_a_transaction(settings: Settings, topic: str, partitions: int) -> None:
    """Leave one record and one marker in each partition: offsets 0 and 1."""
    producer = AIOKafkaProducer(**client_arguments(settings.kafka), transactional_id=f"{topic}-tx")
    async with producer, producer.transaction():
        for partition in range(partitions):
            await producer.send(topic, b"answer", partition=partition)


async def test_lag_and_committed_offsets_are_those_of_the_group(settings, topics):
    tps = [TP(topics.answers, partition) for partition in range(2)]
    await produce(settings.kafka, topics.answers, [Outgoing(b"answer", partition=0)] * 5)
    await commit(settings, tps[0], 3)
    health, metrics = Observer(), WorkerMetrics()
    metrics.watch(health)
    async with probing(settings, health, *tps):
        await eventually(lambda: len(health.seen) >= 3, "three observations")
        assert health.seen[-1] == {tps[0]: PartitionProgress(3, 2), tps[1]: PartitionProgress(0, 0)}
        assert metrics.registry.get_sample_value("truthgate_consumer_lag", {"partition": "0"}) == 2
        assert metrics.registry.get_sample_value("truthgate_consumer_lag", {"partition": "1"}) == 0
        await commit(settings, tps[0], 5)
        await eventually(lambda: health.seen[-1][tps[0]] == PartitionProgress(5, 0), "the commit is seen")


async def test_answers_that_wait_without_a_commit_are_a_problem(settings, topics):
    tp = TP(topics.answers, 0)
    await produce(settings.kafka, topics.answers, [Outgoing(b"answer", partition=0)])
    health = Observer(stall_timeout=2)
    async with probing(settings, health, tp):
        await eventually(lambda: health.failure() is not None, "the standstill is seen")
    assert str(health.failure()).startswith("partition 0 has answers waiting and no commit for")
    assert all(seen == {tp: PartitionProgress(0, 1)} for seen in health.seen)


async def test_a_transaction_marker_at_the_end_is_no_answer_that_waits(settings, topics):
    tps = [TP(topics.answers, partition) for partition in range(3)]
    await produce_in_a_transaction(settings, topics.answers, 3)
    for tp in tps[:2]:
        await commit(settings, tp, 1)
    health = Observer(stall_timeout=2)
    async with probing(settings, health, *tps):
        await eventually(lambda: health.failure() is not None, "the answer that does wait is seen")
    assert str(health.failure()).startswith("partition 2 ")
    assert health.seen[-1] == {
        tps[0]: PartitionProgress(1, 0),
        tps[1]: PartitionProgress(1, 0),
        tps[2]: PartitionProgress(0, 2),
    }


async def test_a_worker_without_partitions_sees_the_brokers_all_the_same(settings, topics):
    health = Observer(stall_timeout=2)
    async with probing(settings, health):
        await eventually(lambda: len(health.seen) >= 3, "three observations")
    assert health.seen[-1] == {}
    assert health.failure() is None


async def test_a_topic_that_is_gone_ends_the_probe_and_takes_the_offsets_of_the_group_along(settings, topics):
    await produce(settings.kafka, topics.answers, [Outgoing(b"answer", partition=0)] * 5)
    await commit(settings, TP(topics.answers, 0), 3)
    rewinds: list[bool] = []
    async with open_probe(settings, Observer(), rewinds) as running:
        async with open_admin(settings.kafka) as admin:
            await admin.delete_topics([topics.answers])
        said = await failure(running)
    assert said == f"topic {topics.answers} was deleted or replaced: it is not there"
    assert rewinds == []
    await create_topics(settings)

    async def forgotten() -> bool:
        return set((await committed(settings.kafka, topics.answers)).values()) == {0}

    await eventually(forgotten, "the new topic has no offsets of the old one")


async def test_a_committed_offset_that_stays_beyond_the_end_ends_the_probe(settings, topics):
    tps = [TP(topics.answers, partition) for partition in range(2)]
    await produce(settings.kafka, topics.answers, [Outgoing(b"answer", partition=1)] * 5)
    await commit(settings, tps[0], 1)
    await commit(settings, tps[1], 4)
    health, rewinds = Observer(), list[bool]()
    async with open_probe(settings, health, rewinds, *tps) as running:
        said = await failure(running)
    assert said == f"topic {topics.answers} was deleted or replaced: it ends before the committed offset"
    assert rewinds == [True]
    assert len(health.seen) == 2  # it is believed the third time
