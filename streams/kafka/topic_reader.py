"""One consumer over all partitions of some topics: from given offsets to the end, or without end."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeAlias

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from streams.kafka.kafka_clients import ServiceUnreachable, check_reachable, open_consumer, raise_if_cancelled
from streams.kafka.topic_identity import TopicIdentity, describe_topic
from streams.settings import KafkaSettings

Offsets: TypeAlias = Mapping[TopicPartition, int]

#: Decoding this many takes some milliseconds, during which the event loop is blocked.
_MAX_RECORDS: Final = 200
_POLL_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 0.5
#: The timeout for records that exist but do not arrive; longer than a leader election.
_STALL_SECONDS: Final = 60.0
#: After this silence the reader checks whether the cluster is reachable.
_SILENCE_SECONDS: Final = 10.0


#: A check of the cluster: raises ServiceUnreachable, or tolerates the outage.
ReachabilityCheck: TypeAlias = Callable[[KafkaSettings], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class TopicSnapshot:
    """Topics at one moment: their identities, and the first and next offset of each partition.

    ``taken_at`` is in seconds since 1970, from before the offsets were requested.
    """

    identities: tuple[TopicIdentity, ...]
    beginning_offsets: Offsets
    end_offsets: Offsets
    taken_at: float

    def is_same(self, origins: tuple[TopicIdentity, ...]) -> bool:
        """Return whether the topics are the same as before: none was deleted and recreated."""
        return len(origins) == len(self.identities) and all(
            map(TopicIdentity.is_same, self.identities, origins)
        )

    def is_continued_by(self, later: Self) -> bool:
        """Return whether these topics are the same later, with the same partitions."""
        return later.is_same(self.identities) and later.end_offsets.keys() == self.end_offsets.keys()

    def resumed_at(self, next_offsets: Offsets) -> dict[TopicPartition, int]:
        """Return where to read on: at these offsets, and a partition without one from its beginning."""
        return {at: next_offsets.get(at, begin) for at, begin in self.beginning_offsets.items()}

    def is_reached_by(self, positions: Offsets) -> bool:
        """Return whether a reader at ``positions`` has read everything up to these ends."""
        return all(positions.get(at, 0) >= end for at, end in self.end_offsets.items())


@dataclass(eq=False)
class TopicReader:
    """Reads topics from given offsets.

    Args:
        settings: of the cluster; ``connect_timeout_seconds`` is the timeout of each request.
        consumer: started, without a topic; may also be used directly.
        topics: full names.
        clock: seconds since 1970.

    Attributes:
        positions: the next offset of each assigned partition, as the consumer has it: transactions and
            compaction leave gaps after the last record.
    """

    settings: KafkaSettings
    consumer: AIOKafkaConsumer
    topics: tuple[str, ...]
    clock: Callable[[], float] = time.time
    positions: dict[TopicPartition, int] = field(default_factory=dict, init=False)

    async def snapshot(self) -> TopicSnapshot:
        """Request the identities and offsets of the topics.

        Raises:
            KafkaError: the cluster refuses; UnknownTopicOrPartitionError with the name of a missing
                topic.
            ServiceUnreachable: no response in time.
        """
        timeout, taken_at = self.settings.connect_timeout_seconds, self.clock()
        async with self._limited():
            client = self.consumer._client  # noqa: SLF001 - there is no public way to send a request
            described = [await describe_topic(client, topic, timeout) for topic in self.topics]
            places = [TopicPartition(each.identity.topic, n) for each in described for n in each.partitions]
            begins = await self.consumer.beginning_offsets(places)
            ends = await self.consumer.end_offsets(places)
        return TopicSnapshot(tuple(each.identity for each in described), begins, ends, taken_at)

    async def offsets_since(self, since: int, log: TopicSnapshot) -> dict[TopicPartition, int]:
        """Return each partition's first offset with a record not older than ``since`` (milliseconds).

        Raises as :meth:`snapshot` does.
        """
        async with self._limited():
            found = await self.consumer.offsets_for_times(dict.fromkeys(log.end_offsets, since))
        return {at: found[at].offset if found.get(at) else end for at, end in log.end_offsets.items()}

    def read_from(self, positions: Offsets) -> None:
        """Read these partitions from these offsets."""
        # No await between assigning and seeking, so nothing is fetched in between.
        self.consumer.assign(list(positions))
        for at, offset in positions.items():
            self.consumer.seek(at, offset)
        self.positions = dict(positions)

    def pause_only(self, partitions: Collection[TopicPartition]) -> None:
        """Pause exactly these partitions, and read all others."""
        paused = self.consumer.paused()
        self.consumer.pause(*(at for at in partitions if at not in paused))
        self.consumer.resume(*(at for at in paused if at not in partitions))

    async def poll(self, wait: float, max_records: int = _MAX_RECORDS) -> list[ConsumerRecord]:
        """Return the next records, in order within a partition, and advance ``positions``.

        Args:
            wait: the timeout in seconds if there are none.
            max_records: the maximum number of records.

        Raises:
            KafkaError: a position is out of range, or reading is not authorised.
            ServiceUnreachable: a position out of range could not be reset in time.
        """
        fetched = await self.consumer.getmany(timeout_ms=int(wait * 1000), max_records=max_records)
        raise_if_cancelled()
        # Immediate, unless a position was out of range and is looked up again.
        async with self._limited():
            self.positions = {at: await self.consumer.position(at) for at in self.positions}
        return [record for records in fetched.values() for record in records]

    async def read_between(
        self, begins: Offsets, ends: Offsets
    ) -> AsyncGenerator[list[ConsumerRecord], None]:
        """Yield all records from ``begins`` to ``ends`` (exclusive); some lists are empty.

        Raises as :meth:`poll` does, and ServiceUnreachable if records do not arrive.
        """
        left = {at: begins[at] for at in ends if begins[at] < ends[at]}
        if left:
            self.read_from(left)
        moved_at = time.monotonic()
        while left:
            before = self.positions
            records = await self.poll(_POLL_SECONDS)
            yield [record for record in records if record.offset < ends[partition_of(record)]]
            left = {at: now for at, now in self.positions.items() if now < ends[at]}
            self.pause_only(self.positions.keys() - left.keys())
            if self.positions != before:
                moved_at = time.monotonic()
            if time.monotonic() - moved_at > _STALL_SECONDS:
                raise self._unreachable(
                    f"has sent nothing for {_STALL_SECONDS:g} s, although there is more to read"
                )

    async def follow(
        self, check: ReachabilityCheck = check_reachable, max_records: int = _MAX_RECORDS
    ) -> AsyncGenerator[list[ConsumerRecord], None]:
        """Yield new records without end: at least every half second, if only an empty list.

        ``max_records`` is the longest list. ``check`` is awaited after a silence. Raises as it does, and
        as :meth:`poll` does.
        """
        heard_at = time.monotonic()
        while True:
            records = await self.poll(_LOOK_SECONDS, max_records)
            if records:
                heard_at = time.monotonic()
            elif time.monotonic() - heard_at > _SILENCE_SECONDS:
                await check(self.settings)
                heard_at = time.monotonic()
            yield records

    def partitions_at_end(self) -> list[TopicPartition]:
        """Return the partitions that are read to the end, as of the last fetch response."""
        ends = self.known_end_offsets()
        return [at for at, position in self.positions.items() if at in ends and position >= ends[at]]

    def caught_up_at(self) -> float | None:
        """Return when the reader was last known to have read everything, in seconds since 1970, or None.

        That is the time of the last fetch response of the partition with the oldest one; brokers
        respond twice a second if there is nothing new. None while there are unread records.
        """
        if len(self.partitions_at_end()) < len(self.positions):
            return None
        return min((self.consumer.last_poll_timestamp(at) / 1000 for at in self.positions), default=None)

    @property
    def lag(self) -> int:
        """The number of unread offsets, as far as the brokers have reported."""
        return sum(max(0, end - self.positions[at]) for at, end in self.known_end_offsets().items())

    def known_end_offsets(self) -> dict[TopicPartition, int]:
        """Return each partition's next offset, as of the last fetch response."""
        ends = {at: self.consumer.highwater(at) for at in self.positions}
        return {at: end for at, end in ends.items() if end is not None}

    @asynccontextmanager
    async def _limited(self) -> AsyncIterator[None]:
        limit = self.settings.connect_timeout_seconds
        try:
            async with asyncio.timeout(limit):
                yield
        except TimeoutError as error:
            raise self._unreachable(f"does not answer within {limit:g} s") from error

    def _unreachable(self, what: str) -> ServiceUnreachable:
        return ServiceUnreachable(f"Kafka at {self.settings.bootstrap_servers} {what}")


@asynccontextmanager
async def open_reader(
    settings: KafkaSettings, *topics: str, clock: Callable[[], float] = time.time, **options: Any
) -> AsyncIterator[TopicReader]:
    """Open a reader of committed records; raises ServiceUnreachable.

    ``options`` go to AIOKafkaConsumer. An offset that is no longer there is an error unless
    ``auto_offset_reset`` says otherwise, not a silent jump to another one.
    """
    options = {"auto_offset_reset": "none", "isolation_level": "read_committed", **options}
    async with open_consumer(settings, **options) as consumer:
        yield TopicReader(settings, consumer, topics, clock)


class Freshness:
    """Whether a topic was read to its end at most ``stale_after`` seconds ago.

    Args:
        clock: seconds since 1970.
    """

    def __init__(self, stale_after: float, clock: Callable[[], float] = time.time) -> None:
        self._stale_after = stale_after
        self._clock = clock
        self._complete_at: float | None = None

    def confirm(self, complete_at: float | None) -> None:
        """Set when the topic was last read to its end; None changes nothing."""
        if complete_at is not None:
            self._complete_at = complete_at

    def forget(self) -> None:
        """Forget when it was: the topic is read anew."""
        self._complete_at = None

    @property
    def is_current(self) -> bool:
        """Whether the topic was read to its end recently."""
        # A clock that went back proves nothing about the age.
        age = -1 if self._complete_at is None else self._clock() - self._complete_at
        return 0 <= age <= self._stale_after


def partition_of(record: ConsumerRecord) -> TopicPartition:
    """Return the partition of a record."""
    return TopicPartition(record.topic, record.partition)
