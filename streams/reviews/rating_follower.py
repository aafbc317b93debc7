"""Follows verdicts and reviews into the store of ratings, once or without end."""

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import aclosing
from typing import Final

import structlog
from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from schemas import Codec, DecodeError, RegistryUnreachable, Review, Verdict
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.kafka_records import shadow_name
from streams.kafka.topic_reader import Offsets, TopicReader, TopicSnapshot, open_reader, partition_of
from streams.kafka.topics import Topics
from streams.reviews.rating_records import ShadowDecision, shadow_decision
from streams.reviews.rating_store import RatingStore, rating_topics
from streams.settings import KafkaSettings

log = structlog.get_logger(__name__)

#: A policy is fitted to verdicts and reviews of this time at most; the store forgets older ones.
KEPT_DAYS: Final = 90
_DAY_MS: Final = 86_400_000
_RETRY_SECONDS: Final = 5.0
#: The delay until added partitions or a replaced topic are detected.
_CHECK_SECONDS: Final = 60.0
#: Each batch is one transaction; in a thread, it blocks nobody.
_MAX_RECORDS: Final = 2_000


class RatingFollower:
    """Keeps the store equal to its topics, without a consumer group; goes on when Kafka is back.

    Args:
        kafka: of the cluster.
        codec: decodes the values.
        store: used by this follower alone for writing.
        on_change: called after each batch once everything was read, and once a minute.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        codec: Codec,
        store: RatingStore,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._kafka = kafka
        self._codec = codec
        self._store = store
        self._on_change = on_change
        topics = Topics(kafka.topic_prefix)
        self._topics, self._reviews = rating_topics(topics), topics.reviews
        self._shadow_verdicts = topics.shadow_verdicts
        self._is_cut_off = False
        self._first: dict[TopicPartition, int] = {}

    async def run(self) -> None:
        """Follow until cancelled; every other failure than an outage of Kafka is raised."""
        while True:
            try:
                await self._follow()
            except (KafkaError, ServiceUnreachable, RegistryUnreachable) as error:
                if not self._is_cut_off:
                    log.warning("ratings_cut_off", error_type=type(error).__name__)
                self._is_cut_off = True
                await asyncio.sleep(_RETRY_SECONDS)

    async def read_to_end(
        self, reader: TopicReader, seen: TopicSnapshot, on_read: Callable[[int], None]
    ) -> None:
        """Read up to the ends of the snapshot; ``on_read`` gets the number of records of each batch.

        Raises as :meth:`TopicReader.read_between` does, and RegistryUnreachable.
        """
        begins = await self._begins(seen)
        async with aclosing(reader.read_between(begins, seen.end_offsets)) as batches:
            async for records in batches:
                await self._apply(records, reader.positions)
                on_read(len(records))

    def complete_since(self, seen: TopicSnapshot) -> int:
        """Return since when (ms since 1970) everything was read: what Kafka has deleted is older."""
        begins, others = seen.beginning_offsets, (self._reviews, self._shadow_verdicts)
        cut = (at for at, begin in begins.items() if begin > 0 and at.topic not in others)
        return max((self._first.get(at, 0) for at in cut), default=0)

    async def _follow(self) -> None:
        """Read on from where the store ends, until a topic is another one or has other partitions."""
        async with open_reader(self._kafka, *self._topics) as reader:
            seen = await reader.snapshot()
            reader.read_from(await self._begins(seen))
            is_new, next_check = True, 0.0
            async with aclosing(reader.follow(max_records=_MAX_RECORDS)) as batches:
                async for records in batches:
                    self._is_cut_off = False
                    if reader.positions != self._store.next_offsets():
                        await self._apply(records, reader.positions)
                        is_new = True
                    if is_new and seen.is_reached_by(reader.positions):
                        self._on_change()
                        is_new = False
                    if time.monotonic() >= next_check:
                        before = round(1000 * time.time()) - KEPT_DAYS * _DAY_MS
                        await asyncio.to_thread(self._store.prune, before)
                        is_new = True
                        now, next_check = await reader.snapshot(), time.monotonic() + _CHECK_SECONDS
                        if not seen.is_continued_by(now):
                            return

    async def _begins(self, seen: TopicSnapshot) -> Offsets:
        if reason := self._store.rebuild_reason(seen):
            log.info("ratings_rebuilt", reason=reason)
            await asyncio.to_thread(self._store.reset, seen.identities)
        return seen.resumed_at(self._store.next_offsets())

    async def _apply(self, records: Iterable[ConsumerRecord], positions: Offsets) -> None:
        taken = list(records)
        for record in taken:
            self._first.setdefault(partition_of(record), record.timestamp)
            await self._codec.lookup(record.value)
        await asyncio.to_thread(self._store_records, taken, dict(positions))

    def _store_records(self, records: Iterable[ConsumerRecord], positions: Offsets) -> None:
        self._store.apply(filter(None, map(self._decode, records)), positions)

    def _decode(self, record: ConsumerRecord) -> Verdict | Review | ShadowDecision | None:
        try:
            if record.topic == self._reviews:
                return self._codec.decode(record.value, Review)
            verdict = self._codec.decode(record.value, Verdict)
            if record.topic != self._shadow_verdicts:
                return verdict
            # Without its name, as a mirror that drops headers leaves it, there is nothing to compare.
            name = shadow_name(record.headers)
            return shadow_decision(verdict, name) if name else None
        except DecodeError as error:
            log.warning(
                "rating_record_unreadable",
                topic=record.topic,
                partition=record.partition,
                offset=record.offset,
                error_type=error.code,
            )
            return None
