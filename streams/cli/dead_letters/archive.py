"""The dead-letter topic as it is at one moment, and the memory of what was sent again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager

from aiokafka import TopicPartition
from aiokafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
from aiokafka.structs import OffsetAndMetadata

from streams.cli.dead_letters.choice import Place
from streams.cli.dead_letters.letters import Letter
from streams.cli.dead_letters.replayed import Replayed
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


class Archive:
    """What the dead-letter topic held when it was looked at, and which of it was replayed.

    Args:
        reader: of the topic, with a consumer of the group that remembers.
        log: how far the topic goes.
        replayed: what was sent again, by partition.
    """

    def __init__(self, reader: TopicReader, log: TopicLog, replayed: dict[int, Replayed]) -> None:
        self._reader = reader
        self._log = log
        self._replayed = replayed

    async def letters(self, *, replayed_too: bool = True) -> AsyncGenerator[Letter, None]:
        """Yield the letters, in order within a partition. Raises KafkaError, ServiceUnreachable."""
        begins = self._log.begins
        if not replayed_too:
            begins = {at: max(begin, self._replayed[at.partition].position) for at, begin in begins.items()}
        async with aclosing(self._reader.between(begins, self._log.ends)) as batches:
            async for records in batches:
                for letter in map(Letter.of, records):
                    if replayed_too or not self.was_replayed(letter):
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
        """Commit that these letters were sent again."""
        offsets: dict[int, list[int]] = {}
        for letter in letters:
            offsets.setdefault(letter.partition, []).append(letter.offset)
        commit = {}
        for at in self._log.ends:
            if sent := offsets.get(at.partition):
                replayed = self._replayed[at.partition] = self._replayed[at.partition].plus(sent)
                commit[at] = OffsetAndMetadata(replayed.position, replayed.metadata)
        if commit:
            await self._reader.consumer.commit(commit)


@asynccontextmanager
async def open_archive(settings: Settings) -> AsyncIterator[Archive]:
    """Open the dead-letter topic. Raises WrongUsage when it is not there, KafkaError, ServiceUnreachable."""
    kafka = settings.kafka
    group = f"{kafka.consumer_group}-dead-letters-replay"
    async with open_topics(kafka, Topics(kafka.topic_prefix).dead_letters, group_id=group) as (reader, log):
        committed = await _committed(kafka, group, list(log.ends))
        yield Archive(reader, log, {at.partition: _replayed(committed.get(at)) for at in log.ends})


def _replayed(committed: OffsetAndMetadata | None) -> Replayed:
    if committed is None or committed.offset < 0:
        return Replayed()
    return Replayed.committed(committed.offset, committed.metadata or "")


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
