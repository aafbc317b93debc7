"""The topic of Avro schemas: writers publish theirs before their first record, readers look others up."""

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

import structlog
from aiokafka.errors import KafkaError, UnknownTopicOrPartitionError

from schemas import Codec, RegistryUnreachable
from schemas.catalogue import RecordSchema
from streams.kafka.kafka_clients import ServiceUnreachable, open_producer, raise_if_cancelled
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics
from streams.settings import KafkaSettings, Settings

log = structlog.get_logger(__name__)

#: The topic has one short record for each schema that was ever written: it is read in milliseconds.
_TIMEOUT_SECONDS: Final = 15.0
#: After so many lookups in a row that found nothing, somebody makes fingerprints up: then a read of so many
#: seconds ago answers too, or each such record would hold up the others for the time of a read.
_MAX_MISSES: Final = 10
_SHARED_SECONDS: Final = 1.0
#: How often a worker looks whether its schemas are still there.
_KEEP_SECONDS: Final = 60.0


def create_codec(settings: Settings) -> Codec:
    """Return the codec of a deployment, which knows the schemas on its topic."""
    encoding = settings.encoding
    return Codec(encoding.schema_registry_url, encoding.json_input, SchemaTopic(settings.kafka))


async def keep_published(settings: Settings, interval: float = _KEEP_SECONDS) -> None:
    """Publish our schemas again whenever the topic has lost them, until cancelled; a registry keeps its own.

    Only a worker that ships a schema can read what others cannot, and here it shares that schema. So a leader
    of the rates that lacks one waits for it, and needs no successor.
    """
    if settings.encoding.schema_registry_url:
        return
    codec = create_codec(settings)
    while True:
        await asyncio.sleep(interval)
        with suppress(RegistryUnreachable, ServiceUnreachable):  # the progress probe reports the brokers
            await codec.prepare()
        raise_if_cancelled()


def schema_key(fingerprint: bytes) -> bytes:
    """Return the key of a schema: its fingerprint in the order of the bytes on the wire, in hexadecimal."""
    return fingerprint.hex().encode()


class SchemaTopic:
    """Publishes and finds schemas; every wait is bounded, and nothing is open in between."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._topic = Topics(kafka.topic_prefix).schemas
        self._texts: dict[bytes, bytes] = {}
        self._read_began = float("-inf")
        self._misses = 0
        self._reading = asyncio.Lock()

    async def publish(self, schemas: Iterable[RecordSchema]) -> None:
        """Publish the schemas that are not there; raises RegistryUnreachable, ServiceUnreachable."""
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                await self._read()
                # A value of somebody else under our key would hide the schema for ever.
                missing = [
                    each
                    for each in schemas
                    if self._texts.get(schema_key(each.fingerprint)) != each.text.encode()
                ]
                if missing:
                    await self._send(missing)
        except (KafkaError, TimeoutError) as error:
            raise self._unreachable(error) from error

    async def find(self, fingerprint: bytes) -> str | None:
        """Return the JSON of a schema, or None if the topic does not have it now; raises RegistryUnreachable.

        Its writer published it before the record that is being read: what a read to the end that
        began after that does not find is not there. Concurrent lookups share one read, and after ten
        that found nothing so do those of one second.
        """
        key, asked_at = schema_key(fingerprint), time.monotonic()
        if self._misses >= _MAX_MISSES:
            asked_at -= _SHARED_SECONDS
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS), self._reading:
                if key not in self._texts and self._read_began < asked_at:
                    await self._read()
        except (KafkaError, ServiceUnreachable, TimeoutError) as error:
            raise self._unreachable(error) from error
        text = self._texts.get(key)
        self._misses = self._misses + 1 if text is None else 0
        return None if text is None else text.decode(errors="replace")

    async def _read(self) -> None:
        began, texts = time.monotonic(), dict[bytes, bytes]()
        async with open_reader(self._kafka, self._topic, auto_offset_reset="earliest") as reader:
            seen = await reader.snapshot()
            async for records in reader.read_between(seen.beginning_offsets, seen.end_offsets):
                texts |= {record.key: record.value for record in records if record.key and record.value}
        self._texts, self._read_began = texts, began

    async def _send(self, schemas: Iterable[RecordSchema]) -> None:
        async with open_producer(self._kafka) as producer:
            for schema in schemas:
                key = schema_key(schema.fingerprint)
                await producer.send_and_wait(self._topic, schema.text.encode(), key)
                log.info("schema_published", record=schema.name, fingerprint=schema.fingerprint.hex())

    def _unreachable(self, error: Exception) -> RegistryUnreachable:
        if isinstance(error, UnknownTopicOrPartitionError):
            return RegistryUnreachable(
                f"topic {self._topic} does not exist; `truthgate topics create` creates it"
            )
        reason = str(error) if isinstance(error, ServiceUnreachable) else type(error).__name__
        return RegistryUnreachable(f"topic {self._topic} cannot be used: {reason}")
