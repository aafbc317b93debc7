"""The headers of published records: name, meaning and an example, as the code that writes them has them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from streams.delivery import dead_letters
from streams.kafka.kafka_records import SCHEMA_URN
from streams.observability.failures import Stage


@dataclass(frozen=True, slots=True)
class Header:
    """One header; its value is text in UTF-8.

    ``values`` are all that it can have, none where it is free; ``always`` False: some records lack it.
    """

    name: str
    meaning: str
    example: str
    always: bool = True
    values: tuple[str, ...] = ()


#: CloudEvents 1.0, Kafka protocol binding, binary content mode.
EVENT: Final = (
    Header("ce_specversion", "The version of CloudEvents.", "1.0", values=("1.0",)),
    Header(
        "ce_id",
        "The event's id; a repeat has the same.",
        "6b8a4d0e-2f0c-5a53-9e0f-0f6d3a4c1b7e",
    ),
    Header("ce_type", "The record's name after `truthgate.`.", "truthgate.Verdict"),
    Header("ce_source", "What published it.", "/truthgate/worker"),
    Header(
        "content-type",
        "Avro in either encoding; the value's first byte identifies it.",
        "application/avro",
        values=("application/avro",),
    ),
)

#: Behind those, on what a worker publishes for others.
PUBLISHED: Final = (
    *EVENT,
    Header(
        "ce_time",
        "The event's time (RFC 3339): `scored_at` of a verdict, `window_end` of a window or an alert.",
        "2026-03-02T09:15:01.250000Z",
    ),
    Header(
        "ce_subject",
        "`answer_id` of a verdict, `message_type` of a window, `alert_id` of an alert.",
        "answer-42",
    ),
    Header(
        "ce_dataschema",
        f"The writer's schema: `{SCHEMA_URN}`, the record's name and the schema's fingerprint in byte order; "
        "the same in both encodings.",
        f"{SCHEMA_URN}truthgate.Verdict:43d7a86253f6cfb7",
    ),
)

TRACE: Final = (
    Header(
        "traceparent",
        "W3C Trace Context; a verdict's continues its answer's.",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        always=False,
    ),
    Header("tracestate", "W3C Trace Context.", "vendor=1", always=False),
)

#: Beside all headers of the original, but for those that begin with ``dlq.``.
DEAD_LETTER: Final = (
    Header(
        dead_letters.ERROR_CLASS,
        "The cause: a stable code such as `unknown_fingerprint`, or the name of an exception.",
        "unknown_format",
    ),
    Header(
        dead_letters.ERROR_MESSAGE,
        "The cause as a sentence, which may quote the record.",
        "the 3 bytes are neither Avro nor JSON",
    ),
    Header(
        dead_letters.STAGE, "The stage that failed.", "decode", values=tuple(stage.value for stage in Stage)
    ),
    Header(dead_letters.TOPIC, "The record's original topic.", "answers"),
    Header(dead_letters.PARTITION, "Its original partition, a decimal number.", "0"),
    Header(dead_letters.OFFSET, "Its original offset, a decimal number.", "42"),
    Header(dead_letters.ATTEMPTS, "How often it was tried, replays included.", "1"),
    Header(
        dead_letters.FIRST_FAILED_AT,
        "When it first failed (ISO 8601).",
        "2026-03-02T09:15:01.250000+00:00",
    ),
    Header(
        dead_letters.REPEATED,
        "How often in a row it failed for the same `dlq.stage` and `dlq.error.class`, after replays.",
        "1",
        always=False,
    ),
    Header(
        dead_letters.VALUE_BYTES,
        "The size of a value that is too large for the topic of dead letters; the value is then null.",
        "1048577",
        always=False,
    ),
    Header(
        dead_letters.VALUE_SHA256, "The SHA-256 of such a value, in hexadecimal.", "e3b0c44298", always=False
    ),
)


def header_schema(headers: Iterable[Header]) -> dict[str, Any]:
    """Write headers as the JSON Schema that AsyncAPI takes."""
    headers = tuple(headers)
    return {
        "type": "object",
        "properties": {header.name: _property(header) for header in headers},
        "required": [header.name for header in headers if header.always],
    }


def _property(header: Header) -> dict[str, Any]:
    values = {"enum": list(header.values)} if header.values else {}
    return {"type": "string", "description": header.meaning, "examples": [header.example], **values}
