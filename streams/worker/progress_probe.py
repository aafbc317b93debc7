"""A probe of the progress on the worker's partitions, outside of Faust, over connections of its own.

Faust's consumer can be alive and silent: out of its group, or waiting on a dead connection.
So the probe goes by what the brokers report. The consumer also keeps its offsets when the topic is deleted
and recreated, and would skip the records of the new topic below them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError, UnknownTopicOrPartitionError
from faust.types import TP

from streams.kafka.kafka_clients import ServiceUnreachable, raise_if_cancelled
from streams.kafka.topic_identity import TopicDescription, TopicIdentity, describe_topic
from streams.kafka.topic_reader import open_reader, partition_of
from streams.observability.failures import EXIT_SOFTWARE, InfrastructureFailure
from streams.observability.health import Health, PartitionProgress
from streams.settings import KafkaSettings

log = structlog.get_logger(__name__)

#: Timeout of one request to the brokers.
_REQUEST_SECONDS = 10.0
#: Timeout of the search for records after the committed offsets.
_PEEK_SECONDS = 2.0
_POLL_SECONDS = 0.1
#: A missing or shorter topic is believed after so many observations in a row: a broker that has just started
#: may not know the topic yet, or its whole log.
_MIN_OBSERVATIONS = 3


@dataclass(eq=False)
class ProgressProbe:
    """Asks the brokers regularly for the group's offsets on the partitions of this worker.

    The worker with the lowest partition asks for all of them: after a kill, or with too few workers, some
    are owned by nobody.

    Args:
        kafka: the settings of the brokers.
        consumer: a started consumer with the worker's group id that is never subscribed and
            never commits.
        topic: the full name of the topic.
        assignment: returns the partitions that the worker owns now.
        health: receives the observations.
        interval: in seconds, between two observations.
        on_replaced: awaited before :meth:`run` fails because the topic is another one.
        is_in_progress: returns whether the worker is processing an answer of a partition.
    """

    kafka: KafkaSettings
    consumer: AIOKafkaConsumer
    topic: str
    assignment: Callable[[], Iterable[TP]]
    health: Health
    interval: float
    on_replaced: Callable[[], Awaitable[None]]
    is_in_progress: Callable[[TP], bool]
    _origin: TopicIdentity | None = field(default=None, init=False)
    _times_gone: int = field(default=0, init=False)
    _times_short: int = field(default=0, init=False)
    _committed: dict[TopicPartition, int] = field(default_factory=dict, init=False)

    async def identify(self) -> None:
        """Store the identity of the topic; call this before anything is read from it.

        Raises:
            InfrastructureFailure: the brokers do not describe the topic.
        """
        try:
            self._origin = (await self._describe()).identity
        except KafkaError as error:
            reason = f"topic {self.topic} cannot be described: {type(error).__name__}"
            raise InfrastructureFailure(reason) from error
        self.health.kafka_answered()

    async def run(self) -> None:
        """Observe until cancelled; a failed observation is logged and skipped.

        Raises:
            InfrastructureFailure: the topic is gone, is not the one that :meth:`identify` found, or
                ends before the group's committed offsets.
        """
        try:
            while True:
                await self._try_to_observe()
                raise_if_cancelled()
                await asyncio.sleep(self.interval)
        finally:
            self.health.kafka_unmonitored()

    async def _try_to_observe(self) -> None:
        try:
            async with asyncio.timeout(_REQUEST_SECONDS * 3):
                await self._observe()
        except (KafkaError, ServiceUnreachable, TimeoutError) as error:
            self.health.kafka_failed(type(error).__name__)
            log.warning("progress_unknown", error_type=type(error).__name__)
            # A hung broker may have lost its leaderships, and aiokafka would go on asking it for minutes.
            self.consumer._client.force_metadata_update()  # noqa: SLF001 - as above

    async def _observe(self) -> None:
        partitions = await self._check_identity()
        owned = {TopicPartition(tp.topic, tp.partition): tp for tp in self.assignment()}
        every = {TopicPartition(self.topic, partition) for partition in partitions}
        leads = min(every, default=None) in owned
        asked = sorted(every | owned.keys() if leads else owned.keys())
        observed = await self._read_progress(asked) if asked else {}
        self.health.observe(
            {tp: replace(observed[p], in_progress=self.is_in_progress(tp)) for p, tp in owned.items()}
        )
        self.health.observe_group({p.partition: now for p, now in observed.items()} if leads else {})

    async def _check_identity(self) -> tuple[int, ...]:
        """Return the topic's partitions."""
        try:
            description = await self._describe()
        except UnknownTopicOrPartitionError:
            self._times_gone += 1
            if self._times_gone >= _MIN_OBSERVATIONS:
                raise self._replaced("it is not there") from None
            raise
        self._times_gone = 0
        if self._origin and not self._origin.is_same(description.identity):
            await self.on_replaced()
            raise self._replaced("it has another id")
        return description.partitions

    async def _describe(self) -> TopicDescription:
        # The consumer has no public method to send a request.
        return await describe_topic(self.consumer._client, self.topic, _REQUEST_SECONDS)  # noqa: SLF001

    def _replaced(self, seen: str) -> InfrastructureFailure:
        return InfrastructureFailure(f"topic {self.topic} was deleted or replaced: {seen}", EXIT_SOFTWARE)

    async def _read_progress(
        self, asked: Collection[TopicPartition]
    ) -> dict[TopicPartition, PartitionProgress]:
        # Before the ends, which then are below these only if the log was truncated.
        committed = await self._committed_offsets(asked)
        starts = await self.consumer.beginning_offsets(asked)
        ends = await self.consumer.end_offsets(asked)
        # Reported now: the search for records after the offsets can take seconds.
        self.health.kafka_answered()
        await self._check_ends(committed, ends)
        reached = {p: max(committed[p], starts[p]) for p in asked}
        seen = {p: PartitionProgress(now, max(0, ends[p] - now)) for p, now in reached.items()}
        still = {p: now for p, now in seen.items() if now.lag and self._committed.get(p) == now.committed}
        self._committed = {p: now.committed for p, now in seen.items()}
        idle = await self._without_records(still) if still else set()
        return {p: replace(now, lag=0) if p in idle else now for p, now in seen.items()}

    async def _committed_offsets(self, asked: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        # The public call takes one partition: 200 of them are 200 requests, one after the other.
        known = await self.consumer._coordinator.fetch_committed_offsets(asked)  # noqa: SLF001
        return {p: known[p].offset if p in known else 0 for p in asked}

    async def _check_ends(
        self, committed: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
    ) -> None:
        short = any(ends[p] < offset for p, offset in committed.items())
        self._times_short = self._times_short + 1 if short else 0
        if self._times_short >= _MIN_OBSERVATIONS:
            await self.on_replaced()
            raise self._replaced("it ends before the committed offset")

    async def _without_records(
        self, still: Mapping[TopicPartition, PartitionProgress]
    ) -> set[TopicPartition]:
        """Return the partitions that have only gaps left, which transactions and compaction leave.

        A partition that cannot be read to its end in time counts as one with records.
        """
        ends = {p: now.committed + now.lag for p, now in still.items()}
        unread, idle = set(still), set[TopicPartition]()
        deadline = time.monotonic() + _PEEK_SECONDS
        # A consumer for this alone: aiokafka's does not recover from an unsubscription at a bad moment.
        async with open_reader(self.kafka, self.topic, isolation_level="read_uncommitted") as peek:
            peek.read_from({p: now.committed for p, now in still.items()})
            while unread and time.monotonic() < deadline:
                unread -= set(map(partition_of, await peek.poll(_POLL_SECONDS, max_records=1)))
                done = {p for p in unread if peek.positions[p] >= ends[p]}
                unread, idle = unread - done, idle | done
                peek.pause_only(still.keys() - unread)
        return idle
