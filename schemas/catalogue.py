"""The Avro schemas that the package ships: the current one of each record, and every released one."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Generic, TypeVar, get_args

from fastavro.schema import fingerprint, parse_schema, to_parsing_canonical_form
from pydantic import FiniteFloat

from schemas.records import Identifier, Record, ShortText, Timestamp, Verdict

T = TypeVar("T")

NAMESPACE = "truthgate"
RECORD_TYPES: tuple[type[Record], ...] = get_args(Record)
_ROOT = files("schemas")


@dataclass(frozen=True, slots=True, eq=False)
class RecordSchema:
    """An Avro schema of one of our records.

    ``text`` is its JSON, ``parsed`` what fastavro made of it, ``fingerprint`` the CRC-64-AVRO of
    its Parsing Canonical Form as 8 bytes, little endian (Avro 1.11, "Schema Fingerprints").
    """

    record_type: type[Record]
    text: str
    parsed: dict[str, Any]
    fingerprint: bytes

    @property
    def name(self) -> str:
        """The record's full name, such as ``truthgate.Verdict``."""
        return f"{NAMESPACE}.{self.record_type.__name__}"


@dataclass(frozen=True, slots=True, eq=False)
class RecordProjection(Generic[T]):
    """Some fields of one of our records: those that the dataclass ``part_type`` has.

    Read with ``parsed``, the schema of these alone, the other fields are skipped and not checked.
    """

    record_type: type[Record]
    projected_type: type[T]
    parsed: dict[str, Any]


def record_projection(record_type: type[Record], projected_type: type[T]) -> RecordProjection[T]:
    """Make the part of a record that the dataclass ``part_type`` names the fields of."""
    wanted = {field.name for field in fields(projected_type)}  # type: ignore[arg-type]
    raw = json.loads(current_schema(record_type).text)
    kept = [field for field in raw["fields"] if field["name"] in wanted]
    parsed: Any = parse_schema({**raw, "fields": kept})
    return RecordProjection(record_type, projected_type, parsed)


def read_schema(text: str, record_type: type[Record]) -> RecordSchema:
    """Parse the JSON of a schema whose data will be read as ``record_type``."""
    raw = json.loads(text)
    canonical = to_parsing_canonical_form(parse_schema(raw, _write_hint=False))
    parsed: Any = parse_schema(raw)
    return RecordSchema(record_type, text, parsed, bytes.fromhex(fingerprint(canonical, "CRC-64-AVRO")))


def current_schema(record_type: type[Record]) -> RecordSchema:
    """Return the schema that we write ``record_type`` with, and read it as."""
    return _CURRENT[record_type]


def released_schemas(record_type: type[Record]) -> Mapping[str, RecordSchema]:
    """Return the released schemas of ``record_type`` by the release that brought each, the oldest first."""
    return _RELEASED[record_type]


def read_released(folder: Traversable, record_type: type[Record]) -> dict[str, RecordSchema]:
    """Read the schemas of ``record_type`` in a folder that has one of its own for each release.

    A release that leaves a record as it was has no file of it.
    """
    releases = sorted(folder.iterdir(), key=lambda release: [int(part) for part in release.name.split(".")])
    found = ((release.name, release / f"{record_type.__name__}.avsc") for release in releases)
    return {name: _read_file(file, record_type) for name, file in found if file.is_file()}


def schemas_by_fingerprint() -> dict[bytes, RecordSchema]:
    """Return every schema we ship under its fingerprint; a current one goes before a released one."""
    shipped = [
        schema for kind in RECORD_TYPES for schema in (*released_schemas(kind).values(), current_schema(kind))
    ]
    return {schema.fingerprint: schema for schema in shipped}


def _read_file(file: Traversable, record_type: type[Record]) -> RecordSchema:
    return read_schema(file.read_text(encoding="utf-8"), record_type)


def _read_current(record_type: type[Record]) -> RecordSchema:
    stem = re.sub(r"(?<=.)(?=[A-Z])", "_", record_type.__name__).lower()
    return _read_file(_ROOT / f"{stem}.avsc", record_type)


_CURRENT = {kind: _read_current(kind) for kind in RECORD_TYPES}
_RELEASED = {kind: read_released(_ROOT / "released", kind) for kind in RECORD_TYPES}


@dataclass(frozen=True, slots=True)
class VerdictOutcome:
    """The fields of a :class:`~schemas.records.Verdict` by the same names."""

    verdict_id: Identifier
    decision: str
    score: FiniteFloat | None
    message_type: str
    language: ShortText | None
    produced_at: Timestamp
    scored_at: Timestamp
    faithfulness: FiniteFloat | None


VERDICT_OUTCOME = record_projection(Verdict, VerdictOutcome)
