"""Sending records from a command: each acknowledged, in order within a key, with bounded concurrency."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from schemas import ChatbotAnswer, Codec, EncodeError, KnowledgeDocument
from streams.cli.async_input import aiter_in_thread
from streams.cli.command_errors import InputErrors, SourceLocation
from streams.cli.command_output import CommandFailed
from streams.cli.topic_reading import refuse_missing_topics
from streams.delivery.keyed_executor import KeyedExecutor
from streams.delivery.publisher import Publisher
from streams.kafka.kafka_clients import open_producer
from streams.kafka.kafka_records import Headers, event_headers
from streams.kafka.topic_identity import describe_topic
from streams.kafka.topics import Topics, message_limits
from streams.observability.failures import BadAnswer
from streams.settings import Settings

T = TypeVar("T")

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


async def send_all(
    settings: Settings,
    topic: str,
    items: Iterable[tuple[SourceLocation, T]] | AsyncGenerator[tuple[SourceLocation, T], None],
    outgoing: Callable[[T], OutgoingRecord],
    errors: InputErrors,
) -> int:
    """Send all items to a topic, report refused ones, and return how many were acknowledged.

    ``items`` may block where they are not asynchronous. Raises as :func:`open_sender` does.
    """
    sent = 0

    def settle(location: SourceLocation, refusal: BadAnswer | None) -> None:
        nonlocal sent
        sent += refusal is None
        if refusal:
            errors.report(location, f"refused by the broker: {refusal.error_class}")

    source = items if isinstance(items, AsyncGenerator) else aiter_in_thread(items)
    async with open_sender(settings, topic) as sender, aclosing(source) as located:
        async for location, item in located:
            try:
                record = outgoing(item)
            except EncodeError as error:
                errors.report(location, str(error))
            else:
                await sender.send(record, partial(settle, location))
    return sent


async def send_each(settings: Settings, records: Iterable[OutgoingRecord]) -> None:
    """Send records to their topics. Raises as :func:`open_sender`, and CommandFailed if one is refused."""
    outgoing, refusals = list(records), list[BadAnswer | None]()
    async with open_sender(settings, *sorted({record.topic for record in outgoing})) as sender:
        for record in outgoing:
            await sender.send(record, refusals.append)
    for refusal in filter(None, refusals):
        raise CommandFailed(f"refused by the broker: {refusal.error_class}")


async def open_encoder(
    settings: Settings, record_type: type[ChatbotAnswer | KnowledgeDocument], source: str
) -> Callable[[ChatbotAnswer | KnowledgeDocument], OutgoingRecord]:
    """Return a function that makes the record of an answer or a document; it raises EncodeError.

    ``record_type`` will be encoded; ``source`` is the command, for the headers. Raises RegistryUnreachable.
    """
    codec = Codec(settings.encoding.schema_registry_url, settings.encoding.json_input)
    await codec.prepare(record_type)
    topics = Topics(settings.kafka.topic_prefix)

    def outgoing(item: ChatbotAnswer | KnowledgeDocument) -> OutgoingRecord:
        if isinstance(item, ChatbotAnswer):
            topic, key, event_id = topics.answers, item.conversation_id, item.answer_id
        else:
            topic, key, event_id = topics.documents, item.document_id, item.document_id
        headers = event_headers(event_id, type(item).__name__, source)
        return OutgoingRecord(topic, key.encode(), codec.encode(item), headers)

    return outgoing
