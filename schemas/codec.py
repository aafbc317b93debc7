"""Records to and from the bytes of a Kafka value: Avro single-object encoding, a schema registry, or JSON.

The first bytes distinguish three encodings: Avro single-object (``C3 01`` and the writer
schema's CRC-64-AVRO fingerprint, Avro 1.11, "Single-object encoding"), the Confluent wire format
(``00`` and the schema's id in a registry, 4 bytes, big endian), and JSON (``{``).
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from fastavro import schemaless_reader, schemaless_writer

from schemas.catalogue import (
    RECORD_TYPES,
    RecordProjection,
    RecordSchema,
    current_schema,
    schemas_by_fingerprint,
)
from schemas.records import Record
from schemas.validation import DecodeError, EncodeError, RegistryUnreachable, adapter, from_json, from_plain

if TYPE_CHECKING:
    from schemas.registry import SchemaRegistry

_SENTINEL = b"\0"
_CODES: tuple[tuple[type[Exception], str], ...] = (
    (EOFError, "truncated"),
    (UnicodeDecodeError, "invalid_utf8"),
    (OverflowError, "invalid_timestamp"),
)


def write_record(record: Record, header: bytes) -> bytes:
    """Encode a record with its current schema behind ``header``.

    Times are kept to the millisecond. Raises EncodeError if the schema cannot hold a value.
    """
    output = BytesIO()
    output.write(header)
    schema = current_schema(type(record))
    try:
        values = adapter(type(record)).dump_python(record, warnings=False)
        schemaless_writer(output, schema.parsed, values)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        # Not chained: fastavro's message repeats the value.
        raise EncodeError(f"{schema.name} cannot be encoded ({type(error).__name__})") from None
    return output.getvalue()


def read_values(
    value: bytes, start: int, writer: RecordSchema, projection: RecordProjection[Any] | None = None
) -> dict[str, Any]:
    """Decode ``value[start:]``, written with ``writer``, into all current fields or the projection's.

    Raises DecodeError, whatever the bytes. fastavro refuses most bad lengths itself, but not
    where it skips a field that we do not have; there a length beyond the end, or below zero,
    reads up to the end. One byte more than was sent shows it: only such a read reaches that byte.
    """
    source = BytesIO(value + _SENTINEL)
    source.seek(start)
    try:
        values: Any = schemaless_reader(source, writer.parsed, _reader(writer, projection))
    except Exception as error:  # noqa: BLE001 - a value must not end the worker, whatever fastavro raises
        raise _malformed(error, source.tell() - start) from None
    _check_end(source.tell(), len(value))
    return dict(values)


def _reader(writer: RecordSchema, projection: RecordProjection[Any] | None) -> dict[str, Any] | None:
    if projection is not None:
        return projection.parsed
    reader = current_schema(writer.record_type)
    return None if writer.fingerprint == reader.fingerprint else reader.parsed


def _check_end(position: int, size: int) -> None:
    if position > size:
        raise DecodeError("truncated", f"the record goes on after the {size} bytes of the value")
    if position < size:
        raise DecodeError("trailing_bytes", f"{size - position} bytes follow the record")


def _malformed(error: Exception, position: int) -> DecodeError:
    code = next((code for kind, code in _CODES if isinstance(error, kind)), "malformed")
    return DecodeError(code, f"{type(error).__name__} after {position} bytes of Avro data")


T = TypeVar("T")

_SchemaId: TypeAlias = int | bytes
"""Names a writer schema: its id in a registry, or its fingerprint."""

SINGLE_OBJECT = b"\xc3\x01"
SINGLE_OBJECT_HEADER = 10
CONFLUENT = b"\x00"
CONFLUENT_HEADER = 5

REFUSAL_LIFETIME = 60.0
"""Seconds until an id that could not be read with is asked for again: the registry may have got it
meanwhile. Short enough to recover by itself, long enough that bad values do not flood it."""
MAX_REFUSALS = 1_000
"""Anyone who writes to an input topic can make ids up; this bounds the memory they take. It is more than
one batch of records can name, so that those of a batch are still known when it is decoded."""


class SchemaStore(Protocol):
    """Where writers publish their schemas, and readers find those that they do not ship."""

    async def publish(self, schemas: Iterable[RecordSchema]) -> None:
        """Publish the schemas that are not there yet; raises RegistryUnreachable."""

    async def find(self, fingerprint: bytes) -> str | None:
        """Return the JSON of the schema with a fingerprint, or None; raises RegistryUnreachable."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    code: str
    detail: str
    until: float


class Codec:
    """Encodes and decodes records of the contract.

    ``registry_url`` switches writing to the Confluent wire format, and needs ``prepare`` before
    the first ``encode``; reading accepts both Avro formats then. ``json_input`` makes reading
    accept JSON too. ``store`` gets the schemas of what is written in the single-object encoding,
    and has those of other releases. ``registry_timeout`` is in seconds. ``clock`` is monotonic, in
    seconds. ``encode`` and ``decode`` do no input or output.
    """

    def __init__(
        self,
        registry_url: str | None = None,
        json_input: bool = False,
        store: SchemaStore | None = None,
        registry_timeout: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._registry = _open_registry(registry_url, registry_timeout) if registry_url else None
        self._json_input = json_input
        self._store = store
        self._clock = clock
        self._shipped = schemas_by_fingerprint()
        self._headers: dict[type[Record], bytes] = {}
        self._fetched: dict[_SchemaId, RecordSchema] = {}
        self._refused: dict[_SchemaId, _Refusal] = {}  # the oldest first
        self._forgot_refusals = False
        self._registry_timeout = registry_timeout
        self._one_lookup = asyncio.Lock()
        if self._registry is None:
            self._headers = {kind: SINGLE_OBJECT + current_schema(kind).fingerprint for kind in RECORD_TYPES}

    @cached_property
    def reader_id(self) -> str:
        """Name what it reads, in 16 hexadecimal digits.

        It changes with the release, the schemas that ship with it, and whether JSON and a registry are read:
        what could not be decoded before may be able to be then.
        """
        parts = (version("truthgate"), sorted(self._shipped), self._json_input, self._registry is not None)
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    async def prepare(self, *record_types: type[Record]) -> None:
        """Publish our schemas (all records', or those given): to the registry, if there is one, or the store.

        Raises RegistryUnreachable.
        """
        schemas = {each: current_schema(each) for each in record_types or RECORD_TYPES}
        if self._registry is None:
            if self._store:
                await self._store.publish(schemas.values())
            return
        for record_type, schema in schemas.items():
            schema_id = await self._registry.register(schema)
            self._headers[record_type] = CONFLUENT + schema_id.to_bytes(4, "big")
            self._fetched[schema_id] = schema

    def encode(self, record: Record) -> bytes:
        """Encode a record; times are kept to the millisecond.

        Raises EncodeError if a value does not fit the schema, RuntimeError before ``prepare``.
        """
        header = self._headers.get(type(record))
        if header is None:
            raise RuntimeError(f"prepare the codec for {type(record).__name__} before encoding")
        return write_record(record, header)

    def is_as_encoded(self, value: bytes, record_type: type[Record]) -> bool:
        """Return whether a value has the form and schema that ``encode`` gives to records of this type."""
        header = self._headers.get(record_type)
        return header is not None and value.startswith(header)

    def needs_lookup(self, value: bytes | None) -> bool:
        """Return whether ``lookup`` must come before ``decode``: the schema is new to us."""
        return self._unknown_schema(value) is not None

    def _unknown_schema(self, value: bytes | None) -> _SchemaId | None:
        """Return the id or fingerprint of a value's schema if it can be looked up and has not been."""
        schema_id: _SchemaId | None = _schema_id(value) if self._registry else None
        if schema_id is None and self._store:
            schema_id = _fingerprint(value)
        if schema_id is None or schema_id in self._shipped or schema_id in self._fetched:
            return None
        return None if self._refusal(schema_id) else schema_id

    async def lookup(self, value: bytes | None) -> None:
        """Fetch the writer schema of a value, if necessary; ``decode`` then uses it.

        Raises RegistryUnreachable if the registry or the store does not respond in time.
        """
        schema_id = self._unknown_schema(value)
        if isinstance(schema_id, bytes):
            await self._find(schema_id)
        if not isinstance(schema_id, int):
            return
        try:
            # The wait for the lookups before this one counts, so that none waits longer than that.
            async with asyncio.timeout(self._registry_timeout), self._one_lookup:
                await self._look_up(value)
        except TimeoutError:
            raise RegistryUnreachable("schema registry: no answer to a lookup in time") from None

    async def _find(self, fingerprint: bytes) -> None:
        # Not at the top: it takes long to import, and few records are of another release.
        from schemas.admission import accept_writer_schema  # noqa: PLC0415

        assert self._store is not None
        text = await self._store.find(fingerprint)
        try:
            schema = accept_writer_schema(text) if text else None
            if schema is None or schema.fingerprint != fingerprint:
                raise _unknown_fingerprint(fingerprint)
            self._fetched[fingerprint] = schema
        except DecodeError as error:
            self._refuse(fingerprint, error)

    async def _look_up(self, value: bytes | None) -> None:
        schema_id = self._unknown_schema(value)
        if self._registry is None or not isinstance(schema_id, int):  # another lookup came first
            return
        try:
            self._fetched[schema_id] = await self._registry.fetch(schema_id)
        except DecodeError as error:
            self._refuse(schema_id, error)

    def decode(self, value: bytes | None, record_type: type[T]) -> T:
        """Decode a value as a record of the given type.

        Raises DecodeError, whatever the bytes; RuntimeError if ``lookup`` was needed and left out.
        """
        if value is not None and (written := self._find_writer(value)):
            return from_plain(read_values(value, *_check_record_type(written, record_type)), record_type)
        return self._decode_other(value, record_type)

    def decode_projection(self, value: bytes | None, projection: RecordProjection[T]) -> T:
        """Decode some fields of a record, which costs less than ``decode``; Avro alone is read.

        Raises as ``decode`` does, but for what is wrong with the other fields.
        """
        if value is not None and (written := self._find_writer(value)):
            return from_plain(
                read_values(value, *_check_record_type(written, projection.record_type), projection),
                projection.projected_type,
            )
        raise _unknown_format(value)

    def _find_writer(self, value: bytes) -> tuple[int, RecordSchema] | None:
        if value.startswith(SINGLE_OBJECT):
            return SINGLE_OBJECT_HEADER, self._single_object_writer(value)
        if value.startswith(CONFLUENT):
            return CONFLUENT_HEADER, self._fetched_writer(value)
        return None

    def _decode_other(self, value: bytes | None, record_type: type[T]) -> T:
        if value is None or not value.lstrip().startswith(b"{"):
            raise _unknown_format(value)
        if not self._json_input:
            raise DecodeError("json_not_accepted", "the value is JSON, and encoding.json_input is off")
        return from_json(value, record_type, known=record_type)

    def _single_object_writer(self, value: bytes) -> RecordSchema:
        fingerprint = _fingerprint(value)
        if fingerprint is None:
            raise DecodeError("truncated", "the value ends within the header")
        if writer := self._shipped.get(fingerprint) or self._fetched.get(fingerprint):
            return writer
        if refusal := self._refused.get(fingerprint):
            raise DecodeError(refusal.code, refusal.detail)
        raise _unknown_fingerprint(fingerprint)

    def _fetched_writer(self, value: bytes) -> RecordSchema:
        if self._registry is None:
            raise DecodeError(
                "schema_registry_not_configured",
                "the value names a registry's schema, and encoding.schema_registry_url is unset",
            )
        schema_id = _schema_id(value)
        if schema_id is None:
            raise DecodeError("truncated", "the value ends within the header")
        if writer := self._fetched.get(schema_id):
            return writer
        if refusal := self._refused.get(schema_id):
            raise DecodeError(refusal.code, refusal.detail)
        if self._forgot_refusals:  # between the lookup and now, by others
            raise DecodeError("unknown_schema_id", f"the schema {schema_id} could not be read with before")
        raise RuntimeError(f"look schema {schema_id} up before decoding")

    def _refusal(self, schema_id: _SchemaId) -> _Refusal | None:
        refusal = self._refused.get(schema_id)
        return refusal if refusal and self._clock() < refusal.until else None

    def _refuse(self, schema_id: _SchemaId, error: DecodeError) -> None:
        self._refused.pop(schema_id, None)
        while len(self._refused) >= MAX_REFUSALS:
            del self._refused[next(iter(self._refused))]
            self._forgot_refusals = True
        self._refused[schema_id] = _Refusal(error.code, error.detail, self._clock() + REFUSAL_LIFETIME)


def _open_registry(url: str, timeout: float) -> SchemaRegistry:
    # Not at the top: its HTTP client takes a sixth of a second to import, and few have a registry.
    from schemas.registry import SchemaRegistry  # noqa: PLC0415

    return SchemaRegistry(url, timeout)


def _check_record_type(written: tuple[int, RecordSchema], record_type: type[Any]) -> tuple[int, RecordSchema]:
    start, writer = written
    if writer.record_type is not record_type:
        raise DecodeError("wrong_record", f"a {writer.name} in place of a {record_type.__name__}")
    return start, writer


def _unknown_format(value: bytes | None) -> DecodeError:
    if value is None:
        return DecodeError("null_value", "the value is null")
    if not value:
        return DecodeError("empty_value", "the value has no bytes")
    return DecodeError("unknown_format", f"the {len(value)} bytes are neither Avro nor JSON")


def _unknown_fingerprint(fingerprint: bytes) -> DecodeError:
    return DecodeError("unknown_fingerprint", f"no schema has the fingerprint {fingerprint.hex()}")


def _fingerprint(value: bytes | None) -> bytes | None:
    if value is None or len(value) < SINGLE_OBJECT_HEADER or not value.startswith(SINGLE_OBJECT):
        return None
    return value[len(SINGLE_OBJECT) : SINGLE_OBJECT_HEADER]


def _schema_id(value: bytes | None) -> int | None:
    if value is None or len(value) < CONFLUENT_HEADER or not value.startswith(CONFLUENT):
        return None
    return int.from_bytes(value[len(CONFLUENT) : CONFLUENT_HEADER], "big")
