"""Headers of published records, and header names that are not UTF-8."""

import json
from datetime import timedelta
from importlib.resources import files

import pytest
from aiokafka.record.default_records import DefaultRecordBatch, _DefaultRecordBatchBuilderPy
from fastavro.schema import fingerprint, parse_schema, to_parsing_canonical_form
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec
from streams.kafka.header_names_patch import TolerantRecords
from streams.kafka.kafka_records import event_headers, published_headers
from tests.support.pages import BEGIN, blocked_verdict, rate_alert, rate_window
from tests.support.records import RawName


def test_an_event_has_the_attributes_that_cloudevents_requires_and_its_content_type():
    assert event_headers("id-é", "Verdict", "worker") == (
        ("ce_specversion", b"1.0"),
        ("ce_id", "id-é".encode()),
        ("ce_type", b"truthgate.Verdict"),
        ("ce_source", b"/truthgate/worker"),
        ("content-type", b"application/avro"),
    )


def test_what_a_worker_publishes_states_its_time_subject_and_schema_behind_the_others():
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
def test_the_schema_is_named_by_the_fingerprint_that_the_value_begins_with(record, file):
    _, dataschema = published_headers("id", record, subject="a", time=BEGIN + timedelta(hours=1))[-1]
    urn, _, found = dataschema.decode().rpartition(":")
    assert urn == f"urn:truthgate:schema:truthgate.{type(record).__name__}"
    schema = json.loads((files("schemas") / f"{file}.avsc").read_text("utf-8"))
    canonical = to_parsing_canonical_form(parse_schema(schema, _write_hint=False))
    assert found == fingerprint(canonical, "CRC-64-AVRO") == Codec().encode(record)[2:10].hex()


GZIP = 1


def batch(names: list[bytes], compression: int = 0) -> bytes:
    """Give one batch with a record for each header name; its offset is its value."""
    builder = _DefaultRecordBatchBuilderPy(
        magic=2,
        compression_type=compression,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=10_000_000,
    )
    for offset, name in enumerate(names):
        headers = [("before", b"1"), (RawName(name), b"2"), ("after", None)]
        assert builder.append(offset, 1_000, b"key", str(offset).encode(), headers) is not None
    return bytes(builder.build())


def read(raw: bytes) -> list[tuple[int, bytes, bytes, list[tuple[str, bytes | None]]]]:
    records = TolerantRecords(raw)
    found = []
    while records.has_next():
        found += [(r.offset, r.key, r.value, list(r.headers)) for r in records.next_batch()]
    return found


def test_a_name_that_is_not_utf_8_is_escaped_and_the_records_around_it_are_read():
    for compression in (0, GZIP):
        found = read(batch([b"one", b"\xff\xfe", b"three", b"caf\xc3\xa9", b"\xc3"], compression))
        assert [offset for offset, *_ in found] == [0, 1, 2, 3, 4]
        names = [headers[1][0] for *_, headers in found]
        assert names == ["one", "\\xff\\xfe", "three", "café", "\\xc3"]
        assert found[1][1:3] == (b"key", b"1")
        assert found[1][3] == [("before", b"1"), ("\\xff\\xfe", b"2"), ("after", None)]


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=20))
def test_every_record_is_read_once_and_in_order_whatever_the_names(names):
    found = read(batch(names) + batch(names))
    assert [offset for offset, *_ in found] == [*range(len(names)), *range(len(names))]
    assert [value for _, _, value, _ in found] == [str(n).encode() for n in range(len(names))] * 2
    assert [headers[1][0] for *_, headers in found] == [
        name.decode(errors="backslashreplace") for name in names
    ] * 2


def test_a_batch_states_what_the_fetcher_asks_of_it():
    raw = batch([b"\xff", b"x"])
    ours, theirs = TolerantRecords(raw).next_batch(), DefaultRecordBatch(raw)
    for name in ("base_offset", "next_offset", "is_control_batch", "is_transactional", "producer_id"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.validate_crc()
