"""The probe tells when the brokers last said all that it asked, and nothing that they did not say."""

import asyncio
from collections.abc import Callable, Collection, Coroutine

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import KafkaTimeoutError
from aiokafka.structs import OffsetAndMetadata
from faust.types import TP

from streams.kafka.topic_identity import TopicDescription, TopicIdentity
from streams.observability.health import Health
from streams.settings import KafkaSettings
from streams.worker import progress_probe as probing
from streams.worker.progress_probe import ProgressProbe
from tests.support.virtual_time import run_virtually

TP0 = TP("answers", 0)


class Brokers:
    """The client and the consumer of the probe in one: a topic with one partition, 7 of 7 answers done."""

    def __init__(self) -> None:
        self.awake = asyncio.Event()
        self.awake.set()
        self.refuses: Exception | None = None
        self.swallows_cancellation = False
        self.partitions: tuple[int, ...] = (0,)
        self.committed_offset = 7
        self.metadata_updates = 0
        self._client = self._coordinator = self

    async def describe(self) -> TopicDescription:
        return TopicDescription(TopicIdentity("cluster", "answers", "id"), self.partitions)

    async def fetch_committed_offsets(
        self, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        return dict.fromkeys(partitions, OffsetAndMetadata(self.committed_offset, ""))

    async def beginning_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, 0)

    async def end_offsets(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        if self.refuses:
            raise self.refuses
        try:
            await self.awake.wait()
        except asyncio.CancelledError:
            if not self.swallows_cancellation:
                raise
        return {each: 7 + 5 * each.partition for each in partitions}

    def force_metadata_update(self) -> None:
        self.metadata_updates += 1


Scenario = Callable[[Brokers, Health, "asyncio.Task[None]"], Coroutine[object, object, None]]


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Scenario], None]:
    """Give what runs a scenario beside a probe that asks every three seconds, in virtual time."""

    async def described(client: Brokers, *_: object) -> TopicDescription:
        return await client.describe()

    monkeypatch.setattr(probing, "describe_topic", described)

    async def play(scenario: Scenario) -> None:
        brokers = Brokers()
        health = Health(180, 10, asyncio.get_running_loop().time)
        health.set_waiting_for(None)

        async def rewind() -> None:
            raise AssertionError

        probe = ProgressProbe(
            KafkaSettings(), brokers, "answers", lambda: [TP0], health, 3, rewind, lambda _: True
        )
        await probe.identify()
        task = asyncio.create_task(probe.run())
        await scenario(brokers, health, task)
        task.cancel()
        await asyncio.wait([task])

    return lambda scenario: run_virtually(play(scenario))


def test_brokers_that_answer_are_never_silent_for_longer_than_the_interval(
    probed: Callable[[Scenario], None],
) -> None:
    async def scenario(_: Brokers, health: Health, __: asyncio.Task[None]) -> None:
        for _second in range(60):
            await asyncio.sleep(1)
            assert health.kafka_silence is not None
            assert health.kafka_silence <= 3
            assert health.partition_progress() == {TP0: (0, 0)}

    probed(scenario)


def test_brokers_that_describe_a_topic_and_tell_no_offsets_are_silent_until_they_do(
    probed: Callable[[Scenario], None],
) -> None:
    async def scenario(brokers: Brokers, health: Health, _: asyncio.Task[None]) -> None:
        await asyncio.sleep(4)
        brokers.awake.clear()
        await asyncio.sleep(10)
        assert health.unready_reason == "Kafka has not answered for 11 s"
        await asyncio.sleep(40)
        assert health.unready_reason == "Kafka has not answered for 51 s (TimeoutError)"
        assert health.partition_progress() == {}
        assert brokers.metadata_updates == 1
        brokers.awake.set()
        await asyncio.sleep(0.2)
        assert health.unready_reason is None
        assert health.partition_progress() == {TP0: (0, 0)}

    probed(scenario)


def test_what_the_client_fails_of_is_told_and_its_metadata_renewed(
    probed: Callable[[Scenario], None],
) -> None:
    async def scenario(brokers: Brokers, health: Health, _: asyncio.Task[None]) -> None:
        brokers.refuses = KafkaTimeoutError()
        await asyncio.sleep(11.5)
        assert health.unready_reason == "Kafka has not answered for 12 s (KafkaTimeoutError)"
        assert brokers.metadata_updates == 4

    probed(scenario)


def test_brokers_that_are_asked_no_more_are_not_called_silent(probed: Callable[[Scenario], None]) -> None:
    async def scenario(_: Brokers, health: Health, task: asyncio.Task[None]) -> None:
        await asyncio.sleep(4)
        task.cancel()
        await asyncio.sleep(30)
        assert health.kafka_silence is None
        assert health.unready_reason is None

    probed(scenario)


def test_a_probe_whose_cancellation_the_client_swallows_ends(probed: Callable[[Scenario], None]) -> None:
    async def scenario(brokers: Brokers, _: Health, task: asyncio.Task[None]) -> None:
        brokers.awake.clear()
        brokers.swallows_cancellation = True
        await asyncio.sleep(3.5)
        task.cancel()
        await asyncio.wait([task], timeout=30)
        assert task.cancelled()

    probed(scenario)


def test_the_worker_with_partition_0_reports_lag_and_age_of_those_that_nobody_owns(
    probed: Callable[[Scenario], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none_without_records(*_: object) -> set[TopicPartition]:
        return set()

    monkeypatch.setattr(ProgressProbe, "_without_records", none_without_records)

    async def scenario(brokers: Brokers, health: Health, _: asyncio.Task[None]) -> None:
        brokers.partitions = (0, 1)
        await asyncio.sleep(30.5)
        assert health.partition_progress() == {TP0: (0, 0)}
        (_, idle), (lag, age) = health.group_progress().values()
        assert (idle, lag) == (0, 5)
        assert 25 < age < 31
        brokers.committed_offset = 8
        await asyncio.sleep(3)
        assert health.group_progress()[1][0] == 4
        assert health.group_progress()[1][1] < 4

    probed(scenario)
