"""Faust's consumer with a commit rule: no offset passes an event that is in progress.

Faust 0.15 commits past an unfinished event when later ones are acknowledged first, and acknowledges by itself
what it drops in a rebalance. Here only an explicit ``finish`` counts, and :class:`OffsetTracker` decides what
may be committed.
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
    """The delivered events of one partition from the commit position on."""

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
    """Tracks delivered and finished events and computes how far each partition may be committed.

    The committable offset of a partition is the offset of its oldest unfinished event, or the one after
    its last event if all are finished. So no commit passes an event in progress, however many later ones
    are finished: after a crash it is delivered again.

    Offsets of one partition must be delivered in increasing order, as Kafka does; gaps (from compaction
    or transaction markers) are fine. Not thread-safe.
    """

    def __init__(self) -> None:
        self._partitions: dict[TP, _Partition] = {}

    def deliver(self, tp: TP, offset: int) -> None:
        """Record that the event at ``offset`` is in progress."""
        self._partitions.setdefault(tp, _Partition()).delivered.append(offset)

    def finish(self, tp: TP, offset: int) -> None:
        """Record that the event has its verdict or dead letter; ignored for a forgotten partition."""
        if partition := self._partitions.get(tp):
            partition.finish(offset)

    def has_unfinished(self, tp: TP) -> bool:
        """Return whether a delivered event of the partition is unfinished, or follows an unfinished one."""
        partition = self._partitions.get(tp)
        return partition is not None and bool(partition.delivered)

    def committable(self, tp: TP) -> int | None:
        """Return the offset to commit (the next to read), or None if there is none yet."""
        partition = self._partitions.get(tp)
        return partition.position if partition else None

    def forget(self, tps: Iterable[TP]) -> None:
        """Forget partitions that now belong to another worker."""
        for tp in tps:
            self._partitions.pop(tp, None)

    def __iter__(self) -> Iterator[TP]:
        return iter(self._partitions)


class SafeConsumer(aiokafka.Consumer):
    """Commits each partition up to its oldest unfinished event, and no further."""

    #: Faust's own log lines keep its name and level.
    logger = logging.getLogger("faust")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offsets = OffsetTracker()

    def deliver(self, message: Message) -> None:
        """Record that the message is in progress; called in the order of delivery."""
        self.offsets.deliver(message.tp, message.offset)

    def finish(self, message: Message) -> None:
        """Record that the broker has acknowledged the message's verdict or dead letter."""
        self.offsets.finish(message.tp, message.offset)
        message.ack(self)

    def ack(self, message: Message) -> bool:
        """Remove the message from those that a rebalance waits for; offsets are not affected."""
        if message.acked is True and message not in self._unacked_messages:
            return False
        message.acked = True
        self._unacked_messages.discard(message)
        self._n_acked += 1
        notify(self._waiting_for_ack)
        return True

    def on_buffer_full(self, tp: TP) -> None:
        """Continue fetching: the full buffer itself blocks the fetcher until there is room.

        Faust removes a partition with a full buffer from the next fetch, and sleeps for a second when
        none is left, long after the buffer has been drained. That suits applications with several
        topics; this one reads a single topic.
        """

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Do nothing: :class:`~streams.observability.health.Health` detects stalled answers.

        Faust measures from the last commit, so it reports the first answers after a quiet time as a
        defect.
        """

    def partition_count(self, topic: str) -> int:
        """Return the number of a subscribed topic's partitions, 0 before the brokers have reported it.

        Faust's ``topic_partitions`` reads what only the group's leader has: any other member, and one
        that rejoins with its static id, would never know.
        """
        consumer = self._thread._consumer  # noqa: SLF001 - Faust has no public way to it
        return len(consumer.partitions_for_topic(topic) or ()) if consumer else 0

    def group_failure(self) -> BaseException | None:
        """Return why the group rejects this consumer; None if it does not, or has not been asked.

        aiokafka waits, without limit, for a read that would raise the reason, and Faust reads in
        another way.
        """
        consumer = self._thread._consumer  # noqa: SLF001 - Faust has no public way to it
        return getattr(consumer and consumer._coordinator, "_pending_exception", None)  # noqa: SLF001 - as above

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Finish and commit what is in progress, then forget the partitions."""
        await super().on_partitions_revoked(revoked)
        self.offsets.forget(revoked)

    def _filter_tps_with_pending_acks(self, topics: TPorTopicSet | None = None) -> Iterator[TP]:
        return (tp for tp in self.offsets if topics is None or tp in topics or tp.topic in topics)

    def _new_offset(self, tp: TP) -> int | None:
        return self.offsets.committable(tp)


class SafeTransport(aiokafka.Transport):
    """Faust's aiokafka transport with :class:`SafeConsumer`."""

    Consumer = SafeConsumer
