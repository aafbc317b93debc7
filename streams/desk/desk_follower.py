"""Follows the verdicts that need a person, and the reviews, into the state of the desk."""

import asyncio
import time
from collections.abc import Iterable
from contextlib import aclosing
from typing import Final

import structlog
from aiokafka import ConsumerRecord
from aiokafka.errors import KafkaError

from schemas import Codec, DecodeError, KnownAnswer, RegistryUnreachable, Review, Verdict
from schemas.catalogue import VERDICT_OUTCOME
from scoring.values.exchange import Decision
from streams.desk.desk import Desk
from streams.desk.desk_state import DeskRecord, DeskState
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topic_reader import Offsets, TopicReader, TopicSnapshot, open_reader
from streams.kafka.topics import Topics
from streams.settings import KafkaSettings

log = structlog.get_logger(__name__)

_FIRST_RETRY_SECONDS: Final = 0.5
_MAX_RETRY_SECONDS: Final = 5.0
#: The delay until added partitions or a replaced topic are detected.
_CHECK_SECONDS: Final = 60.0
#: Looking for what nothing needs any more takes a second or two for a million reviews.
_PRUNE_SECONDS: Final = 3_600.0
#: Each batch is one transaction; in a thread, it blocks nobody.
_MAX_RECORDS: Final = 2_000


def desk_topics(topics: Topics, state: DeskState) -> tuple[str, ...]:
    """Return the topics that the state of a desk is a function of."""
    sent = (topics.auto_send,) if state.sample.share else ()
    known = (topics.known_answers,) if state.known_answers else ()
    return (topics.review, topics.blocked, *sent, topics.reviews, *known)


class DeskFollower:
    """Keeps the state equal to its topics, without a consumer group; goes on when Kafka is back.

    Args:
        kafka: of the cluster.
        codec: decodes the values.
        state: used by this follower alone for writing.
        desk: told of what changed.
    """

    def __init__(self, kafka: KafkaSettings, codec: Codec, state: DeskState, desk: Desk) -> None:
        self._kafka = kafka
        self._codec = codec
        self._state = state
        self._desk = desk
        topics = Topics(kafka.topic_prefix)
        self._topics = desk_topics(topics, state)
        self._decisions = {topics.verdict_topic(each): each for each in Decision}
        self._next_prune = time.monotonic()
        self._sent, self._reviews = topics.auto_send, topics.reviews
        self._kinds: dict[str, type[KnownAnswer | Review | Verdict]] = {
            topics.reviews: Review,
            topics.known_answers: KnownAnswer,
        }

    async def run(self) -> None:
        """Follow until cancelled; every other failure than an outage of Kafka is raised."""
        wait = _FIRST_RETRY_SECONDS
        while True:
            try:
                await self._read()
                wait = _FIRST_RETRY_SECONDS
            except (KafkaError, ServiceUnreachable, RegistryUnreachable) as error:
                if self._desk.problem is None:
                    wait = _FIRST_RETRY_SECONDS
                    log.warning("desk_cut_off", error_type=type(error).__name__)
                # Messages of other errors may have more than addresses and names of settings.
                named = isinstance(error, ServiceUnreachable | RegistryUnreachable)
                self._desk.problem = str(error) if named else f"Kafka: {type(error).__name__}"
                self._desk.changes.notify()
                await asyncio.sleep(wait)
                wait = min(2 * wait, _MAX_RETRY_SECONDS)

    async def _read(self) -> None:
        """Read on from where the state ends, until a topic is another one or has other partitions."""
        async with open_reader(self._kafka, *self._topics) as reader:
            seen = await reader.snapshot()
            await self._resume(reader, seen)
            next_check = time.monotonic() + _CHECK_SECONDS
            async with aclosing(reader.follow(max_records=_MAX_RECORDS)) as batches:
                async for records in batches:
                    await self._apply(records, reader)
                    if seen.is_reached_by(reader.positions) and not self._desk.caught_up:
                        await self._catch_up()
                    if time.monotonic() >= next_check:
                        now, next_check = await reader.snapshot(), time.monotonic() + _CHECK_SECONDS
                        await self._prune(now)
                        if not seen.is_continued_by(now):
                            return

    async def _catch_up(self) -> None:
        await asyncio.to_thread(self._state.build_indexes)
        self._desk.caught_up = True
        log.info("desk_caught_up")
        self._desk.changes.notify()

    async def _prune(self, seen: TopicSnapshot) -> None:
        if self._desk.caught_up and time.monotonic() >= self._next_prune:
            self._next_prune = time.monotonic() + _PRUNE_SECONDS
            begins: dict[tuple[str, int], int] = {
                (self._decisions[at.topic], at.partition): offset
                for at, offset in seen.beginning_offsets.items()
                if at.topic in self._decisions
            }
            await asyncio.to_thread(self._state.prune, round(1000 * time.time()), begins)

    async def _resume(self, reader: TopicReader, seen: TopicSnapshot) -> None:
        reason = self._state.rebuild_reason(seen)
        if reason:
            log.info("desk_state_rebuilt", reason=reason)
            self._desk.caught_up = False
            await asyncio.to_thread(self._state.reset, seen.identities)
        published_on = f"{seen.identities[0].cluster_id} {self._reviews}"
        self._desk.restart(published_on, rebuilt=reason is not None)
        reader.read_from(seen.resumed_at(self._state.next_offsets()))
        if self._desk.problem:
            log.info("desk_reconnected")
            self._desk.problem = None
            self._desk.changes.notify()

    async def _apply(self, records: Iterable[ConsumerRecord], reader: TopicReader) -> None:
        if reader.positions == self._state.next_offsets():
            return
        for record in records:
            await self._codec.lookup(record.value)
        # In a thread: reviewers must not wait while a long history is read.
        await asyncio.to_thread(self._store, list(records), dict(reader.positions))
        self._desk.changes.notify()

    def _store(self, records: Iterable[ConsumerRecord], positions: Offsets) -> None:
        self._state.apply(filter(None, map(self._decode, records)), positions)
        self._desk.settle()

    def _decode(self, record: ConsumerRecord) -> DeskRecord | None:
        kind = self._kinds.get(record.topic, Verdict)
        try:
            if record.topic == self._sent and not self._is_drawn(record.value):
                return None
            value = self._codec.decode(record.value, kind)
            return DeskRecord(record.partition, record.offset, value, record.value)
        except DecodeError as error:
            log.warning(
                "desk_record_unreadable",
                topic=record.topic,
                partition=record.partition,
                offset=record.offset,
                error_type=error.code,
            )
            return None

    def _is_drawn(self, value: bytes | None) -> bool:
        # Most were not drawn, and an id is read faster than a whole verdict.
        verdict_id = self._codec.decode_projection(value, VERDICT_OUTCOME).verdict_id
        return self._state.sample.raters(verdict_id) > 0
