"""What is counted is published once, and time goes on where there is nothing more to read."""

from typing import Any

import pytest
from aiokafka import ConsumerRecord, TopicPartition

from schemas import Codec
from streams.kafka.topic_identity import TopicIdentity
from streams.rates.leader_state import ResumePoint
from streams.rates.rate_aggregator import AddResult
from streams.rates.verdict_counter import UnreadableVerdict, VerdictCounter
from streams.settings import Settings
from tests.support.clock import Clock
from tests.support.pages import BEGIN, blocked_verdict

CODEC = Codec()
A, B = TopicPartition("verdicts.blocked", 0), TopicPartition("verdicts.blocked", 1)
BEGIN_MS = int(BEGIN.timestamp()) * 1_000
MINUTE_MS = 60_000
SETTINGS = Settings()


def record(offset: int, value: bytes | None = None, at: TopicPartition = A) -> ConsumerRecord:
    value = CODEC.encode(blocked_verdict("Klik op Geheim", number=offset)) if value is None else value
    return ConsumerRecord(at.topic, at.partition, offset, BEGIN_MS, 0, b"c", value, None, 1, len(value), ())


def counting(ticks: Clock, *partitions: TopicPartition) -> VerdictCounter:
    begin = dict.fromkeys(partitions, 0)
    origins = (TopicIdentity("cluster", "verdicts.blocked", "id-1"),)
    return VerdictCounter(SETTINGS, CODEC, origins, ResumePoint(begin, begin), None, {}, ticks)


async def test_what_is_new_is_published_once_with_its_windows_and_where_it_was_read_to():
    counted, told = counting(Clock(0.0), A), []
    await counted.count([record(0), record(1)], lambda _, taken: told.append(taken))
    counted.advance({A: 2}, [A])
    assert told == [AddResult.COUNTED] * 2
    published = counted.take_publication()
    assert published is not None
    assert {window.answers for window in published.windows} == {2}
    assert len({window.window_end - window.window_start for window in published.windows}) == 3
    assert b"[0,2,0," in dict(published.state)[b"progress"]
    assert counted.take_publication() is None, "nothing has come since"


async def test_what_cannot_be_read_is_passed_by_and_how_far_it_was_read_is_published():
    counted, told = counting(Clock(0.0), A), []
    assert counted.take_publication() is not None, "a first one, of where it began"
    await counted.count([record(0, b"nonsense")], lambda _, taken: told.append(taken))
    counted.advance({A: 1}, [A])
    assert told == [None]
    published = counted.take_publication()
    assert published is not None
    assert published.windows == ()
    assert b"[0,1,1,null]" in dict(published.state)[b"progress"]


@pytest.mark.parametrize("value", [b"\xc3\x01 8 bytes", b"\0\0\0\0\7body"])
async def test_a_verdict_that_another_release_can_read_is_never_passed_by(value):
    counted = counting(Clock(0.0), A)
    with pytest.raises(UnreadableVerdict) as caught:
        await counted.count([record(0), record(1, value)], _untold)
    assert (caught.value.topic, caught.value.offset) == (A.topic, 1)
    with pytest.raises(UnreadableVerdict):
        await counted.replay([record(1, value)])


async def test_windows_that_change_are_published_though_nothing_was_read_since():
    ticks = Clock(0.0)
    counted = counting(ticks, A)
    await counted.count([record(0)], _untold)
    counted.advance({A: 1}, [A])
    assert counted.take_publication() is not None
    ticks.now += 3 * 3_600
    counted.advance({A: 1}, [A])
    published = counted.take_publication()
    assert published is not None
    assert all(window.final for window in published.windows)


async def test_a_partition_that_has_more_to_be_read_holds_time_back_and_one_at_its_end_does_not():
    ticks = Clock(0.0)
    counted = counting(ticks, A, B)
    await counted.count([record(0)], _untold)
    ticks.now += 10 * SETTINGS.rates.idle_after_seconds
    counted.advance({A: 1, B: 0}, [A])
    assert counted.watermark == 0, "nothing is known of the other"
    counted.advance({A: 1, B: 0}, [A, B])
    idle = round(9 * SETTINGS.rates.idle_after_seconds * 1_000)
    assert counted.watermark == BEGIN_MS + idle
    counted.advance({A: 1, B: 0}, [])
    assert counted.watermark == BEGIN_MS + idle


def _untold(*_: Any) -> None:
    pass
