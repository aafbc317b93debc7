"""The ends of topics: the last records of each partition, and then whatever comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from streams.kafka.clients import check_reachable, open_consumer
from streams.kafka.topic_identity import describe_topic
from streams.settings import KafkaSettings

Record: TypeAlias = ConsumerRecord

_POLL_SECONDS = 0.5
_BATCH = 200
#: After so much silence it is worth asking whether the cluster is still there.
_SILENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Records in the order of each partition; ``complete`` when what was there at the start has been read."""

    records: tuple[Record, ...]
    complete: bool


async def tail(settings: KafkaSettings, last: Mapping[str, int]) -> AsyncGenerator[Batch, None]:
    """Yield the last records of each partition of the topics, then those that arrive, without end.

    A batch comes at least twice a second, empty if need be. Uncommitted records of transactions are
    left out.

    Args:
        settings: the cluster.
        last: how many records of each partition, by topic.

    Raises:
        ServiceUnreachable: no broker answers.
        KafkaError: a topic cannot be read.
        TimeoutError: a broker does not answer within ``settings.connect_timeout``.
    """
    async with open_consumer(
        settings, auto_offset_reset="earliest", isolation_level="read_committed"
    ) as consumer:
        async with asyncio.timeout(settings.connect_timeout):
            missing = await _begin(consumer, last, settings.connect_timeout)
        heard_at = time.monotonic()
        while True:
            fetched = await consumer.getmany(timeout_ms=int(_POLL_SECONDS * 1000), max_records=_BATCH)
            missing = {place: end for place, end in missing.items() if await _position(consumer, place) < end}
            if fetched:
                heard_at = time.monotonic()
            elif time.monotonic() - heard_at > _SILENCE_SECONDS:
                await check_reachable(settings)
                heard_at = time.monotonic()
            yield Batch(tuple(record for records in fetched.values() for record in records), not missing)


async def _begin(
    consumer: AIOKafkaConsumer, last: Mapping[str, int], limit: float
) -> dict[TopicPartition, int]:
    """Place the consumer; give where each partition ended."""
    most: dict[TopicPartition, int] = {}
    for topic, count in last.items():
        # The consumer has no public way to send a request of one's own.
        described = await describe_topic(consumer._client, topic, limit)  # noqa: SLF001
        most |= {TopicPartition(topic, partition): count for partition in described.partitions}
    begins, ends = await consumer.beginning_offsets(most), await consumer.end_offsets(most)
    # Assigned and positioned without an await, so that nothing is fetched in between.
    consumer.assign(list(most))
    for place, count in most.items():
        consumer.seek(place, max(begins[place], ends[place] - count))
    return dict(ends)


async def _position(consumer: AIOKafkaConsumer, place: TopicPartition) -> int:
    async with asyncio.timeout(_SILENCE_SECONDS):
        return int(await consumer.position(place))
