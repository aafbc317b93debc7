"""Topics that a command reads, or writes to: one that is not there is told in one line."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any

from aiokafka import ConsumerRecord
from aiokafka.errors import UnknownTopicOrPartitionError

from streams.cli.exits import WrongUsage
from streams.cli.period import Period
from streams.kafka.clients import check_reachable
from streams.kafka.topic_reader import Check, TopicLog, TopicReader, open_reader
from streams.settings import KafkaSettings


@contextmanager
def expecting_topics() -> Iterator[None]:
    """Raise WrongUsage, with what to do, where a topic is described that is not there."""
    try:
        yield
    except UnknownTopicOrPartitionError as error:
        raise WrongUsage(f"topic {error.args[0]} is not there; `truthgate topics create` makes it") from error


@asynccontextmanager
async def open_topics(
    settings: KafkaSettings, *topics: str, **options: Any
) -> AsyncIterator[tuple[TopicReader, TopicLog]]:
    """Open topics to read, with how they stand now; ``options`` go to AIOKafkaConsumer.

    Raises WrongUsage when one is not there, KafkaError, ServiceUnreachable.
    """
    # What is deleted meanwhile is passed over: a command shows what there is.
    async with open_reader(settings, *topics, auto_offset_reset="earliest", **options) as reader:
        with expecting_topics():
            log = await reader.look()
        yield reader, log


async def follow(
    settings: KafkaSettings, *topics: str, period: Period, check: Check = check_reachable
) -> AsyncGenerator[ConsumerRecord, None]:
    """Yield the records of the topics as they arrive, until the period ends or the reader leaves.

    Raises as open_topics does, and as ``check``, which is awaited when nothing has come for a while.
    """
    async with (
        open_topics(settings, *topics) as (reader, log),
        aclosing(period.batches(reader, log, check)) as batches,
    ):
        async for records in batches:
            for record in records:
                yield record
