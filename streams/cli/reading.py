"""Reading topics from a command, without a group: as they go on, or what they hold now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import TypeAlias

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import for_code

from streams.cli.exits import WrongUsage
from streams.kafka.clients import ServiceUnreachable, check_reachable, open_admin, open_consumer
from streams.settings import KafkaSettings

# After so much silence it is worth asking whether the cluster is still there.
_SILENCE_SECONDS = 10.0
_BATCH = 500

Received: TypeAlias = ConsumerRecord


async def partitions_of(settings: KafkaSettings, *topics: str) -> list[TopicPartition]:
    """List the partitions of topics. Raises WrongUsage when one is not there, ServiceUnreachable."""
    async with open_admin(settings) as admin, asyncio.timeout(settings.connect_timeout):
        # All of them: asking for one by name creates it where the cluster makes topics by itself.
        every = {topic["topic"]: topic for topic in await admin.describe_topics()}
    if missing := [name for name in topics if name not in every]:
        raise WrongUsage(f"topic {missing[0]} is not there; `truthgate topics create` makes it")
    described = [every[name] for name in topics]
    for topic in described:
        if topic["error_code"]:
            raise for_code(topic["error_code"])(topic["topic"])
    return [
        TopicPartition(topic["topic"], each["partition"])
        for topic in described
        for each in topic["partitions"]
    ]


async def follow(
    settings: KafkaSettings, *topics: str, from_beginning: bool
) -> AsyncGenerator[Received, None]:
    """Yield the records of the topics as they arrive, until the reader leaves. Raises ServiceUnreachable."""
    assigned = await partitions_of(settings, *topics)
    async with open_consumer(settings, auto_offset_reset="earliest") as consumer:
        consumer.assign(assigned)
        await (consumer.seek_to_beginning if from_beginning else consumer.seek_to_end)(*assigned)
        while True:
            batches = await consumer.getmany(timeout_ms=int(_SILENCE_SECONDS * 1000), max_records=_BATCH)
            if not batches:
                await check_reachable(settings)
            for records in batches.values():
                for record in records:
                    yield record


async def snapshot(
    settings: KafkaSettings, consumer: AIOKafkaConsumer, starts: Mapping[TopicPartition, int]
) -> AsyncGenerator[Received, None]:
    """Yield what the partitions hold now, from the given offsets on; what arrives meanwhile is left out.

    Raises ServiceUnreachable when reading does not get on for ``settings.connect_timeout``.
    """
    consumer.assign(list(starts))
    begins = await consumer.beginning_offsets(starts)
    ends = await consumer.end_offsets(starts)
    for place, start in starts.items():
        consumer.seek(place, max(start, begins[place]))
    remaining = {place for place in starts if max(starts[place], begins[place]) < ends[place]}
    while remaining:
        for record in await _next_batch(settings, consumer, remaining):
            if record.offset < ends[TopicPartition(record.topic, record.partition)]:
                yield record
        remaining = {place for place in remaining if await consumer.position(place) < ends[place]}


async def _next_batch(
    settings: KafkaSettings, consumer: AIOKafkaConsumer, remaining: set[TopicPartition]
) -> list[Received]:
    before = {place: await consumer.position(place) for place in remaining}
    deadline = asyncio.get_running_loop().time() + settings.connect_timeout
    while asyncio.get_running_loop().time() < deadline:
        batches = await consumer.getmany(*remaining, timeout_ms=200, max_records=_BATCH)
        # A position moves without a record where a transaction's marker or a compacted record was.
        moved = [place for place in remaining if await consumer.position(place) != before[place]]
        if batches or moved:
            return [record for records in batches.values() for record in records]
    raise ServiceUnreachable(
        f"Kafka at {settings.bootstrap_servers} gives nothing for {settings.connect_timeout:g} s, "
        "though there is more to read"
    )
