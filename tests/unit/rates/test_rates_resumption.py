"""A new leader goes on where the last one was, or says why not, and gives up what it cannot count whole."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from aiokafka import TopicPartition

from schemas import RateAlert
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicSnapshot
from streams.rates.leader_state import (
    AggregatorState,
    LeaderState,
    PartitionState,
    ResumePoint,
    read_late_counts,
    read_state,
    restart_reason,
    resume,
    start_over,
    state_records,
)
from streams.rates.verdict_counter import ReplayOffsets
from streams.rates.verdict_counts import WindowKey, from_epoch_ms

A, B = TopicPartition("verdicts.review", 0), TopicPartition("verdicts.review", 1)
ORIGIN = TopicIdentity("cluster", "verdicts.review", "id-1")
STATE = LeaderState(
    origins=(ORIGIN,),
    partitions={"verdicts.review": [PartitionState(0, 10, 4, 900), PartitionState(1, 5, 5, None)]},
    aggregator=AggregatorState(5_000, 4_000, 1_000, [(1000, 500, 0)]),
)
NOW = 50_000


def _log(begins: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]) -> TopicSnapshot:
    return TopicSnapshot((ORIGIN,), begins, ends, NOW / 1000)


def test_it_goes_on_where_the_last_one_was():
    seen = _log({A: 0, B: 0}, {A: 20, B: 5})
    assert restart_reason(STATE, seen) is None
    assert resume(STATE, seen, NOW) == ResumePoint({A: 4, B: 5}, {A: 10, B: 5})


@pytest.mark.parametrize(
    ("state", "seen", "reason"),
    [
        (None, _log({A: 0}, {A: 0}), "new"),
        (STATE, TopicSnapshot((ORIGIN._replace(topic_id="id-2"),), {A: 0}, {A: 99}, 0), "another_topic"),
        (STATE, TopicSnapshot((), {}, {}, 0), "another_topic"),
        (STATE, _log({A: 0, B: 0}, {A: 9, B: 5}), "offset_out_of_range"),
        (STATE, _log({A: 0}, {A: 99}), "offset_out_of_range"),
    ],
)
def test_it_starts_over_where_the_log_is_not_the_one_that_was_read(state, seen, reason):
    assert restart_reason(state, seen) == reason


def test_a_new_partition_is_read_from_its_beginning():
    new = TopicPartition("verdicts.review", 2)
    found = resume(STATE, _log({A: 0, B: 0, new: 0}, {A: 10, B: 5, new: 7}), NOW)
    assert (found.replay_from[new], found.positions[new], found.floor) == (0, 0, 0)


def test_windows_of_what_was_deleted_are_given_up():
    counted_before = resume(STATE, _log({A: 7, B: 0}, {A: 20, B: 5}), NOW)
    assert counted_before == ResumePoint({A: 7, B: 5}, {A: 10, B: 5}, 901)
    unread = resume(STATE, _log({A: 12, B: 0}, {A: 20, B: 5}), NOW)
    assert unread == ResumePoint({A: 12, B: 5}, {A: 12, B: 5}, NOW + 1)


def test_a_first_start_takes_all_or_what_is_young_enough():
    seen = _log({A: 0, B: 3}, {A: 20, B: 5})
    assert start_over(seen, {A: 0, B: 3}, 1_000) == ResumePoint({A: 0, B: 3}, {A: 0, B: 3})
    assert start_over(seen, {A: 8, B: 3}, 1_000) == ResumePoint({A: 8, B: 3}, {A: 8, B: 3}, 1_000)


def _alert() -> RateAlert:
    then = from_epoch_ms(1_000)
    rates = {"threshold": 0.2, "rate": 0.5, "rate_low": 0.3, "rate_high": 0.7}
    return RateAlert(
        "id", "a", "firing", "warning", None, "nl", then, then, **rates,
        scored=10, hallucinated=5, since=then, description="d", runbook="#r",
    )  # fmt: skip


def test_a_state_comes_back_as_it_was_left():
    lates = {WindowKey(1000, 500, "binary", ""): 2, WindowKey(1000, 0, "binary", "nl"): 0}
    left = replace(STATE, firing=(_alert(),))
    records = dict(state_records(left, lates, {}))
    assert (read_state(records), read_late_counts(records)) == (left, lates)


def test_only_lates_that_changed_are_written_and_those_that_are_gone_deleted():
    gone, same, changed = (WindowKey(1000, start, "binary", "nl") for start in (0, 1000, 2000))
    *written, (last, _) = state_records(STATE, {same: 1, changed: 3}, {gone: 1, same: 1, changed: 2})
    assert sorted(value or b"" for _, value in written) == [b"", b"3"]
    assert last == b"progress"


def test_a_replay_starts_at_the_first_verdict_that_still_matters():
    starts = ReplayOffsets()
    for offset, horizon in enumerate([100, 300, 200, 300, 100]):
        starts.note(A, offset, horizon)
    starts.note(B, 7, 100)
    positions = {A: 5, B: 8}
    assert starts.offsets(0, positions) == {A: 0, B: 7}
    assert starts.offsets(100, positions) == {A: 1, B: 8}
    assert starts.offsets(200, positions) == {A: 1, B: 8}
    assert starts.offsets(300, positions) == {A: 5, B: 8}
