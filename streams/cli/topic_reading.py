"""Reading topics from a command: time ranges, missing topics and outages."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from aiokafka import ConsumerRecord
from aiokafka.errors import UnknownTopicOrPartitionError

from streams.cli.command_output import UsageError, say
from streams.kafka.kafka_clients import CredentialsRefused, ServiceUnreachable, check_reachable
from streams.kafka.topic_reader import Offsets, ReachabilityCheck, TopicReader, TopicSnapshot, open_reader
from streams.settings import KafkaSettings

#: Far more than the delay between scoring and writing a verdict, and than the difference of clocks.
SLACK: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The time from ``since`` to ``until``, both aware and optional.

    Without ``since`` it begins now, or at the oldest record if ``from_beginning`` or ``until`` is past.
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
        """Yield the records of this time, and some from just before and after it; lists may be empty.

        Raises as :meth:`TopicReader.follow` and :meth:`TopicReader.read_between` do.
        """
        if self.since is not None:
            begins = await offsets_at(reader, log, self.since - SLACK)
        else:
            begins = log.beginning_offsets if self.from_beginning or self.is_past else log.end_offsets
        if not self.is_past:
            reader.read_from(begins)
            async with aclosing(reader.follow(check)) as followed:
                async for records in followed:
                    yield records
                    if self.is_past:
                        break
            begins, log = reader.positions, await reader.snapshot()
        if self.until is not None:
            ends = await offsets_at(reader, log, self.until + SLACK)
            async with aclosing(reader.read_between(begins, ends)) as rest:
                async for records in rest:
                    yield records


async def offsets_at(reader: TopicReader, log: TopicSnapshot, time: datetime) -> Offsets:
    """Return the first offset of each partition at this time or later; raises as snapshot does."""
    return await reader.offsets_since(max(0, round(time.timestamp() * 1000)), log)


@contextmanager
def refuse_missing_topics() -> Iterator[None]:
    """Raise UsageError, with the remedy, for a topic that does not exist."""
    try:
        yield
    except UnknownTopicOrPartitionError as error:
        raise UsageError(
            f"topic {error.args[0]} does not exist; `truthgate topics create` creates it"
        ) from error


@asynccontextmanager
async def open_topics(
    settings: KafkaSettings, *topics: str, **options: Any
) -> AsyncIterator[tuple[TopicReader, TopicSnapshot]]:
    """Open a reader of these topics with their current offsets; ``options`` go to AIOKafkaConsumer.

    Raises UsageError if one does not exist, KafkaError, ServiceUnreachable.
    """
    # Records that are deleted meanwhile are skipped: a command shows what exists.
    async with open_reader(settings, *topics, auto_offset_reset="earliest", **options) as reader:
        with refuse_missing_topics():
            log = await reader.snapshot()
        yield reader, log


async def read_newest(settings: KafkaSettings, topic: str) -> dict[bytes | None, ConsumerRecord]:
    """Read a topic to its end, and return the newest record of each key.

    As in a worker's store, the later record is newer within a partition, and between partitions the one
    with the later timestamp. Raises as :func:`open_topics` does.
    """
    latest: dict[tuple[bytes | None, int], tuple[int, ConsumerRecord]] = {}
    async with (
        open_topics(settings, topic) as (reader, log),
        aclosing(reader.read_between(log.beginning_offsets, log.end_offsets)) as batches,
    ):
        async for records in batches:
            for record in records:
                of_partition = record.key, record.partition
                earlier, _ = latest.get(of_partition, (record.timestamp, None))
                latest[of_partition] = max(earlier, record.timestamp), record
    ascending = sorted(latest.values(), key=lambda each: (each[0], each[1].partition))
    return {record.key: record for _, record in ascending}


async def follow(
    settings: KafkaSettings, *topics: str, period: TimeRange, check: ReachabilityCheck = check_reachable
) -> AsyncGenerator[ConsumerRecord, None]:
    """Yield the records of the topics as they arrive, until the period ends or the generator is closed.

    Raises as open_topics does, and as ``check``, which is awaited when no record has come for a while.
    """
    async with (
        open_topics(settings, *topics) as (reader, log),
        aclosing(period.batches(reader, log, check)) as batches,
    ):
        async for records in batches:
            for record in records:
                yield record


class OutageReporter:
    """Tolerates an unresponsive Kafka, and reports the beginning and the end of each outage once.

    ``ask`` checks whether Kafka answers and raises ServiceUnreachable; ``tell`` takes the lines for the user.
    """

    def __init__(self, ask: ReachabilityCheck = check_reachable, tell: Callable[[str], None] = say) -> None:
        self._ask = ask
        self._tell = tell
        self._lasts = False

    async def check(self, settings: KafkaSettings) -> None:
        """Check whether Kafka answers; raises CredentialsRefused, which waiting cannot mend."""
        try:
            await self._ask(settings)
        except CredentialsRefused:
            raise
        except ServiceUnreachable as error:
            if not self._lasts:
                self._tell(f"{error}; waiting until it answers, Ctrl-C ends")
            self._lasts = True
        else:
            self.clear()

    def clear(self) -> None:
        """Note that Kafka answers, after an outage or not."""
        if self._lasts:
            self._tell("Kafka answers again")
        self._lasts = False
