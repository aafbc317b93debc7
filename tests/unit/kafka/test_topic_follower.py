"""What follows a topic whatever Kafka does forgets what it cannot read, says why, and reads it anew."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import pytest
from aiokafka import ConsumerRecord
from aiokafka.errors import OffsetOutOfRangeError, RequestTimedOutError, UnknownTopicOrPartitionError
from structlog.testing import capture_logs

from streams.kafka import topic_follower
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topic_follower import keep_following
from streams.kafka.topic_reader import Freshness
from streams.settings import KafkaSettings
from tests.support.followed_topic import FIRST, Topic, now
from tests.support.pauses import raw_record
from tests.support.virtual_time import run_virtually


class Offsets:
    """Keeps the offsets of what was read, until it is lost."""

    def __init__(self) -> None:
        self.freshness = Freshness(10, now)
        self.read: list[int] = []
        self.lost: list[tuple[float, str]] = []
        self.polls = 0
        self.is_current_at_the_end = False

    def apply(self, records: Iterable[ConsumerRecord]) -> None:
        self.read += [record.offset for record in records]

    def on_poll(self) -> None:
        self.polls += 1

    def on_lost(self, code: str) -> None:
        self.lost.append((now(), code))
        self.read.clear()
        self.freshness.forget()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Give what readers were opened with; each reads the topic that comes first, or fails so."""
    opened: list[object] = []

    @asynccontextmanager
    async def open_topic(
        kafka: KafkaSettings, topic: Topic | Exception, **options: object
    ) -> AsyncIterator[Topic]:
        opened.append((kafka, options))
        if isinstance(topic, Exception):
            raise topic
        yield topic

    monkeypatch.setattr(topic_follower, "open_reader", open_topic)
    return opened


def followed(topic: Topic | Exception, meanwhile, seconds: float) -> Offsets:
    """Follow a topic for so long, while a test changes it."""

    async def main() -> Offsets:
        state = Offsets()
        task = asyncio.create_task(
            keep_following(state, "the records", KafkaSettings(), topic, state.on_lost)  # type: ignore[arg-type]
        )
        await asyncio.sleep(1)
        await meanwhile(state)
        await asyncio.sleep(seconds)
        state.is_current_at_the_end = state.freshness.is_current
        task.cancel()
        return state

    return run_virtually(main())


def test_a_topic_that_was_replaced_is_read_anew(opened):
    topic = Topic(raw_record(b"a", b"1", 0))

    async def replace(state: Offsets) -> None:
        assert (state.read, state.freshness.is_current, state.polls >= 4) == ([0], True, True)
        topic.topic_id, topic.records[FIRST] = "2", [raw_record(b"b", b"1", 0), raw_record(b"c", b"1", 1)]

    state = followed(topic, replace, 12)
    assert [code for _, code in state.lost] == ["replaced"]
    assert (state.read, state.is_current_at_the_end) == ([0, 1], True)
    assert opened == [(KafkaSettings(), {"isolation_level": "read_uncommitted"})] * 2


def test_a_topic_that_was_deleted_is_lost_after_three_checks_and_tried_every_two_seconds(opened):
    topic, gone = Topic(), UnknownTopicOrPartitionError("controls")

    async def delete(_: Offsets) -> None:
        topic.looks = [gone] * 5

    state = followed(topic, delete, 60)
    name = "UnknownTopicOrPartitionError"
    assert [(round(at), code) for at, code in state.lost] == [(30, "deleted"), (32, name), (34, name)]
    assert state.is_current_at_the_end


@pytest.mark.parametrize("failure", [OffsetOutOfRangeError(), ServiceUnreachable("k:9092 does not answer")])
def test_a_topic_that_cannot_be_read_is_lost_until_it_can(failure, opened):
    topic = Topic(raw_record(b"a", b"1", 0))

    async def fail(state: Offsets) -> None:
        topic.failure = failure
        await asyncio.sleep(3)
        assert (state.read, state.freshness.is_current) == ([], False)
        topic.failure = None

    state = followed(topic, fail, 3)
    assert {code for _, code in state.lost} == {type(failure).__name__}
    assert state.read == [0]


def test_brokers_that_cannot_be_reached_are_tried_again(opened):
    async def nothing(_: Offsets) -> None: ...

    state = followed(ServiceUnreachable("k:9092 does not answer"), nothing, 4)
    assert [(round(at), code) for at, code in state.lost] == [
        (0, "ServiceUnreachable"),
        (2, "ServiceUnreachable"),
        (4, "ServiceUnreachable"),
    ]


def test_a_check_without_reply_is_logged_once_and_changes_nothing(opened):
    topic = Topic(raw_record(b"a", b"1", 0))

    async def time_out(_: Offsets) -> None:
        topic.looks = [RequestTimedOutError()] * 2

    with capture_logs() as logs:
        state = followed(topic, time_out, 35)
    assert (state.read, state.lost) == ([0], [])
    assert [(line["event"], line["error_type"]) for line in logs] == [
        ("followed_topic_unreachable", "RequestTimedOutError")
    ]
