"""The dead-letter topic at one moment, and the record of what was replayed.

Kafka cannot delete single records, so what was sent again or discarded is remembered as the committed
offset of a consumer group: everything before it is done. With a selection, single letters beyond it
are too; these stand in the commit's metadata, as ranges such as ``12-15,20``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
from aiokafka.structs import OffsetAndMetadata

from streams.cli.dead_letters.archived_letters import ArchivedLetter, LetterLocation
from streams.cli.topic_reading import open_topics
from streams.delivery import dead_letters as header
from streams.kafka.kafka_clients import ServiceUnreachable, open_admin
from streams.kafka.topic_reader import TopicReader, TopicSnapshot
from streams.kafka.topics import Topics
from streams.settings import KafkaSettings, Settings

# The brokers' default for offset.metadata.max.bytes.
MAX_METADATA = 4096

_RANGES = re.compile(r"(\d{1,19}(-\d{1,19})?(,|$))*")


@dataclass(frozen=True, slots=True)
class OffsetSet:
    """Everything below ``position``, and the ranges (first, last) beyond it; these ascend."""

    position: int = 0
    beyond: tuple[tuple[int, int], ...] = ()

    def __contains__(self, offset: int) -> bool:
        return offset < self.position or any(first <= offset <= last for first, last in self.beyond)

    def plus(self, offsets: Iterable[int]) -> OffsetSet:
        """Add these offsets."""
        return self.plus_ranges((offset, offset) for offset in offsets)

    def plus_ranges(self, ranges: Iterable[tuple[int, int]]) -> OffsetSet:
        """Add these ranges (first, last)."""
        (_, last), *beyond = _joined(sorted([(0, self.position - 1), *self.beyond, *ranges]))
        return OffsetSet(last + 1, tuple(beyond))

    @property
    def metadata(self) -> str:
        """What is beyond the position, for the commit; ranges that do not fit are left out, the last first.

        What is left out may be replayed or listed once more: consumers of verdicts must stand repeats anyway.
        """
        text = ""
        for first, last in self.beyond:
            longer = f"{text}{',' if text else ''}{first}" + (f"-{last}" if last > first else "")
            if len(longer) > MAX_METADATA:
                break
            text = longer
        return text

    @classmethod
    def from_commit(cls, position: int, metadata: str) -> OffsetSet:
        """Read what was committed; metadata that is not ours counts as none."""
        if not _RANGES.fullmatch(metadata):
            return cls(position)
        bounds = (part.split("-") for part in metadata.split(",") if part)
        return cls(position).plus_ranges((int(each[0]), int(each[-1])) for each in bounds)


def _joined(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join ranges, sorted by their first, that touch or overlap."""
    whole = iter(ranges)
    first, last = next(whole)
    for start, end in whole:
        if start > last + 1:
            yield first, last
            first, last = start, end
        last = max(last, end)
    yield first, last


# By partition: the time that counts, and the record.
_Newest: TypeAlias = dict[int, tuple[int, ConsumerRecord]]


async def newest_letters(settings: Settings, letters: Sequence[ArchivedLetter]) -> set[str]:
    """Read the documents topic, and return the places of the letters whose record is the newest of its key.

    As in the store of documents, within a partition the later record is newer, and between partitions the
    one with the later time. A place that holds another record by now is not the letter's.

    Raises:
        UsageError: the topic is not there.
        ServiceUnreachable: no broker answers, or reading does not get on.
    """
    keys = {letter.key for letter in letters}
    topic = Topics(settings.kafka.topic_prefix).documents
    seen: dict[bytes | None, _Newest] = {}
    async with (
        open_topics(settings.kafka, topic) as (reader, log),
        aclosing(reader.read_between(log.beginning_offsets, log.end_offsets)) as batches,
    ):
        async for records in batches:
            for record in records:
                if record.key in keys:
                    _note(seen.setdefault(record.key, {}), record)
    return {letter.location for letter in letters if _is_newest(letter, seen.get(letter.key, {}))}


def _note(newest: _Newest, record: ConsumerRecord) -> None:
    earlier, _ = newest.get(record.partition, (record.timestamp, None))
    newest[record.partition] = (max(earlier, record.timestamp), record)


def _is_newest(letter: ArchivedLetter, newest: _Newest) -> bool:
    if not newest:
        return False
    _, partition = max((since, partition) for partition, (since, _) in newest.items())
    record = newest[partition][1]
    place = (letter.reason(header.PARTITION), letter.reason(header.OFFSET))
    return (str(record.partition), str(record.offset), record.value) == (*place, letter.value)


# A cluster makes its offsets topic when the first group asks for it.
_COORDINATOR_STARTS = (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
_RETRY_SECONDS = 0.2


class LetterAction(StrEnum):
    """What can have been done with a letter: the end of the name of the consumer group that remembers it."""

    REPLAYED = "dead-letters-replay"
    DISCARDED = "dead-letters-discard"


class DeadLetterArchive:
    """What the dead-letter topic held when it was looked at, and what was done with it.

    Args:
        reader: of the topic, with a consumer of the group of ``doing``.
        log: how far the topic goes.
        done: what was done, by partition.
        doing: what is remembered of letters from now on.
    """

    def __init__(
        self,
        reader: TopicReader,
        log: TopicSnapshot,
        done: Mapping[LetterAction, dict[int, OffsetSet]],
        action: LetterAction,
    ) -> None:
        self._reader = reader
        self._log = log
        self._replayed = done[LetterAction.REPLAYED]
        self._discarded = done[LetterAction.DISCARDED]
        self._doing = done[action]

    async def letters(self, *, include_replayed: bool = True) -> AsyncGenerator[ArchivedLetter, None]:
        """Yield the letters that were not discarded, in order within a partition.

        Raises KafkaError, ServiceUnreachable.
        """
        passed = [self._discarded] if include_replayed else [self._discarded, self._replayed]
        begins = {
            at: max(begin, *(each[at.partition].position for each in passed))
            for at, begin in self._log.beginning_offsets.items()
        }
        async with aclosing(self._reader.read_between(begins, self._log.end_offsets)) as batches:
            async for records in batches:
                for letter in map(ArchivedLetter.of, records):
                    if not any(letter.offset in each[letter.partition] for each in passed):
                        yield letter

    def was_replayed(self, letter: ArchivedLetter) -> bool:
        """Say whether this letter was sent again before."""
        return letter.offset in self._replayed[letter.partition]

    def was_replayed_at(self, location: LetterLocation) -> bool:
        """Say whether there is a letter at this place that was sent again before."""
        partition, offset = location
        for at, begin in self._log.beginning_offsets.items():
            if at.partition == partition and begin <= offset < self._log.end_offsets[at]:
                return offset in self._replayed[partition]
        return False

    async def remember(self, letters: Iterable[ArchivedLetter]) -> None:
        """Commit that this was done with these letters."""
        offsets: dict[int, list[int]] = {}
        for letter in letters:
            offsets.setdefault(letter.partition, []).append(letter.offset)
        commit = {}
        for at in self._log.end_offsets:
            if more := offsets.get(at.partition):
                done = self._doing[at.partition] = self._doing[at.partition].plus(more)
                commit[at] = OffsetAndMetadata(done.position, done.metadata)
        if commit:
            await self._reader.consumer.commit(commit)


@asynccontextmanager
async def open_archive(
    settings: Settings, action: LetterAction = LetterAction.REPLAYED
) -> AsyncIterator[DeadLetterArchive]:
    """Open the dead-letter topic. Raises UsageError when it is not there, KafkaError, ServiceUnreachable."""
    kafka = settings.kafka
    groups = {each: f"{kafka.consumer_group}-{each}" for each in LetterAction}
    topic = Topics(kafka.topic_prefix).dead_letters
    async with open_topics(kafka, topic, group_id=groups[action]) as (reader, log):
        committed = {
            each: await _committed(kafka, group, list(log.end_offsets)) for each, group in groups.items()
        }
        done = {
            each: {at.partition: _offsets(found.get(at)) for at in log.end_offsets}
            for each, found in committed.items()
        }
        yield DeadLetterArchive(reader, log, done, action)


def _offsets(committed: OffsetAndMetadata | None) -> OffsetSet:
    if committed is None or committed.offset < 0:
        return OffsetSet()
    return OffsetSet.from_commit(committed.offset, committed.metadata or "")


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
