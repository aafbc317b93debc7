"""Avro binary data to and from plain values, safe on any bytes."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from fastavro import schemaless_reader, schemaless_writer

from schemas.catalogue import RecordPart, RecordSchema, current
from schemas.errors import DecodeError, EncodeError
from schemas.records import Record
from schemas.validation import adapter

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
    schema = current(type(record))
    try:
        values = adapter(type(record)).dump_python(record, warnings=False)
        schemaless_writer(output, schema.parsed, values)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        # Not chained: fastavro's message repeats the value.
        raise EncodeError(f"{schema.name} cannot be encoded ({type(error).__name__})") from None
    return output.getvalue()


def read_values(
    value: bytes, start: int, writer: RecordSchema, part: RecordPart[Any] | None = None
) -> dict[str, Any]:
    """Decode ``value[start:]``, written with ``writer``, as the current schema's fields, or as ``part``.

    Raises DecodeError, whatever the bytes. fastavro refuses most bad lengths itself, but not
    where it skips a field that we do not have; there a length beyond the end, or below zero,
    reads up to the end. One byte more than was sent shows it: only such a read reaches that byte.
    """
    source = BytesIO(value + _SENTINEL)
    source.seek(start)
    try:
        values: Any = schemaless_reader(source, writer.parsed, _reader(writer, part))
    except Exception as error:  # noqa: BLE001 - a value must not end the worker, whatever fastavro raises
        raise _malformed(error, source.tell() - start) from None
    _check_end(source.tell(), len(value))
    return dict(values)


def _reader(writer: RecordSchema, part: RecordPart[Any] | None) -> dict[str, Any] | None:
    if part is not None:
        return part.parsed
    reader = current(writer.record_type)
    return None if writer.fingerprint == reader.fingerprint else reader.parsed


def _check_end(position: int, size: int) -> None:
    if position > size:
        raise DecodeError("truncated", f"the record goes on after the {size} bytes of the value")
    if position < size:
        raise DecodeError("trailing_bytes", f"{size - position} bytes follow the record")


def _malformed(error: Exception, position: int) -> DecodeError:
    code = next((code for kind, code in _CODES if isinstance(error, kind)), "malformed")
    return DecodeError(code, f"{type(error).__name__} after {position} bytes of Avro data")
