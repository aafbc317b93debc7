"""Faust's consumer commits what is finished and nothing else, through rebalances too."""

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import faust
import pytest
from faust.types import TP, Message
from yarl import URL

from streams.delivery.faust_consumer import SafeConsumer, SafeTransport
from tests.support.ports import NOBODY

HERE, THERE = TP("answers", 0), TP("answers", 1)


def message(offset: int, tp: TP = HERE) -> Message:
    return Message(tp.topic, tp.partition, offset, 0.0, 0, (), b"k", b"v", None, tp=tp)


class Brokers:
    """Keeps what is committed, in place of the thread that talks to Kafka."""

    beacon = None

    def __init__(self) -> None:
        self.committed: list[dict[TP, int]] = []

    def assignment(self) -> set[TP]:
        return {HERE, THERE}

    async def commit(self, offsets: Mapping[TP, int]) -> bool:
        self.committed.append(dict(offsets))
        return True


@pytest.fixture
async def consumer(monkeypatch: pytest.MonkeyPatch) -> SafeConsumer:
    monkeypatch.setattr(SafeConsumer, "_new_consumer_thread", lambda _: Brokers())
    app = faust.App("test", broker=f"kafka://{NOBODY}", web_enabled=False)
    app.assignor = SimpleNamespace(assigned_standbys=set, assigned_actives=lambda: {HERE, THERE})
    transport = SafeTransport([URL(f"kafka://{NOBODY}")], app)
    made = transport.create_consumer(
        _nothing, on_partitions_revoked=_nothing, on_partitions_assigned=_nothing
    )
    made._set_active_tps({HERE, THERE})
    assert isinstance(made, SafeConsumer)
    return made


async def _nothing(*_: Any) -> None:
    pass


def take(consumer: SafeConsumer, each: Message) -> Message:
    """Deliver a message as Faust does, which then waits for its acknowledgement in a rebalance."""
    consumer.track_message(each)
    consumer.deliver(each)
    return each


async def test_only_what_is_finished_is_committed_up_to_the_oldest_unfinished(consumer: SafeConsumer) -> None:
    first, second, third = (take(consumer, message(offset)) for offset in (5, 6, 9))
    consumer.finish(third)
    assert not await consumer.commit(), "the first two are in work"
    consumer.finish(first)
    assert await consumer.commit()
    consumer.finish(second)
    assert await consumer.commit()
    assert consumer._thread.committed == [{HERE: 6}, {HERE: 10}]


async def test_what_faust_acknowledges_on_its_own_is_not_committed(consumer: SafeConsumer) -> None:
    dropped = take(consumer, message(5))
    assert consumer.ack(dropped)
    assert not await consumer.commit()
    assert consumer._thread.committed == []


async def test_acknowledging_takes_a_message_off_the_list_that_a_rebalance_waits_for_once(
    consumer: SafeConsumer,
) -> None:
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
    consumer: SafeConsumer,
) -> None:
    here, there = take(consumer, message(5)), take(consumer, message(7, THERE))

    async def revoked(partitions: set[TP]) -> None:
        asyncio.get_running_loop().call_soon(lambda: (consumer.finish(here), consumer.finish(there)))
        await consumer.wait_empty()

    consumer._on_partitions_revoked = revoked
    await consumer.on_partitions_revoked({HERE})
    assert {HERE: 6, THERE: 8} in consumer._thread.committed, "whoever has them next repeats nothing"
    assert list(consumer.offsets) == [THERE]


async def test_partitions_that_come_back_are_counted_anew(consumer: SafeConsumer) -> None:
    late = take(consumer, message(5))
    await consumer.on_partitions_revoked({HERE})
    take(consumer, message(9))
    consumer.finish(late)
    assert not await consumer.commit(), "what is in work is from after the rebalance"


async def test_a_commit_can_be_asked_for_by_topic_or_partition(consumer: SafeConsumer) -> None:
    for tp in (HERE, THERE):
        consumer.finish(take(consumer, message(0, tp)))
    assert set(consumer._filter_tps_with_pending_acks()) == {HERE, THERE}
    assert list(consumer._filter_tps_with_pending_acks({THERE})) == [THERE]
    assert set(consumer._filter_tps_with_pending_acks({"answers"})) == {HERE, THERE}
    assert list(consumer._filter_tps_with_pending_acks({"documents"})) == []


@pytest.mark.parametrize(("known", "count"), [({0, 1, 2}, 3), (None, 0), (set(), 0)])
async def test_the_partitions_of_a_topic_are_asked_of_the_client(
    consumer: SafeConsumer, known: set[int] | None, count: int
) -> None:
    asked = []
    client = SimpleNamespace(partitions_for_topic=lambda topic: asked.append(topic) or known)
    consumer._thread = SimpleNamespace(_consumer=client)
    assert consumer.partition_count("answers") == count
    assert asked == ["answers"]


async def test_without_a_client_no_partition_is_known(consumer: SafeConsumer) -> None:
    consumer._thread = SimpleNamespace(_consumer=None)
    assert consumer.partition_count("answers") == 0
