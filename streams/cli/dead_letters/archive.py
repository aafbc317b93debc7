"""The dead-letter topic as it is at one moment, and the memory of what was sent again or discarded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from enum import StrEnum

from aiokafka import TopicPartition
from aiokafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
from aiokafka.structs import OffsetAndMetadata

from streams.cli.dead_letters.choice import Place
from streams.cli.dead_letters.letters import Letter
from streams.cli.dead_letters.offset_set import OffsetSet
from streams.cli.reading import open_topics
from streams.kafka.clients import ServiceUnreachable, open_admin
from streams.kafka.topic_reader import TopicLog, TopicReader
from streams.kafka.topics import Topics
from streams.settings import KafkaSettings, Settings

# A cluster makes its offsets topic when the first group asks for it.
_COORDINATOR_STARTS = (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
_RETRY_SECONDS = 0.2


class Done(StrEnum):
    """What can have been done with a letter: the end of the name of the consumer group that remembers it."""

    REPLAYED = "dead-letters-replay"
    DISCARDED = "dead-letters-discard"


class Archive:
    """What the dead-letter topic held when it was looked at, and what was done with it.

    Args:
        reader: of the topic, with a consumer of the group of ``doing``.
        log: how far the topic goes.
        done: what was done, by partition.
        doing: what is remembered of letters from now on.
    """

    def __init__(
        self, reader: TopicReader, log: TopicLog, done: Mapping[Done, dict[int, OffsetSet]], doing: Done
    ) -> None:
        self._reader = reader
        self._log = log
        self._replayed = done[Done.REPLAYED]
        self._discarded = done[Done.DISCARDED]
        self._doing = done[doing]

    async def letters(self, *, replayed_too: bool = True) -> AsyncGenerator[Letter, None]:
        """Yield the letters that were not discarded, in order within a partition.

        Raises KafkaError, ServiceUnreachable.
        """
        passed = [self._discarded] if replayed_too else [self._discarded, self._replayed]
        begins = {
            at: max(begin, *(each[at.partition].position for each in passed))
            for at, begin in self._log.begins.items()
        }
        async with aclosing(self._reader.between(begins, self._log.ends)) as batches:
            async for records in batches:
                for letter in map(Letter.of, records):
                    if not any(letter.offset in each[letter.partition] for each in passed):
                        yield letter

    def was_replayed(self, letter: Letter) -> bool:
        """Say whether this letter was sent again before."""
        return letter.offset in self._replayed[letter.partition]

    def passed_over(self, place: Place) -> bool:
        """Say whether there is a letter at this place that was sent again before."""
        partition, offset = place
        for at, begin in self._log.begins.items():
            if at.partition == partition and begin <= offset < self._log.ends[at]:
                return offset in self._replayed[partition]
        return False

    async def remember(self, letters: Iterable[Letter]) -> None:
        """Commit that this was done with these letters."""
        offsets: dict[int, list[int]] = {}
        for letter in letters:
            offsets.setdefault(letter.partition, []).append(letter.offset)
        commit = {}
        for at in self._log.ends:
            if more := offsets.get(at.partition):
                done = self._doing[at.partition] = self._doing[at.partition].plus(more)
                commit[at] = OffsetAndMetadata(done.position, done.metadata)
        if commit:
            await self._reader.consumer.commit(commit)


@asynccontextmanager
async def open_archive(settings: Settings, doing: Done = Done.REPLAYED) -> AsyncIterator[Archive]:
    """Open the dead-letter topic. Raises WrongUsage when it is not there, KafkaError, ServiceUnreachable."""
    kafka = settings.kafka
    groups = {each: f"{kafka.consumer_group}-{each}" for each in Done}
    topic = Topics(kafka.topic_prefix).dead_letters
    async with open_topics(kafka, topic, group_id=groups[doing]) as (reader, log):
        committed = {each: await _committed(kafka, group, list(log.ends)) for each, group in groups.items()}
        done = {
            each: {at.partition: _offsets(found.get(at)) for at in log.ends}
            for each, found in committed.items()
        }
        yield Archive(reader, log, done, doing)


def _offsets(committed: OffsetAndMetadata | None) -> OffsetSet:
    if committed is None or committed.offset < 0:
        return OffsetSet()
    return OffsetSet.committed(committed.offset, committed.metadata or "")


async def _committed(
    settings: KafkaSettings, group: str, places: list[TopicPartition]
) -> dict[TopicPartition, OffsetAndMetadata]:
    try:
        async with open_admin(settings) as admin, asyncio.timeout(settings.connect_timeout_seconds):
            while True:
                try:
                    return dict(await admin.list_consumer_group_offsets(group, partitions=places))
                except _COORDINATOR_STARTS:
                    await asyncio.sleep(_RETRY_SECONDS)
    except TimeoutError as error:
        raise ServiceUnreachable(f"Kafka has no coordinator for the group {group}") from error
