"""Commits: only finished events count, through rebalances too, and no commit passes one in progress."""

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import faust
import pytest
from faust.types import TP, Message
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from streams.delivery.faust_consumer import OffsetTracker, SafeConsumer, SafeTransport
from tests.support.ports import NOBODY

TP0 = TP("answers", 0)
TP1 = TP("answers", 1)


def _offsets() -> st.SearchStrategy[list[int]]:
    """Increasing offsets with gaps, as compaction and transaction markers leave them."""
    return st.lists(st.integers(0, 200), unique=True, max_size=40).map(sorted)


def test_nothing_is_committable_before_the_first_event_is_finished():
    tracker = OffsetTracker()
    tracker.deliver(TP0, 7)
    assert tracker.committable(TP0) is None


def test_a_slow_event_at_the_head_holds_back_all_later_ones():
    tracker = OffsetTracker()
    for offset in range(5, 10):
        tracker.deliver(TP0, offset)
    tracker.finish(TP0, 5)
    for offset in (9, 8, 7):
        tracker.finish(TP0, offset)
    assert tracker.committable(TP0) == 6
    tracker.finish(TP0, 6)
    assert tracker.committable(TP0) == 10


def test_a_partition_is_in_work_until_its_oldest_event_and_all_after_it_are_finished():
    tracker = OffsetTracker()
    assert not tracker.has_unfinished(TP0)
    tracker.deliver(TP0, 5)
    tracker.deliver(TP0, 6)
    tracker.finish(TP0, 6)
    assert tracker.has_unfinished(TP0)
    tracker.finish(TP0, 5)
    assert not tracker.has_unfinished(TP0)


def test_partitions_do_not_hold_back_each_other():
    tracker = OffsetTracker()
    tracker.deliver(TP0, 0)
    tracker.deliver(TP1, 0)
    tracker.finish(TP1, 0)
    assert (tracker.committable(TP0), tracker.committable(TP1)) == (None, 1)


def test_a_late_finish_of_a_forgotten_partition_changes_nothing():
    tracker = OffsetTracker()
    tracker.deliver(TP0, 0)
    tracker.forget([TP0, TP1])
    tracker.finish(TP0, 0)
    assert tracker.committable(TP0) is None
    assert list(tracker) == []


@given(_offsets(), st.data())
def test_committable_is_the_oldest_unfinished_or_one_past_the_last(delivered, data):
    tracker = OffsetTracker()
    for offset in delivered:
        tracker.deliver(TP0, offset)
    finished = data.draw(st.permutations(delivered))
    count = data.draw(st.integers(0, len(finished)))
    for offset in finished[:count]:
        tracker.finish(TP0, offset)
    unfinished = sorted(set(delivered) - set(finished[:count]))
    committable = tracker.committable(TP0)
    if committable is not None:
        assert all(offset >= committable for offset in unfinished)
        assert committable - 1 in delivered
    done_at_the_head = [o for o in delivered if not unfinished or o < unfinished[0]]
    assert committable == (done_at_the_head[-1] + 1 if done_at_the_head else None)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=60))
def test_the_committable_offset_never_goes_back(steps):
    tracker, next_offset, in_work, last = OffsetTracker(), 0, [], 0
    for deliver, pick in steps:
        if deliver or not in_work:
            tracker.deliver(TP0, next_offset)
            in_work.append(next_offset)
            next_offset += 1
        else:
            tracker.finish(TP0, in_work.pop(pick % len(in_work)))
        committable = tracker.committable(TP0) or 0
        assert committable >= last
        last = committable


def test_what_is_finished_in_any_order_is_not_remembered_once_it_can_be_committed():
    tracker = OffsetTracker()
    for offset in range(100):
        tracker.deliver(TP0, offset)
    for offset in reversed(range(100)):
        tracker.finish(TP0, offset)
    partition = tracker._partitions[TP0]
    assert (tracker.committable(TP0), len(partition.finished), len(partition.delivered)) == (100, 0, 0)


def message(offset: int, tp: TP = TP0) -> Message:
    return Message(tp.topic, tp.partition, offset, 0.0, 0, (), b"k", b"v", None, tp=tp)


class CommitRecorder:
    """Records commits, instead of the thread that talks to Kafka."""

    beacon = None

    def __init__(self) -> None:
        self.committed: list[dict[TP, int]] = []

    def assignment(self) -> set[TP]:
        return {TP0, TP1}

    async def commit(self, offsets: Mapping[TP, int]) -> bool:
        self.committed.append(dict(offsets))
        return True


@pytest.fixture
async def consumer(monkeypatch: pytest.MonkeyPatch) -> SafeConsumer:
    monkeypatch.setattr(SafeConsumer, "_new_consumer_thread", lambda _: CommitRecorder())
    app = faust.App("test", broker=f"kafka://{NOBODY}", web_enabled=False)
    app.assignor = SimpleNamespace(assigned_standbys=set, assigned_actives=lambda: {TP0, TP1})
    transport = SafeTransport([URL(f"kafka://{NOBODY}")], app)
    made = transport.create_consumer(
        _nothing, on_partitions_revoked=_nothing, on_partitions_assigned=_nothing
    )
    made._set_active_tps({TP0, TP1})
    assert isinstance(made, SafeConsumer)
    return made


async def _nothing(*_: Any) -> None:
    pass


def take(consumer: SafeConsumer, each: Message) -> Message:
    """Deliver a message as Faust does, which then waits for its acknowledgement in a rebalance."""
    consumer.track_message(each)
    consumer.deliver(each)
    return each


async def test_only_what_is_finished_is_committed_up_to_the_oldest_unfinished(consumer):
    first, second, third = (take(consumer, message(offset)) for offset in (5, 6, 9))
    consumer.finish(third)
    assert not await consumer.commit(), "the first two are in work"
    consumer.finish(first)
    assert await consumer.commit()
    consumer.finish(second)
    assert await consumer.commit()
    assert consumer._thread.committed == [{TP0: 6}, {TP0: 10}]


async def test_what_faust_acknowledges_on_its_own_is_not_committed(consumer):
    dropped = take(consumer, message(5))
    assert consumer.ack(dropped)
    assert not await consumer.commit()
    assert consumer._thread.committed == []


async def test_acknowledging_takes_a_message_off_the_list_that_a_rebalance_waits_for_once(consumer):
    first, second = take(consumer, message(5)), take(consumer, message(6))
    waiting = asyncio.get_running_loop().create_future()
    consumer._waiting_for_ack = waiting
    assert consumer.ack(first)
    assert waiting.done(), "who waits looks again"
    assert (set(consumer.unacked), consumer._n_acked, first.acked) == ({second}, 1, True)
    assert not consumer.ack(first)
    assert consumer._n_acked == 1
    first.acked = True
    consumer.track_message(first)
    assert consumer.ack(first), "marked by somebody else, it is still waited for"
    assert set(consumer.unacked) == {second}


async def test_a_rebalance_waits_for_what_is_in_work_and_commits_it_before_it_forgets_the_partitions(
    consumer,
):
    here, there = take(consumer, message(5)), take(consumer, message(7, TP1))

    async def revoked(partitions: set[TP]) -> None:
        asyncio.get_running_loop().call_soon(lambda: (consumer.finish(here), consumer.finish(there)))
        await consumer.wait_empty()

    consumer._on_partitions_revoked = revoked
    await consumer.on_partitions_revoked({TP0})
    assert {TP0: 6, TP1: 8} in consumer._thread.committed, "whoever has them next repeats nothing"
    assert list(consumer.offsets) == [TP1]


async def test_partitions_that_come_back_are_counted_anew(consumer):
    late = take(consumer, message(5))
    await consumer.on_partitions_revoked({TP0})
    take(consumer, message(9))
    consumer.finish(late)
    assert not await consumer.commit(), "what is in work is from after the rebalance"


async def test_a_commit_can_be_asked_for_by_topic_or_partition(consumer):
    for tp in (TP0, TP1):
        consumer.finish(take(consumer, message(0, tp)))
    assert set(consumer._filter_tps_with_pending_acks()) == {TP0, TP1}
    assert list(consumer._filter_tps_with_pending_acks({TP1})) == [TP1]
    assert set(consumer._filter_tps_with_pending_acks({"answers"})) == {TP0, TP1}
    assert list(consumer._filter_tps_with_pending_acks({"documents"})) == []


@pytest.mark.parametrize(("known", "count"), [({0, 1, 2}, 3), (None, 0), (set(), 0)])
async def test_the_partitions_of_a_topic_are_asked_of_the_client(consumer, known, count):
    asked = []
    client = SimpleNamespace(partitions_for_topic=lambda topic: asked.append(topic) or known)
    consumer._thread = SimpleNamespace(_consumer=client)
    assert consumer.partition_count("answers") == count
    assert asked == ["answers"]


async def test_without_a_client_no_partition_is_known(consumer):
    consumer._thread = SimpleNamespace(_consumer=None)
    assert consumer.partition_count("answers") == 0
