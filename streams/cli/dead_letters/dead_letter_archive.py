"""The dead-letter topic: its letters, and which of them were replayed or discarded."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from aiokafka import ConsumerRecord
from aiokafka.structs import OffsetAndMetadata

from streams.cli.command_output import UsageError
from streams.cli.topic_access import OutgoingRecord, open_topics
from streams.delivery import dead_letters as header
from streams.delivery.dead_letter_progress import LetterAction, OffsetSet, offsets_done
from streams.kafka.kafka_records import Headers
from streams.kafka.topic_reader import TopicReader, TopicSnapshot
from streams.kafka.topics import Topics
from streams.observability.failures import Stage
from streams.settings import Settings

# Headers that are sent again: the next failure increments the attempts, keeps the time of the first one, and
# compares its reason with the last.
_SENT_HEADERS = frozenset(
    {header.ATTEMPTS, header.FIRST_FAILED_AT, header.STAGE, header.ERROR_CLASS, header.REPEATED}
)
_LOCATION = re.compile(r"(\d{1,9}):(\d{1,18})")

#: The partition and offset of a letter.
LetterLocation = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ArchivedLetter:
    """One dead letter: its location, the original key and value, and headers with the reason."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    @classmethod
    def of(cls, record: ConsumerRecord) -> ArchivedLetter:
        """Make a letter of a record, whatever its headers hold."""
        return cls(record.partition, record.offset, record.key, record.value, tuple(record.headers))

    @property
    def location(self) -> str:
        """The location in the topic: ``partition:offset``."""
        return f"{self.partition}:{self.offset}"

    def reason(self, name: str) -> str:
        """Return one of the ``dlq.*`` headers as text, empty if it is missing."""
        value = dict(self.headers).get(name)
        return (value or b"").decode("utf-8", "replace")

    @property
    def record_digest(self) -> bytes:
        """A value that letters about the same record share; a letter without its origin has its own.

        Key and value count, too: in a recreated topic another record can have the same offset.
        """
        if not (topic := self.reason(header.TOPIC)):
            return self.location.encode()
        origin = (topic, self.reason(header.PARTITION), self.reason(header.OFFSET))
        content = (self.key, self.value, self.reason(header.VALUE_SHA256))
        return sha256(repr((origin, content)).encode()).digest()

    @property
    def at(self) -> LetterLocation:
        """The partition and offset in the topic."""
        return self.partition, self.offset

    @property
    def failed_twice(self) -> bool:
        """Whether it was replayed, and failed again for the same reason."""
        return self.reason(header.REPEATED) not in {"", "0"}

    def to_json(self) -> dict[str, Any]:
        """Return everything but the value as JSON."""
        return {
            "partition": self.partition,
            "offset": self.offset,
            "key": None if self.key is None else self.key.decode("utf-8", "replace"),
            "bytes": None if self.value is None else len(self.value),
            "stage": self.reason(header.STAGE),
            "class": self.reason(header.ERROR_CLASS),
            "message": self.reason(header.ERROR_MESSAGE),
            "topic": self.reason(header.TOPIC),
            "original": f"{self.reason(header.PARTITION)}:{self.reason(header.OFFSET)}",
            "attempts": self.reason(header.ATTEMPTS),
            "first_failed_at": self.reason(header.FIRST_FAILED_AT),
            "failed_twice": self.failed_twice,
        }

    def to_record(self, topics: Topics) -> OutgoingRecord:
        """Return the original record for its topic: ``answers``, unless the letter names another input."""
        named = self.reason(header.TOPIC)
        topic = named if named in {topics.documents, topics.reviews} else topics.answers
        headers = tuple(
            (name, value)
            for name, value in self.headers
            if not name.startswith(header.HEADER_PREFIX) or name in _SENT_HEADERS
        )
        return OutgoingRecord(topic, self.key, self.value, headers)


class LetterFilter:
    """Selects letters by stage and location; ``unmatched`` are the given locations that had none.

    No ``stages`` and no ``locations`` (``PARTITION:OFFSET``) select all. Raises UsageError if one is bad.
    """

    def __init__(self, stages: Sequence[Stage], locations: Sequence[str] = ()) -> None:
        self._stages = frozenset(stages)
        self._locations: set[LetterLocation] = set()
        for each in locations:
            if not (found := _LOCATION.fullmatch(each)):
                raise UsageError(f"--at {each}: expected PARTITION:OFFSET of a dead letter, e.g. 0:12")
            self._locations.add((int(found[1]), int(found[2])))
        self.unmatched = set(self._locations)

    def __call__(self, letter: ArchivedLetter) -> bool:
        """Return whether the filter selects this letter."""
        if self._locations and letter.at not in self._locations:
            return False
        selected = not self._stages or letter.reason(header.STAGE) in self._stages
        if selected:
            self.unmatched.discard(letter.at)
        return selected


@dataclass(frozen=True, slots=True)
class DeadLetterArchive:
    """A snapshot of the dead-letter topic, with what was ``done`` with its letters, by partition.

    The consumer of the ``reader`` is in the group of ``action``, which :meth:`remember` stores.
    """

    reader: TopicReader
    log: TopicSnapshot
    done: Mapping[LetterAction, dict[int, OffsetSet]]
    action: LetterAction

    async def letters(self, *, include_replayed: bool = True) -> AsyncGenerator[ArchivedLetter, None]:
        """Yield the letters that were not discarded, in order within a partition; raises as open_archive."""
        actions = (LetterAction.DISCARDED,) if include_replayed else LetterAction
        skipped = [self.done[each] for each in actions]
        begins = {
            at: max(begin, *(each[at.partition].position for each in skipped))
            for at, begin in self.log.beginning_offsets.items()
        }
        async with aclosing(self.reader.read_between(begins, self.log.end_offsets)) as batches:
            async for records in batches:
                for letter in map(ArchivedLetter.of, records):
                    if not any(letter.offset in each[letter.partition] for each in skipped):
                        yield letter

    def was_replayed(self, location: LetterLocation) -> bool:
        """Return whether this location has a letter that was replayed before."""
        partition, offset = location
        exists = any(
            at.partition == partition and begin <= offset < self.log.end_offsets[at]
            for at, begin in self.log.beginning_offsets.items()
        )
        return exists and offset in self.done[LetterAction.REPLAYED][partition]

    async def remember(self, locations: Iterable[LetterLocation]) -> None:
        """Commit that the action was done with the letters at these locations."""
        offsets: dict[int, list[tuple[int, int]]] = {}
        for partition, offset in locations:
            offsets.setdefault(partition, []).append((offset, offset))
        commit = {}
        for at in self.log.end_offsets:
            if more := offsets.get(at.partition):
                done = self.done[self.action][at.partition].plus(more)
                self.done[self.action][at.partition] = done
                commit[at] = OffsetAndMetadata(done.position, done.metadata)
        if commit:
            await self.reader.consumer.commit(commit)


@asynccontextmanager
async def open_archive(
    settings: Settings, action: LetterAction = LetterAction.REPLAYED
) -> AsyncIterator[DeadLetterArchive]:
    """Open the dead-letter topic. Raises UsageError if it does not exist, KafkaError, ServiceUnreachable."""
    kafka = settings.kafka
    topic = Topics(kafka.topic_prefix).dead_letters
    async with open_topics(kafka, topic, group_id=action.group(kafka)) as (reader, log):
        done = {each: await offsets_done(kafka, each, list(log.end_offsets)) for each in LetterAction}
        yield DeadLetterArchive(reader, log, done, action)
