"""A leader takes over and counts whatever stands in the state topic, its own records or anybody's."""

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from aiokafka import ConsumerRecord, TopicPartition
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from schemas import Codec
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicSnapshot
from streams.rates import rate_leader
from streams.rates.leader_state import (
    AggregatorState,
    LeaderState,
    PartitionState,
    StateRecords,
    read_late_counts,
    read_state,
    state_records,
)
from streams.rates.verdict_counter import VerdictCounter
from streams.rates.verdict_counts import WindowKey
from streams.settings import KafkaSettings, Settings
from tests.support.pages import BEGIN, blocked_verdict

CODEC = Codec()
A = TopicPartition("verdicts.blocked", 0)
ORIGIN = TopicIdentity("cluster", "verdicts.blocked", "id-1")
NOW = BEGIN.timestamp() + 60
SEEN = TopicSnapshot((ORIGIN,), {A: 0}, {A: 3}, NOW)
MINUTE_MS = 60_000
BEGIN_MS = int(BEGIN.timestamp()) * 1_000
STATE = LeaderState(
    origins=(ORIGIN,),
    partitions={A.topic: [PartitionState(0, 1, 0, BEGIN_MS)]},
    aggregator=AggregatorState(BEGIN_MS, BEGIN_MS - MINUTE_MS, 0, []),
)
LATE = WindowKey(300_000, BEGIN_MS - BEGIN_MS % 300_000, "instruction", "nl")
OURS: StateRecords = dict(state_records(STATE, {LATE: 1}, {}))
WRITTEN: dict[str, Any] = json.loads(STATE.to_json())
FOREIGN: StateRecords = {
    b"": b"",
    b"\xff": b"\xff",
    b"a key of somebody else": b"a value",
    b'["late",300000,0,"nobody\'s","nl"]': b"1",
    b'["late",300000,0,"instruction","nl"]': b"no count",
    b'["late",300000,300000,"instruction","nl"]': None,
}


class Log:
    """Three verdicts in one partition, in place of the brokers."""

    def __init__(self) -> None:
        self.positions: dict[TopicPartition, int] = {}

    async def snapshot(self) -> TopicSnapshot:
        return SEEN

    async def offsets_since(self, since: int, log: TopicSnapshot) -> dict[TopicPartition, int]:
        return dict(log.beginning_offsets)

    async def read_between(
        self, begin: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]
    ) -> AsyncIterator[list[ConsumerRecord]]:
        yield [record(offset) for offset in range(begin[A], end[A])]

    def read_from(self, positions: Mapping[TopicPartition, int]) -> None:
        self.positions = dict(positions)


def record(offset: int) -> ConsumerRecord:
    value = CODEC.encode(blocked_verdict("Klik op Geheim", number=offset))
    return ConsumerRecord(A.topic, 0, offset, BEGIN_MS, 0, b"c", value, None, 1, len(value), ())


async def counted(records: StateRecords) -> VerdictCounter:
    """Take over from these records and count the rest of the log."""
    reader = Log()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rate_leader, "read_records", lambda *_: _given(records))
        counting = await rate_leader.restore_counter(Settings(), CODEC, reader, lambda: True)
    assert counting is not None
    rest = [record(offset) for offset in range(reader.positions[A], SEEN.end_offsets[A])]
    await counting.count(rest, lambda *_: None)
    counting.advance(SEEN.end_offsets, [A])
    return counting


async def _given(records: StateRecords) -> StateRecords:
    return records


def left_by(counting: VerdictCounter, records: StateRecords) -> StateRecords:
    """Give what the topic holds after the next publication."""
    publication = counting.take_publication()
    assert publication is not None
    return {**records, **dict(publication.state)}


async def test_it_goes_on_from_its_own_state_beside_foreign_records():
    with capture_logs() as lines:
        counting = await counted({**FOREIGN, **OURS})
    assert [(line["event"], line.get("records")) for line in lines if line["log_level"] == "warning"] == [
        ("rates_state_ignored", len(FOREIGN) - 1)
    ]
    left = left_by(counting, {**FOREIGN, **OURS})
    state = read_state(left)
    assert state is not None
    assert (state.by_partition[A].position, read_late_counts(left)) == (3, {LATE: 1})


@pytest.mark.parametrize(
    "progress", [b"", b"\xff\xfe", b"nonsense", b"[]", b"{}", b'{"version":2}', b"[" * 1_000, None]
)
async def test_a_progress_of_nobody_is_started_over_from_and_replaced_by_its_own(progress):
    foreign = {**FOREIGN, b"progress": progress}
    with capture_logs() as lines:
        counting = await counted(foreign)
    reasons = [line["reason"] for line in lines if line["event"] == "rates_start_over"]
    assert reasons == ["new" if progress is None else "state_unreadable"]
    left = left_by(counting, foreign)
    state = read_state(left)
    assert state is not None
    assert state.by_partition[A].position == 3


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
numbers = st.integers(0, 10**13) | st.just(BEGIN_MS)


@given(st.data())
def test_no_record_stops_the_counting(data):
    """Whatever is read as a state, however unlikely, can be gone on from and left again."""
    damaged: Any = copy.deepcopy(WRITTEN)
    place: Any = damaged
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not (isinstance(place[key], dict | list) and place[key]) or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(numbers if isinstance(place[key], int) else anything)
    late = json.dumps(["late", 300_000, data.draw(numbers), "instruction", "nl"]).encode()
    records = {b"progress": json.dumps(damaged).encode(), late: b"%d" % data.draw(numbers)}

    async def go() -> None:
        left = left_by(await counted(records), records)
        assert read_state(left) is not None

    asyncio.run(go())


async def test_it_reads_the_state_of_its_own_deployment(monkeypatch):
    asked: list[Any] = []

    async def read(*arguments: Any) -> StateRecords:
        asked.append(arguments)
        return OURS

    monkeypatch.setattr(rate_leader, "read_records", read)
    settings = Settings(kafka=KafkaSettings(topic_prefix="blue."))
    assert await rate_leader.restore_counter(settings, CODEC, Log(), lambda: True) is not None
    assert asked == [(settings.kafka, "blue.hallucination-rates.state")]


async def test_it_gives_up_when_another_leads_before_it_has_read_all_again(monkeypatch):
    monkeypatch.setattr(rate_leader, "read_records", lambda *_: _given(OURS))
    reader = Log()
    assert await rate_leader.restore_counter(Settings(), CODEC, reader, lambda: False) is None
    assert reader.positions == {}, "and is not set to read on"


async def test_without_a_state_it_looks_back_for_as_long_as_a_window_and_the_retention_reach(monkeypatch):
    looked_back: list[int] = []

    class Late(Log):
        async def offsets_since(self, since: int, log: TopicSnapshot) -> dict[TopicPartition, int]:
            looked_back.append(since)
            return {A: 2}

    monkeypatch.setattr(rate_leader, "read_records", lambda *_: _given({}))
    with capture_logs() as lines:
        assert await rate_leader.restore_counter(Settings(), CODEC, Late(), lambda: True) is not None
    assert looked_back == [round(NOW * 1_000) - (3_600 + 3_600) * 1_000]
    (late,) = [line for line in lines if line["event"] == "rates_begin_late"]
    assert (late["log_level"], late["first_window"]) == ("warning", looked_back[0])
