"""What is written is released: who has the released schemas alone reads all of it, and so do we."""

import itertools
import json
from collections.abc import Iterable
from importlib.resources import files
from io import BytesIO
from typing import Any

import pytest
from fastavro import parse_schema, schemaless_reader
from fastavro.schema import fingerprint, to_parsing_canonical_form
from hypothesis import given

from schemas import ChatbotAnswer, Codec, DecodeError, Verdict
from schemas.admission import incompatibilities
from schemas.catalogue import (
    RECORD_TYPES,
    VERDICT_OUTCOME,
    RecordSchema,
    current_schema,
    read_released,
    released_schemas,
    schemas_by_fingerprint,
)
from schemas.validation import adapter
from tests.support.record_strategies import ANSWER, records, verdicts
from tests.support.releases import earlier_schema, later_schema, written_with

CODEC = Codec()
HEADER = 10
EARLIER = {kind: earlier_schema(kind) for kind in RECORD_TYPES}
LATER = {kind: later_schema(kind, default="") for kind in RECORD_TYPES}
every_record = pytest.mark.parametrize("record_type", RECORD_TYPES, ids=lambda kind: kind.__name__)


def _unreadable(releases: Iterable[RecordSchema]) -> list[tuple[str, ...]]:
    """Say why one of these cannot read what another one wrote; nothing where each reads all."""
    pairs = itertools.permutations(releases, 2)
    found = (incompatibilities(reader=reader.text, writer=writer.text) for reader, writer in pairs)
    return [reasons for reasons in found if reasons]


def _released_schemas() -> dict[bytes, Any]:
    """Read the released files as a consumer does that has nothing else of ours, by their fingerprints."""
    found = {}
    for release in (files("schemas") / "released").iterdir():
        for file in release.iterdir():
            schema = json.loads(file.read_text("utf-8"))
            canonical = to_parsing_canonical_form(parse_schema(schema, _write_hint=False))
            found[bytes.fromhex(fingerprint(canonical, "CRC-64-AVRO"))] = parse_schema(schema)
    return found


RELEASED = _released_schemas()


def _without_docs(schema: Any) -> Any:
    match schema:
        case dict():
            return {key: _without_docs(value) for key, value in schema.items() if key != "doc"}
        case list():
            return [_without_docs(item) for item in schema]
    return schema


@every_record
def test_what_we_write_is_the_newest_release(record_type):
    """The fingerprint says nothing of the defaults that a reader fills in, so these are compared too."""
    newest = list(released_schemas(record_type).values())[-1]
    assert newest.fingerprint == current_schema(record_type).fingerprint
    assert _without_docs(json.loads(newest.text)) == _without_docs(
        json.loads(current_schema(record_type).text)
    )


def test_every_released_file_is_of_one_of_the_records():
    assert len(RELEASED) == sum(len(released_schemas(record_type)) for record_type in RECORD_TYPES)


@every_record
def test_every_release_and_the_current_schema_read_what_every_other_wrote(record_type):
    """New readers meet old records, and old readers new ones, also across several releases."""
    assert _unreadable([*released_schemas(record_type).values(), current_schema(record_type)]) == []


@every_record
def test_a_field_with_a_default_may_come_and_go_and_one_without_may_not(record_type):
    assert _unreadable([EARLIER[record_type], current_schema(record_type), LATER[record_type]]) == []
    assert len(_unreadable([current_schema(record_type), later_schema(record_type)])) == 1


def test_releases_are_in_the_order_of_their_numbers_and_those_without_the_record_are_left_out(tmp_path):
    for release in ("0.10.0", "0.9.0", "1.0.0"):
        (tmp_path / release).mkdir()
    for release, schema in (("0.9.0", EARLIER[Verdict]), ("0.10.0", current_schema(Verdict))):
        (tmp_path / release / "Verdict.avsc").write_text(schema.text)
    found = read_released(tmp_path, Verdict)
    assert list(found) == ["0.9.0", "0.10.0"]
    assert found["0.9.0"].fingerprint == EARLIER[Verdict].fingerprint


@given(records)
def test_a_consumer_with_the_released_schemas_alone_reads_every_record(record):
    value = CODEC.encode(record)
    writer = RELEASED[value[2:HEADER]]
    whole = adapter(type(record)).dump_python(record)
    for reader in (*released_schemas(type(record)).values(), EARLIER[type(record)]):
        seen = schemaless_reader(BytesIO(value[HEADER:]), writer, reader.parsed)
        assert seen == _known(whole, reader.parsed, {})


def _known(value: Any, schema: Any, named: dict[str, Any]) -> Any:
    """Give what a schema has of a value, records in records too, with lists for tuples."""
    match schema:
        case list():
            (branch,) = (each for each in schema if each != "null")
            return None if value is None else _known(value, branch, named)
        case {"type": "record", "name": name, "fields": known}:
            named[name] = schema
            return {each["name"]: _known(value[each["name"]], each["type"], named) for each in known}
        case {"type": "array", "items": items}:
            return [_known(item, items, named) for item in value]
        case str() if schema in named:
            return _known(value, named[schema], named)
    return value


#: A codec of a release with others before and after it.
SEVERAL = Codec()
SEVERAL._shipped = schemas_by_fingerprint() | {
    schema.fingerprint: schema for schema in (*EARLIER.values(), *LATER.values())
}


@given(records)
def test_we_read_what_an_earlier_release_wrote_with_the_defaults_of_today(record):
    earlier = EARLIER[type(record)]
    read = SEVERAL.decode(written_with(earlier, record), type(record))
    fields = json.loads(current_schema(type(record)).text)["fields"]
    defaults = {field["name"]: field["default"] for field in fields if "default" in field}
    known = _known(adapter(type(record)).dump_python(record), earlier.parsed, {})
    assert read == adapter(type(record)).validate_python(defaults | known)


@given(records)
def test_we_read_what_a_later_release_wrote_without_what_it_added(record):
    later = LATER[type(record)]
    assert SEVERAL.decode(written_with(later, record, added="new"), type(record)) == record


def test_what_a_release_wrote_that_we_do_not_have_is_refused():
    with pytest.raises(DecodeError, match="no schema has the fingerprint"):
        CODEC.decode(written_with(LATER[ChatbotAnswer], ANSWER, added="new"), ChatbotAnswer)


@given(verdicts)
def test_rates_read_the_verdicts_of_every_release(verdict):
    for release in (*released_schemas(Verdict).values(), EARLIER[Verdict], LATER[Verdict]):
        outcome = SEVERAL.decode_projection(written_with(release, verdict, added="new"), VERDICT_OUTCOME)
        assert (outcome.verdict_id, outcome.decision) == (verdict.verdict_id, verdict.decision)
