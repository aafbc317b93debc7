"""Faust's consumer with a commit rule: no offset passes an event that is still in work.

Faust 0.15 commits past an unfinished event when later ones are acknowledged first, and
acknowledges on its own what it drops in a rebalance. Here only an explicit ``finish`` counts,
and :class:`~streams.delivery.faust_consumer.OffsetTracker` decides what may be committed.
"""

import logging
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from faust.transport.drivers import aiokafka
from faust.types import TP, Message
from faust.types.transports import TPorTopicSet
from mode.utils.futures import notify


@dataclass(slots=True)
class _Partition:
    """The events of one partition that were delivered and lie at or behind the commit position."""

    delivered: deque[int] = field(default_factory=deque)
    finished: set[int] = field(default_factory=set)
    position: int | None = None

    def finish(self, offset: int) -> None:
        self.finished.add(offset)
        while self.delivered and self.delivered[0] in self.finished:
            done = self.delivered.popleft()
            self.finished.discard(done)
            self.position = done + 1


class OffsetTracker:
    """Follows delivered and finished events and says how far each partition may be committed.

    The committable offset of a partition is the offset of its oldest unfinished event, or the
    one after its last event when all are finished. So an event in work is never committed
    past, however many later ones are done: after a crash it is delivered again.

    Offsets of one partition must be delivered in increasing order, as Kafka does; gaps (from
    compaction or transaction markers) are fine. Not safe for use from several threads.
    """

    def __init__(self) -> None:
        self._partitions: dict[TP, _Partition] = {}

    def deliver(self, tp: TP, offset: int) -> None:
        """Note that work on the event at ``offset`` begins."""
        self._partitions.setdefault(tp, _Partition()).delivered.append(offset)

    def finish(self, tp: TP, offset: int) -> None:
        """Note that the event has its verdict or dead letter; ignored for a forgotten partition."""
        if partition := self._partitions.get(tp):
            partition.finish(offset)

    def has_unfinished(self, tp: TP) -> bool:
        """Say whether an event of the partition is delivered and not finished, or follows one that is not."""
        partition = self._partitions.get(tp)
        return partition is not None and bool(partition.delivered)

    def committable(self, tp: TP) -> int | None:
        """Return the offset to commit (the next one to be read), or None when there is none yet."""
        partition = self._partitions.get(tp)
        return partition.position if partition else None

    def forget(self, tps: Iterable[TP]) -> None:
        """Drop what is known of partitions that now belong to another worker."""
        for tp in tps:
            self._partitions.pop(tp, None)

    def __iter__(self) -> Iterator[TP]:
        return iter(self._partitions)


class SafeConsumer(aiokafka.Consumer):
    """Commits each partition up to its oldest unfinished event, and no further."""

    #: Faust's own lines keep its name: at the level of its others, and never under ours.
    logger = logging.getLogger("faust")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offsets = OffsetTracker()

    def deliver(self, message: Message) -> None:
        """Note that work on the message begins; call it in the order of delivery."""
        self.offsets.deliver(message.tp, message.offset)

    def finish(self, message: Message) -> None:
        """Note that the message has its verdict or dead letter, acknowledged by the broker."""
        self.offsets.finish(message.tp, message.offset)
        message.ack(self)

    def ack(self, message: Message) -> bool:
        """Take the message off the list that a rebalance waits for; offsets are not concerned."""
        if message.acked is True and message not in self._unacked_messages:
            return False
        message.acked = True
        self._unacked_messages.discard(message)
        self._n_acked += 1
        notify(self._waiting_for_ack)
        return True

    def on_buffer_full(self, tp: TP) -> None:
        """Go on fetching: the full buffer itself holds the fetcher up until there is room.

        Faust takes a partition with a full buffer out of the next fetch, and sleeps for a second
        when none is left, long after the buffer has run empty. That is for applications with
        several topics; this one reads a single topic.
        """

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Find nothing: :class:`~streams.observability.health.Health` tells of stalled answers.

        Faust measures from the last commit, so it calls the first answers after a quiet time a defect.
        """

    def partition_count(self, topic: str) -> int:
        """Return how many partitions a subscribed topic has, 0 before the brokers have told.

        Faust's ``topic_partitions`` reads what only the leader of a group keeps: any other member, and one
        that comes back under its static id, would never know.
        """
        consumer = self._thread._consumer  # noqa: SLF001 - Faust passes this on to nobody
        return len(consumer.partitions_for_topic(topic) or ()) if consumer else 0

    def group_failure(self) -> BaseException | None:
        """Return why the group does not take this consumer, None where it does or has not been asked.

        aiokafka then waits, without limit, for a read of its own that would raise the reason, and Faust reads
        in another way.
        """
        consumer = self._thread._consumer  # noqa: SLF001 - Faust passes this on to nobody
        return getattr(consumer and consumer._coordinator, "_pending_exception", None)  # noqa: SLF001 - as above

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Finish and commit what is in work, then forget the partitions."""
        await super().on_partitions_revoked(revoked)
        self.offsets.forget(revoked)

    def _filter_tps_with_pending_acks(self, topics: TPorTopicSet | None = None) -> Iterator[TP]:
        return (tp for tp in self.offsets if topics is None or tp in topics or tp.topic in topics)

    def _new_offset(self, tp: TP) -> int | None:
        return self.offsets.committable(tp)


class SafeTransport(aiokafka.Transport):
    """Faust's aiokafka transport with :class:`SafeConsumer` in it."""

    Consumer = SafeConsumer
