"""Put records on a topic of a real broker and read them back, with a deadline for every wait."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from aiokafka import ConsumerRecord, TopicPartition

from streams.kafka.kafka_clients import open_consumer, open_producer
from streams.settings import KafkaSettings

DEADLINE_SECONDS = 60.0
_POLL_SECONDS = 0.05


class RawName(str):
    """The name of a header that goes out as these bytes, as a client in another language can send it.

    Only aiokafka's slow record builder lets it through.
    """

    __slots__ = ("raw",)
    raw: bytes

    def __new__(cls, raw: bytes) -> Self:
        made = super().__new__(cls, raw.decode("latin-1"))
        made.raw = raw
        return made

    def encode(self, *_: object) -> bytes:
        return self.raw


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One record to be produced."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    partition: int | None = None


async def produce(settings: KafkaSettings, topic: str, records: Iterable[Outgoing | bytes]) -> list[int]:
    """Produce in order, wait for every acknowledgement, and return the offsets."""
    async with open_producer(settings, max_request_size=32 * 1024 * 1024) as producer:
        sent = []
        for record in records:
            out = record if isinstance(record, Outgoing) else Outgoing(record)
            sent.append(
                await producer.send(
                    topic, out.value, key=out.key, headers=list(out.headers), partition=out.partition
                )
            )
        return [metadata.offset for metadata in await asyncio.gather(*sent)]


async def consume(
    settings: KafkaSettings,
    topics: str | Sequence[str],
    until: Callable[[list[ConsumerRecord]], bool],
    deadline: float = DEADLINE_SECONDS,
) -> list[ConsumerRecord]:
    """Read topics from their beginning until ``until`` holds of all records read.

    AssertionError when that is not within ``deadline`` seconds.
    """
    names = [topics] if isinstance(topics, str) else list(topics)
    records: list[ConsumerRecord] = []
    end = time.monotonic() + deadline
    async with open_consumer(settings, *names, auto_offset_reset="earliest") as consumer:
        while not until(records):
            if time.monotonic() > end:
                raise AssertionError(f"only {len(records)} records of {names} after {deadline:g} s")
            for batch in (await consumer.getmany(timeout_ms=200)).values():
                records += batch
    return records


async def consume_count(
    settings: KafkaSettings, topics: str | Sequence[str], count: int, deadline: float = DEADLINE_SECONDS
) -> list[ConsumerRecord]:
    """Read topics from their beginning until at least ``count`` records have come."""
    return await consume(settings, topics, lambda records: len(records) >= count, deadline)


async def consume_all(
    settings: KafkaSettings, topics: str | Sequence[str], deadline: float = DEADLINE_SECONDS
) -> list[ConsumerRecord]:
    """Read everything that the topics hold at this moment."""
    names = [topics] if isinstance(topics, str) else list(topics)
    ends = await end_offsets(settings, names)

    def all_read(records: list[ConsumerRecord]) -> bool:
        reached = dict.fromkeys(ends, 0)
        for record in records:
            reached[TopicPartition(record.topic, record.partition)] = record.offset + 1
        return all(reached[partition] >= end for partition, end in ends.items())

    return await consume(settings, names, all_read, deadline)


async def end_offsets(settings: KafkaSettings, topics: Iterable[str]) -> dict[TopicPartition, int]:
    """Give the next offset of every partition of the topics."""
    async with open_consumer(settings) as consumer:
        cluster = await consumer._client.fetch_all_metadata()
        partitions = [
            TopicPartition(topic, partition)
            for topic in topics
            for partition in cluster.partitions_for_topic(topic) or ()
        ]
        return dict(await consumer.end_offsets(partitions))


async def committed(settings: KafkaSettings, topic: str) -> dict[int, int]:
    """Give the committed offset of each partition for the settings' consumer group (0 where none is)."""
    async with open_consumer(settings, group_id=settings.consumer_group) as consumer:
        cluster = await consumer._client.fetch_all_metadata()
        partitions = cluster.partitions_for_topic(topic) or set()
        return {p: await consumer.committed(TopicPartition(topic, p)) or 0 for p in sorted(partitions)}


async def eventually(
    condition: Callable[[], bool | Awaitable[bool]], what: str, deadline: float = DEADLINE_SECONDS
) -> None:
    """Wait until ``condition`` holds; AssertionError naming ``what`` when it does not in time."""
    end = time.monotonic() + deadline
    while True:
        holds = condition()
        if await holds if isinstance(holds, Awaitable) else holds:
            return
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline:g} s: {what}")
        await asyncio.sleep(_POLL_SECONDS)
