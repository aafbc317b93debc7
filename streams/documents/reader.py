"""One consumer without a group over all partitions of a topic, positioned by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from streams.documents.rebuild import Log
from streams.kafka.clients import open_consumer
from streams.kafka.topic_identity import describe_topic
from streams.settings import KafkaSettings


class TopicReader:
    """Reads one topic from given offsets on.

    Args:
        consumer: started, without a group or a topic.
        topic: the full name.
        limit: seconds that one look at the topic may take.
        clock: seconds since 1970.
    """

    def __init__(
        self, consumer: AIOKafkaConsumer, topic: str, limit: float, clock: Callable[[], float]
    ) -> None:
        self._consumer = consumer
        self._topic = topic
        self._limit = limit
        self._clock = clock
        self._partitions: tuple[TopicPartition, ...] = ()

    async def look(self) -> Log:
        """Ask which topic this is and how far it goes.

        Raises:
            KafkaError: the cluster cannot be reached, or refuses.
            TimeoutError: no answer within the limit.
        """
        async with asyncio.timeout(self._limit):
            seen_at = self._clock()
            # The consumer has no public way to send a request of one's own.
            description = await describe_topic(self._consumer._client, self._topic, self._limit)  # noqa: SLF001
            partitions = [TopicPartition(self._topic, partition) for partition in description.partitions]
            begins = await self._consumer.beginning_offsets(partitions)
            ends = await self._consumer.end_offsets(partitions)
        return Log(description.origin, _by_partition(begins), _by_partition(ends), seen_at)

    def read_from(self, positions: Mapping[int, int]) -> None:
        """Read these partitions from these offsets on."""
        self._partitions = tuple(TopicPartition(self._topic, partition) for partition in positions)
        # Assigned and positioned without an await, so that nothing is fetched in between.
        self._consumer.assign(list(self._partitions))
        for partition in self._partitions:
            self._consumer.seek(partition, positions[partition.partition])

    async def poll(self, wait: float, most: int) -> tuple[list[ConsumerRecord], dict[int, int]]:
        """Return the next records, in order within a partition, and the positions after them.

        The positions are the consumer's: compaction and transactions leave gaps behind the last record.

        Args:
            wait: seconds to wait when there is none.
            most: how many records at most.

        Raises:
            KafkaError: a position is out of the log's range, or reading is not allowed.
        """
        fetched = await self._consumer.getmany(timeout_ms=int(wait * 1000), max_records=most)
        positions = {at.partition: await self._consumer.position(at) for at in self._partitions}
        return [record for records in fetched.values() for record in records], positions

    def known_ends(self) -> dict[int, int]:
        """Return the next offset of each partition, as of the last answer to a fetch."""
        ends = {at.partition: self._consumer.highwater(at) for at in self._partitions}
        return {partition: end for partition, end in ends.items() if end is not None}


@asynccontextmanager
async def open_reader(
    settings: KafkaSettings, topic: str, clock: Callable[[], float]
) -> AsyncIterator[TopicReader]:
    """Open a reader of committed records; raises ServiceUnreachable."""
    # An offset that is not there must be an error, not a silent jump to another one: "none".
    options = {"auto_offset_reset": "none", "isolation_level": "read_committed"}
    async with open_consumer(settings, **options) as consumer:
        yield TopicReader(consumer, topic, settings.connect_timeout, clock)


def _by_partition(offsets: Mapping[TopicPartition, int]) -> dict[int, int]:
    return {at.partition: offset for at, offset in offsets.items()}
