"""The generated parts of the consumers' page; the rest of it is written by hand."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from docs.generate.contract.asyncapi import fingerprints
from docs.generate.contract.channels import channels
from docs.generate.contract.record_headers import DEAD_LETTER, PUBLISHED, TRACE, Header
from docs.generate.reference.markdown_table import table
from schemas import Codec, Review
from schemas.catalogue import RECORD_TYPES, current_schema
from schemas.codec import CONFLUENT, CONFLUENT_HEADER, SINGLE_OBJECT, SINGLE_OBJECT_HEADER
from streams.kafka.topics import Topics

_PART = re.compile(r"(?s)(<!-- made: ([a-z-]+) -->\n).*?(<!-- end -->)")
#: An example that is short enough to be read by the byte.
_REVIEW: Final = Review(
    review_id="r-1",
    verdict_id="v-1",
    answer_id="a-1",
    conversation_id="c-1",
    produced_at=datetime(2026, 3, 2, 9, tzinfo=UTC),
    outcome="reject",
    rating=4,
    reviewer="kim",
    reviewed_at=datetime(2026, 3, 2, 9, 15, tzinfo=UTC),
    source="desk",
)
_REGISTRY_ID: Final = 42


def fill_generated_parts(page: str) -> str:
    """Return the page with new text between ``made:`` and ``end``; raises KeyError for an unknown part."""
    return _PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n\n{part[3]}", page)


def _topics() -> str:
    rows = (
        (
            f"`{each.address}`",
            each.direction.value,
            each.record_type.__name__ if each.record_type else "",
            each.key,
        )
        for each in channels(Topics())
    )
    return _table(("topic", "", "record", "key, in UTF-8"), rows)


def _headers(headers: Iterable[Header]) -> str:
    rows = ((f"`{each.name}`", each.meaning, f"`{each.example}`") for each in headers)
    return _table(("header", "", "such as"), rows)


def _fingerprints() -> str:
    rows = (
        (f"`{name}`", release, f"`{found}`", f"`{_big_endian(found)}`", _link(name, release))
        for name, releases in ((current_schema(each).name, fingerprints(each)) for each in RECORD_TYPES)
        for release, found in releases.items()
    )
    return _table(("record", "release", "bytes 2 to 9 of a value", "as a 64-bit number", ""), rows)


def _link(name: str, release: str) -> str:
    record = name.removeprefix("truthgate.")
    return f"[schema](../schemas/released/{release}/{record}.avsc)"


def _big_endian(digits: str) -> str:
    return bytes.fromhex(digits)[::-1].hex()


def _single_object() -> str:
    value = Codec().encode(_REVIEW)
    header = (
        (SINGLE_OBJECT, "marks the Avro single-object encoding"),
        (
            value[len(SINGLE_OBJECT) : SINGLE_OBJECT_HEADER],
            "the schema's CRC-64-AVRO fingerprint, little endian",
        ),
    )
    return _bytes((*header, *_data(value[SINGLE_OBJECT_HEADER:])))


def _confluent() -> str:
    value = CONFLUENT + _REGISTRY_ID.to_bytes(CONFLUENT_HEADER - len(CONFLUENT), "big")
    header = (
        (CONFLUENT, "marks the Confluent wire format"),
        (value[len(CONFLUENT) :], f"the schema's id in the registry, big endian: {_REGISTRY_ID}"),
    )
    return _bytes((*header, *_data(Codec().encode(_REVIEW)[SINGLE_OBJECT_HEADER:])))


def _data(data: bytes) -> Iterable[tuple[bytes, str]]:
    """Say what the bytes of the example are; they are cut where the fields of its schema end."""
    time = (len(data) - 47) // 2
    meanings = (
        (4, '`review_id`: the length 3 as a zigzag number, and "r-1"'),
        (4, '`verdict_id`: "v-1"'),
        (4, '`answer_id`: "a-1"'),
        (4, '`conversation_id`: "c-1"'),
        (time, "`produced_at`: milliseconds since 1970 as a zigzag number"),
        (7, '`outcome`: "reject"'),
        (1, "`text`: branch 0 of the union, null"),
        (2, "`rating`: branch 1 of the union, and 4 as a zigzag number"),
        (1, "`label`: null"),
        (1, "`wrong_spans`: the end of the array"),
        (1, "`comment`: null"),
        (4, '`reviewer`: "kim"'),
        (time, "`reviewed_at`: the same"),
        (5, '`source`: "desk"'),
        (8, "`sampling_weight`: 1 as a double, little endian"),
        (1, "`proposal`: null"),
    )
    begin = 0
    for size, meaning in meanings:
        yield data[begin : begin + size], meaning
        begin += size


def _bytes(parts: Iterable[tuple[bytes, str]]) -> str:
    rows, begin = [], 0
    for part, meaning in parts:
        rows.append((str(begin), f"`{part.hex(' ')}`", meaning))
        begin += len(part)
    return _table(("at", "bytes", ""), rows)


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    return "\n".join(table(heads, rows)).rstrip("\n")


#: The function that generates each part.
PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "topics": _topics,
    "headers": lambda: _headers((*PUBLISHED, *TRACE)),
    "dead-letters": lambda: _headers(DEAD_LETTER),
    "fingerprints": _fingerprints,
    "single-object": _single_object,
    "confluent": _confluent,
}
