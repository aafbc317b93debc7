"""Events carry the headers that CloudEvents asks for."""

import json
from datetime import timedelta
from importlib.resources import files

import pytest
from fastavro.schema import fingerprint, parse_schema, to_parsing_canonical_form

from schemas import Codec, Record
from streams.kafka.kafka_records import event_headers, published_headers
from tests.support.pages import BEGIN, blocked_verdict, rate_alert, rate_window


def test_an_event_has_the_attributes_that_cloudevents_requires_and_its_content_type() -> None:
    assert event_headers("id-é", "Verdict", "worker") == (
        ("ce_specversion", b"1.0"),
        ("ce_id", "id-é".encode()),
        ("ce_type", b"truthgate.Verdict"),
        ("ce_source", b"/truthgate/worker"),
        ("content-type", b"application/avro"),
    )


def test_what_a_worker_publishes_tells_its_time_subject_and_schema_behind_the_others() -> None:
    headers = published_headers("id", blocked_verdict("Nee."), subject="a-é", time=BEGIN)
    assert headers[:5] == event_headers("id", "Verdict", "worker")
    assert headers[5:7] == (("ce_time", b"2026-03-02T09:15:00Z"), ("ce_subject", "a-é".encode()))
    assert [name for name, _ in headers[7:]] == ["ce_dataschema"]


@pytest.mark.parametrize(
    ("record", "file"),
    [
        (blocked_verdict("Nee."), "verdict"),
        (rate_window(0), "rate_window"),
        (rate_alert(), "rate_alert"),
    ],
)
def test_the_schema_is_named_by_the_fingerprint_that_the_value_begins_with(record: Record, file: str) -> None:
    _, dataschema = published_headers("id", record, subject="a", time=BEGIN + timedelta(hours=1))[-1]
    urn, _, found = dataschema.decode().rpartition(":")
    assert urn == f"urn:truthgate:schema:truthgate.{type(record).__name__}"
    schema = json.loads((files("schemas") / f"{file}.avsc").read_text("utf-8"))
    canonical = to_parsing_canonical_form(parse_schema(schema, _write_hint=False))
    assert found == fingerprint(canonical, "CRC-64-AVRO") == Codec().encode(record)[2:10].hex()
