"""Topics from a command: reading, by time ranges and through outages, and sending with acknowledgement."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from aiokafka import ConsumerRecord
from aiokafka.errors import UnknownTopicOrPartitionError

from schemas import ChatbotAnswer, Codec, DecodeError, EncodeError, KnowledgeDocument, Review
from streams.cli.command_files import aiter_in_thread
from streams.cli.command_output import CommandFailed, InputErrors, SourceLocation, UsageError, say
from streams.delivery.keyed_executor import KeyedExecutor
from streams.delivery.publisher import Publisher
from streams.kafka.kafka_clients import CredentialsRefused, ServiceUnreachable, check_reachable, open_producer
from streams.kafka.kafka_records import Headers, event_headers
from streams.kafka.schema_topic import create_codec
from streams.kafka.topic_identity import describe_topic
from streams.kafka.topic_reader import Offsets, ReachabilityCheck, TopicReader, TopicSnapshot, open_reader
from streams.kafka.topics import Topics, message_limits
from streams.observability.failures import BadAnswer
from streams.settings import KafkaSettings, Settings

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
        message = f"topic {error.args[0]} does not exist; `truthgate topics create` creates it"
        raise UsageError(message) from error


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


T = TypeVar("T")
Input = TypeVar("Input", ChatbotAnswer, KnowledgeDocument, Review)

# Enough to fill batches to every broker; each holds one record in memory.
_IN_FLIGHT = 500


@dataclass(frozen=True, slots=True)
class OutgoingRecord:
    """One record to send; a ``value`` of None is a tombstone, a ``partition`` of None that of the key."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None


#: Items with their locations; those of an iterable may block.
Located: TypeAlias = Iterable[tuple[SourceLocation, T]] | AsyncGenerator[tuple[SourceLocation, T], None]
#: Called with None when a record is acknowledged, or with the broker's refusal of this very record.
OnSettled = Callable[[BadAnswer | None], None]


class Sender:
    """Sends records concurrently, those of one key in order.

    The first failure that is not a record's own is raised by the next :meth:`send` or :meth:`finish`.
    """

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._executor = KeyedExecutor(_IN_FLIGHT, self._note_failure)

    async def send(self, record: OutgoingRecord, on_settled: OnSettled) -> None:
        """Queue a record, waiting while the queue is full. Raises InfrastructureFailure."""
        if self._failure.done():
            self._failure.result()
        await self._executor.submit(record.key, partial(self._publish, record, on_settled))

    async def finish(self) -> None:
        """Wait until every queued record is settled. Raises InfrastructureFailure."""
        drained = asyncio.create_task(self._executor.drain())
        await asyncio.wait([drained, self._failure], return_when=asyncio.FIRST_COMPLETED)
        drained.cancel()
        if self._failure.done():
            self._failure.result()

    async def _publish(self, record: OutgoingRecord, on_settled: OnSettled) -> None:
        refusal = None
        try:
            await self._publisher.publish(
                record.topic, record.key, record.value, record.headers, record.partition
            )
        except BadAnswer as error:
            refusal = error
        on_settled(refusal)

    def _note_failure(self, failure: BaseException) -> None:
        if not self._failure.done():
            self._failure.set_exception(failure)


@asynccontextmanager
async def open_sender(settings: Settings, *topics: str) -> AsyncIterator[Sender]:
    """Open a sender to these topics, whose records all in-sync replicas acknowledge before it closes.

    Raises UsageError if a topic does not exist, ServiceUnreachable, InfrastructureFailure.
    """
    largest = message_limits(settings).input
    async with open_producer(settings.kafka, max_request_size=largest) as producer:
        # Checked first: a producer would wait for a missing topic until the delivery timeout.
        with refuse_missing_topics():
            for topic in topics:
                await describe_topic(producer.client, topic, settings.kafka.connect_timeout_seconds)
        sender = Sender(Publisher(producer, settings.kafka.delivery_timeout_seconds))
        yield sender
        await sender.finish()


async def decode_record(record: ConsumerRecord, codec: Codec, record_type: type[T]) -> T | None:
    """Decode a record, or report where it is and return None. Raises RegistryUnreachable."""
    try:
        await codec.lookup(record.value)
        return codec.decode(record.value, record_type)
    except DecodeError as error:
        say(f"{record.topic} {record.partition}:{record.offset} cannot be decoded: {error}")
        return None


async def send_all(
    settings: Settings,
    topic: str,
    items: Located[T],
    open_outgoing: Callable[[], Awaitable[Callable[[T], OutgoingRecord]]],
    errors: InputErrors,
) -> int:
    """Send all items to a topic, report refused ones, return how many were sent; raises as open_sender.

    ``open_outgoing`` is awaited when the topic is known to exist, and returns what makes a record.
    """
    sent = 0

    def settle(location: SourceLocation, refusal: BadAnswer | None) -> None:
        nonlocal sent
        sent += refusal is None
        if refusal:
            errors.report(location, f"refused by the broker: {refusal.error_class}")

    source = items if isinstance(items, AsyncGenerator) else aiter_in_thread(items)
    async with open_sender(settings, topic) as sender, aclosing(source) as located:
        outgoing = await open_outgoing()
        async for location, item in located:
            try:
                record = outgoing(item)
            except EncodeError as error:
                errors.report(location, str(error))
            else:
                await sender.send(record, partial(settle, location))
    return sent


async def publish(
    settings: Settings, record_type: type[Input], items: Located[Input], source: str, errors: InputErrors
) -> int:
    """Send records of one type to their topic, as :func:`send_all` does. Raises RegistryUnreachable, too."""
    topics = Topics(settings.kafka.topic_prefix)
    topic = {ChatbotAnswer: topics.answers, Review: topics.reviews}.get(record_type, topics.documents)
    encoder = partial(open_encoder, settings, record_type, source)
    return await send_all(settings, topic, items, encoder, errors)


async def send_each(settings: Settings, records: Iterable[OutgoingRecord]) -> None:
    """Send records to their topics. Raises as :func:`open_sender`, and CommandFailed if one is refused."""
    outgoing, refusals = list(records), list[BadAnswer | None]()
    async with open_sender(settings, *sorted({record.topic for record in outgoing})) as sender:
        for record in outgoing:
            await sender.send(record, refusals.append)
    for refusal in filter(None, refusals):
        raise CommandFailed(f"refused by the broker: {refusal.error_class}")


async def open_encoder(
    settings: Settings, record_type: type[ChatbotAnswer | KnowledgeDocument | Review], source: str
) -> Callable[[ChatbotAnswer | KnowledgeDocument | Review], OutgoingRecord]:
    """Return a function that makes the record of an answer, a document or a review; it raises EncodeError.

    ``record_type`` will be encoded; ``source`` is the command, for the headers. Raises RegistryUnreachable.
    """
    codec = create_codec(settings)
    await codec.prepare(record_type)
    topics = Topics(settings.kafka.topic_prefix)

    def outgoing(item: ChatbotAnswer | KnowledgeDocument | Review) -> OutgoingRecord:
        if isinstance(item, ChatbotAnswer):
            topic, key, event_id = topics.answers, item.conversation_id, item.answer_id
        elif isinstance(item, Review):
            topic, key, event_id = topics.reviews, item.conversation_id, item.review_id
        else:
            topic, key, event_id = topics.documents, item.document_id, item.document_id
        headers = event_headers(event_id, type(item).__name__, source)
        return OutgoingRecord(topic, key.encode(), codec.encode(item), headers)

    return outgoing
