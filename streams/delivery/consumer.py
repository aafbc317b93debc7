"""Faust's Kafka consumer with a commit rule that never skips an event still in work.

Faust 0.15 commits past an unfinished event when later ones are acknowledged first, and
acknowledges on its own what it drops in a rebalance. Here only an explicit ``finish`` counts,
and :class:`~streams.delivery.offsets.OffsetTracker` decides what may be committed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from faust.transport.drivers import aiokafka
from faust.types import TP, Message
from faust.types.transports import TPorTopicSet
from mode.utils.futures import notify

from streams.delivery.offsets import OffsetTracker


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
        """Find nothing: :class:`~streams.health.Health` tells of answers that wait and no commit.

        Faust measures from the last commit, so it calls the first answers after a quiet time a defect.
        """

    def partitions_of(self, topic: str) -> int:
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
