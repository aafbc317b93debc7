"""One consumer without a group over all partitions of the three verdict topics, positioned by hand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from streams.kafka.clients import open_consumer
from streams.kafka.topic_identity import Origin, describe_topic
from streams.settings import KafkaSettings

Offsets = Mapping[TopicPartition, int]

#: How long records that are there may fail to arrive before the consumer counts as broken.
STALL_SECONDS = 60.0
#: A fetch that finds nothing holds up a change of partitions for so long.
_FETCH_WAIT_MS = 200
_POLL_SECONDS = 0.2
#: Unpacking so many takes some milliseconds, and the event loop waits for it.
_MOST_RECORDS = 200


@dataclass(frozen=True, slots=True)
class VerdictLog:
    """The verdict topics as they stand: which they are, and the first and next offset of each partition."""

    origins: tuple[Origin, ...]
    begins: Offsets
    ends: Offsets

    def is_same(self, origins: tuple[Origin, ...]) -> bool:
        """Whether these are the topics that were there before, and none was deleted and made again."""
        return len(origins) == len(self.origins) and all(map(Origin.is_same, self.origins, origins))


class VerdictReader:
    """Reads the verdict topics from given offsets on.

    Args:
        consumer: started, without a group or a topic.
        topics: their full names.
        limit: seconds that one question to the brokers may take.
    """

    def __init__(self, consumer: AIOKafkaConsumer, topics: tuple[str, ...], limit: float) -> None:
        self._consumer = consumer
        self._topics = topics
        self._limit = limit
        self.positions: dict[TopicPartition, int] = {}

    async def look(self) -> VerdictLog:
        """Ask which topics these are and how far they go.

        Raises:
            KafkaError: the cluster cannot be reached, or refuses.
            TimeoutError: no answer within the limit.
        """
        async with asyncio.timeout(self._limit):
            # The consumer has no public way to send a request of one's own.
            client = self._consumer._client  # noqa: SLF001
            described = [await describe_topic(client, topic, self._limit) for topic in self._topics]
            partitions = [
                TopicPartition(topic.origin.topic, number)
                for topic in described
                for number in topic.partitions
            ]
            begins = await self._consumer.beginning_offsets(partitions)
            ends = await self._consumer.end_offsets(partitions)
        return VerdictLog(tuple(topic.origin for topic in described), begins, ends)

    async def first_since(self, since: int, log: VerdictLog) -> dict[TopicPartition, int]:
        """Give of each partition the first offset whose record is not older than ``since`` (milliseconds).

        Raises as :meth:`look` does.
        """
        async with asyncio.timeout(self._limit):
            found = await self._consumer.offsets_for_times(dict.fromkeys(log.ends, since))
        return {at: found[at].offset if found.get(at) else end for at, end in log.ends.items()}

    def read_from(self, positions: Offsets) -> None:
        """Read these partitions from these offsets on."""
        # Assigned and positioned without an await, so that nothing is fetched in between.
        self._consumer.assign(list(positions))
        for at, offset in positions.items():
            self._consumer.seek(at, offset)
        self.positions = dict(positions)

    def hold_back(self, partitions: Collection[TopicPartition]) -> None:
        """Read nothing of these partitions until the next call, and all others."""
        held = self._consumer.paused()
        self._consumer.pause(*(at for at in partitions if at not in held))
        self._consumer.resume(*(at for at in held if at not in partitions))

    async def poll(self, wait: float) -> list[ConsumerRecord]:
        """Return the next records, in order within a partition; ``positions`` are those after them.

        It waits for ``wait`` seconds when there is none. Raises KafkaError when a position is out of the
        log's range or reading is not allowed, TimeoutError.
        """
        async with asyncio.timeout(wait + self._limit):
            fetched = await self._consumer.getmany(timeout_ms=int(wait * 1000), max_records=_MOST_RECORDS)
            # The consumer's: what transactions and compaction remove leaves gaps behind the last record.
            self.positions = {at: await self._consumer.position(at) for at in self.positions}
        return [record for records in fetched.values() for record in records]

    async def replay(self, begin: Offsets, end: Offsets) -> AsyncIterator[list[ConsumerRecord]]:
        """Give all records from ``begin`` up to ``end``, which is not included.

        Raises as :meth:`poll` does, TimeoutError also when records do not arrive.
        """
        left = {at: begin[at] for at in end if begin[at] < end[at]}
        if left:
            self.read_from(left)
        moved_at = time.monotonic()
        while left:
            before = self.positions
            records = await self.poll(_POLL_SECONDS)
            yield [record for record in records if record.offset < end[place_of(record)]]
            left = {at: now for at, now in self.positions.items() if now < end[at]}
            self.hold_back(self.positions.keys() - left.keys())
            if self.positions != before:
                moved_at = time.monotonic()
            if time.monotonic() - moved_at > STALL_SECONDS:
                raise TimeoutError(f"verdicts do not arrive within {STALL_SECONDS:g} s")

    def at_end(self) -> list[TopicPartition]:
        """Give the partitions that are read to their end, as the last answer to a fetch told it."""
        ends = {at: self._end(at) for at in self.positions}
        return [at for at, end in ends.items() if end is not None and self.positions[at] >= end]

    @property
    def lag(self) -> int:
        """How many offsets are still to be read, as far as the brokers have told."""
        return sum(max(0, (self._end(at) or 0) - position) for at, position in self.positions.items())

    def _end(self, at: TopicPartition) -> int | None:
        end: int | None = self._consumer.highwater(at)
        return end


@asynccontextmanager
async def open_reader(settings: KafkaSettings, topics: tuple[str, ...]) -> AsyncIterator[VerdictReader]:
    """Open a reader of verdicts; raises ServiceUnreachable."""
    options = {
        # An offset that is not there must be an error, not a silent jump to another one: "none".
        "auto_offset_reset": "none",
        "isolation_level": "read_committed",
        "fetch_max_wait_ms": _FETCH_WAIT_MS,
    }
    async with open_consumer(settings, **options) as consumer:
        yield VerdictReader(consumer, topics, settings.connect_timeout)


def place_of(record: ConsumerRecord) -> TopicPartition:
    """Give the partition that a record came from."""
    return TopicPartition(record.topic, record.partition)
