"""Received records, and the headers of published ones (CloudEvents 1.0, binary mode)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from schemas.catalogue import current_schema
from schemas.records import Record, rfc3339

Headers = tuple[tuple[str, bytes], ...]


_SOURCE = b"/truthgate/"
_SHADOW = "shadow/"


@dataclass(frozen=True, slots=True)
class ReceivedRecord:
    """One record of an input topic: position, bytes, all headers, and time.

    ``timestamp`` is in seconds since 1970, None if the broker has none.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp: float | None = None


#: The prefix of a record's name and the fingerprint of its schema, in the byte order of the wire format.
SCHEMA_URN = "urn:truthgate:schema:"


def event_headers(event_id: str, event_type: str, source: str) -> Headers:
    """Return the headers of an event written as Avro.

    Args:
        event_id: equal for an event that is sent again.
        event_type: the type without ``truthgate.``, e.g. the record's name in the schemas.
        source: the component that sends it.
    """
    return (
        ("ce_specversion", b"1.0"),
        ("ce_id", event_id.encode()),
        ("ce_type", b"truthgate." + event_type.encode()),
        ("ce_source", _SOURCE + source.encode()),
        ("content-type", b"application/avro"),
    )


def published_headers(
    event_id: str, record: Record, *, subject: str, time: datetime, source: str = "worker"
) -> Headers:
    """Return the headers of a record that is published.

    Args:
        event_id: equal for an event that is sent again.
        record: the published record.
        subject: what it is about, e.g. the judged answer.
        time: when that happened, aware; part of the record, so it is equal if the record is.
        source: the component that publishes it.
    """
    return (
        *event_headers(event_id, type(record).__name__, source),
        ("ce_time", rfc3339(time).encode()),
        ("ce_subject", subject.encode()),
        ("ce_dataschema", dataschema(type(record)).encode()),
    )


def dataschema(record_type: type[Record]) -> str:
    """Return the URN of the schema that a record is written with, with or without a schema registry."""
    schema = current_schema(record_type)
    return f"{SCHEMA_URN}{schema.name}:{schema.fingerprint.hex()}"


def verdict_source(shadow: str) -> str:
    """Return the component that publishes a verdict: the worker, or the shadow of that name."""
    return f"{_SHADOW}{shadow}" if shadow else "worker"


def shadow_name(headers: Iterable[tuple[str, bytes]]) -> str | None:
    """Return the name of the shadow whose verdict has these headers; None if they do not say it."""
    source = dict(headers).get("ce_source", b"")
    prefix = _SOURCE + _SHADOW.encode()
    return source.removeprefix(prefix).decode(errors="replace") if source.startswith(prefix) else None
