"""Reading topics from a command: a period of time, and outages."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import UnknownTopicOrPartitionError

from streams.cli.command_output import UsageError, say
from streams.kafka.kafka_clients import CredentialsRefused, ServiceUnreachable, check_reachable
from streams.kafka.topic_reader import Offsets, ReachabilityCheck, TopicReader, TopicSnapshot, open_reader
from streams.settings import KafkaSettings

#: A verdict is written after it was made, by far less than this; clocks of machines differ by far less, too.
SLACK: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From ``since`` to ``until``, both aware, or without an end.

    Without a ``since`` it begins now, or as far back as there is: ``from_beginning``, or where ``until`` is
    past.
    """

    since: datetime | None = None
    until: datetime | None = None
    from_beginning: bool = False

    @property
    def is_past(self) -> bool:
        """Whether it has ended."""
        return self.until is not None and self.until <= datetime.now(UTC)

    async def batches(
        self, reader: TopicReader, log: TopicSnapshot, check: ReachabilityCheck
    ) -> AsyncGenerator[list[ConsumerRecord], None]:
        """Give the records of the period, and some from just before and after it; some lists are empty.

        Raises as :meth:`TopicReader.follow` and :meth:`TopicReader.read_between` do.
        """
        begins = await self._begins(reader, log)
        if not self.is_past:
            reader.read_from(begins)
            async with aclosing(reader.follow(check)) as coming:
                async for records in coming:
                    yield records
                    if self.is_past:
                        break
            begins, log = reader.positions, await reader.snapshot()
        if self.until is not None:
            ends = await offsets_at(reader, log, self.until + SLACK)
            async with aclosing(reader.read_between(begins, ends)) as rest:
                async for records in rest:
                    yield records

    async def _begins(self, reader: TopicReader, log: TopicSnapshot) -> Offsets:
        if self.since is not None:
            return await offsets_at(reader, log, self.since - SLACK)
        return log.beginning_offsets if self.from_beginning or self.is_past else log.end_offsets


async def offsets_at(
    reader: TopicReader, log: TopicSnapshot, moment: datetime
) -> Mapping[TopicPartition, int]:
    """Give of each partition the first offset at that time or later.

    Raises as :meth:`TopicReader.snapshot` does.
    """
    return await reader.offsets_since(max(0, round(moment.timestamp() * 1000)), log)


@contextmanager
def refuse_missing_topics() -> Iterator[None]:
    """Raise UsageError, with what to do, where a topic is described that is not there."""
    try:
        yield
    except UnknownTopicOrPartitionError as error:
        raise UsageError(f"topic {error.args[0]} is not there; `truthgate topics create` makes it") from error


@asynccontextmanager
async def open_topics(
    settings: KafkaSettings, *topics: str, **options: Any
) -> AsyncIterator[tuple[TopicReader, TopicSnapshot]]:
    """Open topics to read, with how they stand now; ``options`` go to AIOKafkaConsumer.

    Raises UsageError when one is not there, KafkaError, ServiceUnreachable.
    """
    # What is deleted meanwhile is passed over: a command shows what there is.
    async with open_reader(settings, *topics, auto_offset_reset="earliest", **options) as reader:
        with refuse_missing_topics():
            log = await reader.snapshot()
        yield reader, log


async def follow(
    settings: KafkaSettings, *topics: str, period: TimeRange, check: ReachabilityCheck = check_reachable
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


class OutageReporter:
    """A time in which Kafka does not answer: it is borne, and told once when it begins and when it ends.

    Args:
        ask: asks whether it does; raises ServiceUnreachable.
        tell: takes the lines for the person.
    """

    def __init__(self, ask: ReachabilityCheck = check_reachable, tell: Callable[[str], None] = say) -> None:
        self._ask = ask
        self._tell = tell
        self._lasts = False

    async def check(self, settings: KafkaSettings) -> None:
        """Ask whether Kafka answers; raises CredentialsRefused, for which no waiting helps."""
        try:
            await self._ask(settings)
        except CredentialsRefused:
            raise
        except ServiceUnreachable as error:
            if not self._lasts:
                self._tell(f"{error}; going on when it does, Ctrl-C ends")
            self._lasts = True
        else:
            self.clear()

    def clear(self) -> None:
        """Note that Kafka answers, whether it did before or not."""
        if self._lasts:
            self._tell("Kafka answers again")
        self._lasts = False
