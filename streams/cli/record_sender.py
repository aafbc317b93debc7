"""Sending records from a command: each acknowledged, in order within a key, with bounded concurrency."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from schemas import Codec, EncodeError, Record
from streams.cli.command_errors import InputErrors, SourceLocation
from streams.cli.command_output import CommandFailed
from streams.cli.topic_reading import refuse_missing_topics
from streams.delivery.keyed_executor import KeyedExecutor
from streams.delivery.publisher import Publisher
from streams.kafka.kafka_clients import open_producer
from streams.kafka.kafka_records import Headers
from streams.kafka.schema_topic import create_codec
from streams.kafka.topic_identity import describe_topic
from streams.kafka.topics import message_limits
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
        self._failures: list[BaseException] = []
        self._failed = asyncio.Event()
        self._executor = KeyedExecutor(_IN_FLIGHT, self._note_failure)

    async def send(self, record: OutgoingRecord, on_settled: OnSettled) -> None:
        """Queue a record, waiting while the queue is full. Raises InfrastructureFailure."""
        self._raise_failure()
        await self._executor.submit(record.key, partial(self._publish, record, on_settled))

    async def finish(self) -> None:
        """Wait until every queued record is settled. Raises InfrastructureFailure."""
        drained = asyncio.create_task(self._executor.drain())
        failed = asyncio.create_task(self._failed.wait())
        try:
            await asyncio.wait([drained, failed], return_when=asyncio.FIRST_COMPLETED)
        finally:
            drained.cancel()
            failed.cancel()
        self._raise_failure()

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
        self._failures.append(failure)
        self._failed.set()

    def _raise_failure(self) -> None:
        if self._failures:
            raise self._failures[0]


async def send_all(
    items: AsyncIterator[tuple[SourceLocation, T]],
    outgoing: Callable[[T], OutgoingRecord],
    sender: Sender,
    errors: InputErrors,
) -> int:
    """Send all items, report refused ones, and return how many were acknowledged."""
    sent = 0

    def settle(location: SourceLocation, refusal: BadAnswer | None) -> None:
        nonlocal sent
        sent += refusal is None
        if refusal:
            errors.report(location, f"refused by the broker: {refusal.error_class}")

    async for location, item in items:
        try:
            record = outgoing(item)
        except EncodeError as error:
            errors.report(location, str(error))
            continue
        await sender.send(record, partial(settle, location))
    await sender.finish()
    return sent


async def send_each(settings: Settings, records: Iterable[OutgoingRecord]) -> None:
    """Send records and wait until all in-sync replicas have acknowledged them.

    Raises:
        UsageError: a topic does not exist.
        ServiceUnreachable, InfrastructureFailure: the records could not be sent.
        CommandFailed: the broker refuses one.
    """
    outgoing, refusals = list(records), list[BadAnswer]()

    def settle(refusal: BadAnswer | None) -> None:
        refusals.extend([refusal] if refusal else [])

    async with open_sender(settings, *sorted({record.topic for record in outgoing})) as sender:
        for record in outgoing:
            await sender.send(record, settle)
        await sender.finish()
    if refusals:
        raise CommandFailed(f"refused by the broker: {refusals[0].error_class}")


@asynccontextmanager
async def open_sender(settings: Settings, *topics: str) -> AsyncIterator[Sender]:
    """Open a sender to these topics, whose records are acknowledged by all in-sync replicas.

    Raises UsageError if a topic does not exist, ServiceUnreachable.
    """
    largest = message_limits(settings).input
    async with open_producer(settings.kafka, max_request_size=largest) as producer:
        # Checked first: a producer would wait for a missing topic until the delivery timeout.
        with refuse_missing_topics():
            for topic in topics:
                await describe_topic(producer.client, topic, settings.kafka.connect_timeout_seconds)
        yield Sender(Publisher(producer, settings.kafka.delivery_timeout_seconds))


async def open_codec(settings: Settings, *record_types: type[Record]) -> Codec:
    """Open the codec of the settings, ready to encode these types. Raises RegistryUnreachable."""
    codec = create_codec(settings)
    await codec.prepare(*record_types)
    return codec
