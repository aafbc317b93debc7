"""The fast Avro library writes and reads what the reference library of the Avro project does."""

import json
from io import BytesIO
from typing import Any

import avro.schema
import pytest
from avro.io import BinaryDecoder, BinaryEncoder, DatumReader, DatumWriter
from fastavro.schema import fingerprint, parse_schema, to_parsing_canonical_form
from hypothesis import given

from schemas import (
    ChatbotAnswer,
    KnowledgeDocument,
    KnownAnswer,
    Pause,
    PolicyChange,
    RateAlert,
    RateWindow,
    Review,
    Verdict,
)
from schemas.catalogue import RECORD_TYPES, current_schema, released_schemas
from schemas.codec import read_values, write_record
from schemas.records import Record
from schemas.validation import adapter, from_plain
from tests.support.record_strategies import records

JAVA_FINGERPRINTS: dict[type[Record], dict[str, str]] = {
    ChatbotAnswer: {"0.1.0": "35ff25aa18262841"},
    Pause: {"0.1.0": "e674660d99b4ef54"},
    Review: {"0.1.0": "8a84cb5b2ceb64d9"},
    KnowledgeDocument: {"0.1.0": "978b54bbf0111694"},
    RateAlert: {"0.1.0": "51a7893234c7bf9f"},
    RateWindow: {"0.1.0": "74fe52eb6f238e5f"},
    Verdict: {"0.1.0": "52586534a29c1c94"},
    KnownAnswer: {"0.1.0": "b41e40d16e72fda0"},
    PolicyChange: {"0.1.0": "0ad19cb55f9904f2"},
}

# avro types neither its classes' constructors nor its methods.
# mypy: disable-error-code="no-untyped-call"


def reference_bytes(record: Record) -> bytes:
    schema = avro.schema.parse(current_schema(type(record)).text)
    output = BytesIO()
    DatumWriter(schema).write(_with_lists(adapter(type(record)).dump_python(record)), BinaryEncoder(output))
    return output.getvalue()


def _with_lists(value: object) -> object:
    """Turn tuples into the lists that the reference library asks for."""
    match value:
        case dict():
            return {key: _with_lists(item) for key, item in value.items()}
        case list() | tuple():
            return [_with_lists(item) for item in value]
    return value


@given(records)
def test_our_bytes_are_those_of_the_reference(record: Record) -> None:
    assert write_record(record, b"") == reference_bytes(record)


@given(records)
def test_the_reference_reads_what_we_write(record: Record) -> None:
    schema = avro.schema.parse(current_schema(type(record)).text)
    values = DatumReader(schema).read(BinaryDecoder(BytesIO(write_record(record, b""))))
    assert isinstance(values, dict)
    assert from_plain(values, type(record)) == record


@given(records)
def test_we_read_what_the_reference_writes(record: Record) -> None:
    values = read_values(reference_bytes(record), 0, current_schema(type(record)))
    assert from_plain(values, type(record)) == record


@pytest.mark.parametrize("record_type", RECORD_TYPES)
def test_fingerprints_are_those_of_the_reference(record_type: type[Record]) -> None:
    """The reference writes a logical type's ``long`` as ``{"type": "long"}``, which the specification
    ([PRIMITIVES]) and Java do not: it is given the plain form."""
    schema = current_schema(record_type)
    plain = json.dumps(_without_logical_types(json.loads(schema.text)))
    assert schema.fingerprint == avro.schema.parse(plain).fingerprint("CRC-64-AVRO")


def _without_logical_types(schema: Any) -> Any:
    match schema:
        case {"logicalType": _, "type": plain}:
            return plain
        case dict():
            return {key: _without_logical_types(value) for key, value in schema.items()}
        case list():
            return [_without_logical_types(item) for item in schema]
    return schema


@pytest.mark.parametrize("record_type", RECORD_TYPES)
def test_fingerprints_of_the_releases_are_those_of_java(record_type: type[Record]) -> None:
    """Computed with Java's SchemaNormalization.parsingFingerprint("CRC-64-AVRO", ...), Avro 1.12.0.

    So no release is changed afterwards either.
    """
    found = {release: schema.fingerprint.hex() for release, schema in released_schemas(record_type).items()}
    assert found == JAVA_FINGERPRINTS[record_type]


@pytest.mark.parametrize(
    ("schema", "crc"),
    [('"null"', 0x63DD24E7CC258F8A), ('"int"', 0x7275D51A3F395C8F), ('"string"', 0x8F014872634503C7)],
)
def test_fingerprints_are_those_that_other_languages_compute(schema: str, crc: int) -> None:
    """The figures are the published ones of the Java implementation, for primitive types."""
    canonical = to_parsing_canonical_form(parse_schema({"type": schema.strip('"')}))
    assert bytes.fromhex(fingerprint(canonical, "CRC-64-AVRO")) == crc.to_bytes(8, "little")
