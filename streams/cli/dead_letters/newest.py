"""Whether bad documents are still the newest records of their keys."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import TypeAlias

from aiokafka import ConsumerRecord

from streams.cli.dead_letters.letters import Letter
from streams.cli.reading import open_topics
from streams.delivery import dead_letters as header
from streams.kafka.topics import Topics
from streams.settings import Settings

# By partition: the time that counts, and the record.
_Newest: TypeAlias = dict[int, tuple[int, ConsumerRecord]]


async def newest_of(settings: Settings, letters: Sequence[Letter]) -> set[str]:
    """Read the documents topic, and return the places of the letters whose record is the newest of its key.

    As in the store of documents, within a partition the later record is newer, and between partitions the
    one with the later time. A place that holds another record by now is not the letter's.

    Raises:
        WrongUsage: the topic is not there.
        ServiceUnreachable: no broker answers, or reading does not get on.
    """
    keys = {letter.key for letter in letters}
    topic = Topics(settings.kafka.topic_prefix).documents
    seen: dict[bytes | None, _Newest] = {}
    async with (
        open_topics(settings.kafka, topic) as (reader, log),
        aclosing(reader.between(log.begins, log.ends)) as batches,
    ):
        async for records in batches:
            for record in records:
                if record.key in keys:
                    _note(seen.setdefault(record.key, {}), record)
    return {letter.place for letter in letters if _is_newest(letter, seen.get(letter.key, {}))}


def _note(newest: _Newest, record: ConsumerRecord) -> None:
    earlier, _ = newest.get(record.partition, (record.timestamp, None))
    newest[record.partition] = (max(earlier, record.timestamp), record)


def _is_newest(letter: Letter, newest: _Newest) -> bool:
    if not newest:
        return False
    _, partition = max((since, partition) for partition, (since, _) in newest.items())
    record = newest[partition][1]
    place = (letter.reason(header.PARTITION), letter.reason(header.OFFSET))
    return (str(record.partition), str(record.offset), record.value) == (*place, letter.value)
