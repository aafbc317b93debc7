"""Records as received, and the headers of published ones (CloudEvents 1.0, binary mode)."""

from dataclasses import dataclass
from datetime import datetime

from schemas.catalogue import current_schema
from schemas.records import Record, rfc3339

Headers = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class ReceivedRecord:
    """One record of an input topic: where it stands, its bytes, all of its headers, and its time.

    ``timestamp`` is in seconds since 1970, None where the broker has none.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp: float | None = None


#: Before a record's name and the fingerprint of its schema, in the order of the bytes on the wire.
SCHEMA_URN = "urn:truthgate:schema:"


def event_headers(event_id: str, event_type: str, source: str) -> Headers:
    """Give the headers of an event that is written as Avro.

    Args:
        event_id: the same for an event that is sent again.
        event_type: what it is, without ``truthgate.``, such as the record's name in the schemas.
        source: what of ours sends it.
    """
    return (
        ("ce_specversion", b"1.0"),
        ("ce_id", event_id.encode()),
        ("ce_type", b"truthgate." + event_type.encode()),
        ("ce_source", b"/truthgate/" + source.encode()),
        ("content-type", b"application/avro"),
    )


def published_headers(event_id: str, record: Record, *, subject: str, time: datetime) -> Headers:
    """Give the headers of a record that a worker publishes for others.

    Args:
        event_id: the same for an event that is sent again.
        record: what is published.
        subject: what it is about, such as the answer that was judged.
        time: when that came to be, aware; a part of the record, and so the same where that is.
    """
    return (
        *event_headers(event_id, type(record).__name__, "worker"),
        ("ce_time", rfc3339(time).encode()),
        ("ce_subject", subject.encode()),
        ("ce_dataschema", dataschema(type(record)).encode()),
    )


def dataschema(record_type: type[Record]) -> str:
    """Name the schema that we write a record with; it is the same with a schema registry and without."""
    schema = current_schema(record_type)
    return f"{SCHEMA_URN}{schema.name}:{schema.fingerprint.hex()}"
