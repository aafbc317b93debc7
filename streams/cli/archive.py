"""The dead-letter topic as it is at one moment, and the memory of what was sent again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
from aiokafka.structs import OffsetAndMetadata

from streams.cli.letters import Letter
from streams.cli.reading import partitions_of, snapshot
from streams.cli.replayed import Replayed
from streams.kafka.clients import ServiceUnreachable, open_admin, open_consumer
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
    """What the dead-letter topic holds, and which of it was replayed."""

    def __init__(self, settings: Settings, consumer: AIOKafkaConsumer, replayed: dict[int, Replayed]) -> None:
        self._settings = settings
        self._consumer = consumer
        self._topic = Topics(settings.kafka.topic_prefix).dead_letters
        self._replayed = replayed

    async def letters(self, *, replayed_too: bool = True) -> AsyncGenerator[Letter, None]:
        """Yield the letters that are there now, in order within a partition. Raises ServiceUnreachable."""
        starts = {
            TopicPartition(self._topic, partition): 0 if replayed_too else replayed.position
            for partition, replayed in self._replayed.items()
        }
        async with aclosing(snapshot(self._settings.kafka, self._consumer, starts)) as records:
            async for record in records:
                letter = Letter.of(record)
                if replayed_too or not self.was_replayed(letter):
                    yield letter

    def was_replayed(self, letter: Letter) -> bool:
        """Say whether this letter was sent again before."""
        return letter.offset in self._replayed[letter.partition]

    async def remember(self, letters: Iterable[Letter]) -> None:
        """Commit that these letters were sent again."""
        offsets: dict[int, list[int]] = {}
        for letter in letters:
            offsets.setdefault(letter.partition, []).append(letter.offset)
        commit = {}
        for partition, sent in offsets.items():
            replayed = self._replayed[partition] = self._replayed[partition].plus(sent)
            commit[TopicPartition(self._topic, partition)] = OffsetAndMetadata(
                replayed.position, replayed.metadata
            )
        if commit:
            await self._consumer.commit(commit)


@asynccontextmanager
async def open_archive(settings: Settings) -> AsyncIterator[Archive]:
    """Open the dead-letter topic. Raises WrongUsage when it is not there, ServiceUnreachable."""
    kafka = settings.kafka
    places = await partitions_of(kafka, Topics(kafka.topic_prefix).dead_letters)
    group = f"{kafka.consumer_group}-dead-letters-replay"
    committed = await _committed(kafka, group, places)
    async with open_consumer(kafka, group_id=group) as consumer:
        yield Archive(
            settings, consumer, {place.partition: _replayed(committed.get(place)) for place in places}
        )


def _replayed(committed: OffsetAndMetadata | None) -> Replayed:
    if committed is None or committed.offset < 0:
        return Replayed()
    return Replayed.committed(committed.offset, committed.metadata or "")


async def _committed(
    settings: KafkaSettings, group: str, places: list[TopicPartition]
) -> dict[TopicPartition, OffsetAndMetadata]:
    try:
        async with open_admin(settings) as admin, asyncio.timeout(settings.connect_timeout):
            while True:
                try:
                    return dict(await admin.list_consumer_group_offsets(group, partitions=places))
                except _COORDINATOR_STARTS:
                    await asyncio.sleep(_RETRY_SECONDS)
    except TimeoutError as error:
        raise ServiceUnreachable(f"Kafka has no coordinator for the group {group}") from error
