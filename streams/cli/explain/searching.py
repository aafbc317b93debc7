"""The verdicts on one answer, looked for in the topics backwards: the newest are asked about most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Final

from aiokafka import ConsumerRecord, TopicPartition

from schemas import Codec, DecodeError, Verdict
from streams.cli.period import SLACK, first_at
from streams.cli.reading import open_topics
from streams.explaining.explanation import Found
from streams.explaining.records import found_in
from streams.kafka.topic_reader import Offsets, TopicLog, TopicReader
from streams.kafka.topics import Topics
from streams.settings import Settings

#: Told how many offsets were looked at so far, and how many there are to look at.
Told = Callable[[int, int], None]

#: Of each partition, at first; each time it goes further back by more, so that few requests find what is old.
_FIRST_STEP: Final = 2_000
_LONGEST_STEP: Final = 50_000
#: Repeats follow a crash within minutes, and an answer that waited for a person or a document within hours.
_REPEATS_WITHIN: Final = timedelta(days=1)


async def verdicts_on(settings: Settings, wanted: str, since: datetime | None, tell: Told) -> list[Found]:
    """Find the verdicts whose answer or verdict has this id, the first one first; none where there are none.

    From the end back to ``since``, or to the beginning; once one is found only as far as its repeats can
    stand, which is where the answer was written, and a day before it at most.

    Raises:
        ServiceUnreachable: Kafka does not answer.
        WrongUsage: a topic is not there.
        KafkaError: the cluster refuses.
        RegistryUnreachable: a schema cannot be asked for.
    """
    codec = Codec(settings.encoding.schema_registry_url, settings.encoding.json_input)
    topics = Topics(settings.kafka.topic_prefix).outputs
    found: list[Found] = []
    async with open_topics(settings.kafka, *topics) as (reader, log):
        begins = await first_at(reader, log, since - SLACK) if since else log.begins
        ends, step, total = log.ends, _FIRST_STEP, _size(begins, log.ends)
        while _size(begins, ends):
            starts = {at: max(begins[at], end - step) for at, end in ends.items()}
            async with aclosing(reader.between(starts, ends)) as batches:
                async for records in batches:
                    found += [each for record in records if (each := await _on(record, wanted, codec))]
            ends, step = starts, min(2 * step, _LONGEST_STEP)
            tell(total - _size(begins, ends), total)
            if found:
                begins = await _where_repeats_begin(found, reader, log, begins)
    return sorted(found, key=_time)


async def _where_repeats_begin(
    found: Iterable[Found], reader: TopicReader, log: TopicLog, begins: Offsets
) -> Mapping[TopicPartition, int]:
    earliest = min(found, key=_time)
    written = max(earliest.verdict.produced_at, _time(earliest) - _REPEATS_WITHIN)
    first = await first_at(reader, log, written - SLACK)
    return {at: max(begin, first[at]) for at, begin in begins.items()}


async def _on(record: ConsumerRecord, wanted: str, codec: Codec) -> Found | None:
    # Avro has texts as they are in UTF-8: what has not these bytes need not be decoded.
    if wanted.encode() not in (record.value or b""):
        return None
    await codec.lookup(record.value)
    try:
        verdict = codec.decode(record.value, Verdict)
    except DecodeError:
        return None  # no verdict, or one that only a newer release can read
    if wanted not in {verdict.answer_id, verdict.verdict_id}:
        return None
    return found_in(record, verdict)


def _time(found: Found) -> datetime:
    return found.written_at or found.verdict.scored_at


def _size(begins: Offsets, ends: Offsets) -> int:
    return sum(max(0, end - begins[at]) for at, end in ends.items())
