"""What is written is released: who has the released schemas alone reads all of it, and so do we."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from importlib.resources import files
from io import BytesIO
from typing import Any

import pytest
from fastavro import parse_schema, schemaless_reader, schemaless_writer
from fastavro.schema import fingerprint, to_parsing_canonical_form
from hypothesis import given

from schemas import Codec, Record, Verdict
from schemas.admission import incompatibilities
from schemas.catalogue import RECORD_TYPES, RecordSchema, current, released
from schemas.outcome import VERDICT_OUTCOME
from schemas.validation import adapter, from_plain
from tests.support.record_strategies import records, verdicts

CODEC = Codec()
HEADER = 10
every_record = pytest.mark.parametrize("record_type", RECORD_TYPES, ids=lambda kind: kind.__name__)


def _released_schemas() -> dict[bytes, Any]:
    """Read the released files as a consumer does that has nothing else of ours, by their fingerprints."""
    found = {}
    for folder in (files("schemas") / "released").iterdir():
        for file in folder.iterdir():
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
def test_what_we_write_is_the_newest_release(record_type: type[Record]) -> None:
    """The fingerprint says nothing of the defaults that a reader fills in, so these are compared too."""
    newest = released(record_type)[-1]
    assert newest.fingerprint == current(record_type).fingerprint
    assert _without_docs(json.loads(newest.text)) == _without_docs(json.loads(current(record_type).text))


@every_record
def test_releases_are_numbered_from_1_and_differ(record_type: type[Record]) -> None:
    names = {file.name for file in (files("schemas") / "released" / record_type.__name__).iterdir()}
    assert names == {f"{number}.avsc" for number in range(1, len(names) + 1)}
    assert len({release.fingerprint for release in released(record_type)}) == len(names)


@every_record
def test_every_release_reads_what_every_other_wrote(record_type: type[Record]) -> None:
    """New readers meet old records, and old readers new ones, also across several releases."""
    for writer, reader in itertools.permutations(released(record_type), 2):
        assert incompatibilities(reader=reader.text, writer=writer.text) == ()


@given(records)
def test_a_consumer_with_the_released_schemas_alone_reads_every_record(record: Record) -> None:
    value = CODEC.encode(record)
    writer = RELEASED[value[2:HEADER]]
    whole = adapter(type(record)).dump_python(record)
    for reader in (each.parsed for each in released(type(record))):
        seen = schemaless_reader(BytesIO(value[HEADER:]), writer, reader)
        assert seen == _plain(whole, reader, {})


def _plain(value: Any, schema: Any, named: dict[str, Any]) -> Any:
    """Give what a reader with a schema sees: the fields that it knows, with lists for tuples."""
    match schema:
        case _ if value is None:
            return None
        case [_, other]:
            return _plain(value, other, named)
        case {"type": "record"}:
            named[schema["name"]] = schema
            return {
                field["name"]: _plain(value[field["name"]], field["type"], named)
                for field in schema["fields"]
            }
        case {"type": "array"}:
            named.update(_records(schema["items"]))
            return [_plain(item, schema["items"], named) for item in value]
        case str() if schema in named:
            return _plain(value, named[schema], named)
    return value


def _records(schema: Any) -> dict[str, Any]:
    """Give the records that a schema defines, by their names: later ones may be named alone."""
    match schema:
        case {"type": "record"}:
            nested = (_records(field["type"]) for field in schema["fields"])
            return {schema["name"]: schema} | {name: found for each in nested for name, found in each.items()}
        case {"type": "array"}:
            return _records(schema["items"])
        case list():
            return {name: found for branch in schema for name, found in _records(branch).items()}
    return {}


def _written_with(release: RecordSchema, record: Record) -> bytes:
    """Write a record as that release did: what it had no fields for is not there."""
    output = BytesIO()
    schemaless_writer(output, release.parsed, adapter(release.record_type).dump_python(record))
    return b"\xc3\x01" + release.fingerprint + output.getvalue()


@given(records)
def test_we_read_what_every_release_wrote_with_the_defaults_of_today(record: Record) -> None:
    for release in released(type(record)):
        read = CODEC.decode(_written_with(release, record), type(record))
        written = _plain(adapter(type(record)).dump_python(record), release.parsed, {})
        assert read == from_plain(written, type(record))


@given(verdicts)
def test_rates_read_the_verdicts_of_every_release(verdict: Verdict) -> None:
    for release in released(Verdict):
        outcome = CODEC.decode_part(_written_with(release, verdict), VERDICT_OUTCOME)
        assert (outcome.verdict_id, outcome.score) == (verdict.verdict_id, verdict.score)


@given(verdicts)
def test_a_verdict_of_the_first_release_tells_nothing_of_its_context_and_claims(verdict: Verdict) -> None:
    read = CODEC.decode(_written_with(released(Verdict)[0], verdict), Verdict)
    nothing = replace(verdict, context_source="", context=(), opinions=(), claims=(), missing_context_ids=())
    assert read == replace(nothing, support=None, contradiction=None, faithfulness=None)
