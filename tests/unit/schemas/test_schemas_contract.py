"""The shipped schemas: readable, described, checked for compatibility, equal to the records."""

import dataclasses
import json
import types
import typing
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import pytest
from pydantic import AwareDatetime

from schemas import (
    ChatbotAnswer,
    ContextPassage,
    KnowledgeDocument,
    KnownAnswer,
    Pause,
    PolicyAlphaCost,
    PolicyAsking,
    PolicyCalibration,
    PolicyCalibrationBin,
    PolicyCertificate,
    PolicyChange,
    PolicyContent,
    PolicyFigures,
    PolicyTested,
    PolicyTestedPoint,
    PolicyWeight,
    RateAlert,
    RateWindow,
    Review,
    Verdict,
    VerdictClaim,
    VerdictClaimSource,
    VerdictEvidence,
    VerdictFeature,
    VerdictOpinion,
    VerdictPassage,
    VerdictSpan,
    WrongSpan,
)
from schemas.admission import incompatibilities
from schemas.catalogue import RECORD_TYPES, current_schema, schemas_by_fingerprint
from schemas.records import Record

_NESTED = (
    ContextPassage,
    VerdictFeature,
    VerdictEvidence,
    VerdictPassage,
    VerdictOpinion,
    VerdictClaim,
    VerdictClaimSource,
    VerdictSpan,
    WrongSpan,
    PolicyContent,
    PolicyWeight,
    PolicyCertificate,
    PolicyAlphaCost,
    PolicyAsking,
    PolicyCalibration,
    PolicyCalibrationBin,
    PolicyFigures,
    PolicyTested,
    PolicyTestedPoint,
)
NESTED = {kind.__name__: kind for kind in _NESTED}
every_record = pytest.mark.parametrize("record_type", RECORD_TYPES, ids=lambda kind: kind.__name__)


def schema_of(record_type: type[Record]) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(current_schema(record_type).text)
    return schema


def records_in(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, list):
        for branch in schema:
            yield from records_in(branch)
    elif isinstance(schema, dict):
        if schema["type"] == "record":
            yield schema
            for field in schema["fields"]:
                yield from records_in(field["type"])
        else:
            yield from records_in(schema.get("items") or schema.get("values"))


def python_type(schema: Any) -> Any:
    """Return the type that a value of the schema has in a record."""
    if isinstance(schema, list):
        (other,) = [branch for branch in schema if branch != "null"]
        return python_type(other) | None
    if isinstance(schema, str):
        plain = {"string": str, "int": int, "long": int, "double": float, "boolean": bool}
        return (plain | NESTED)[schema]
    if schema.get("logicalType") == "timestamp-millis":
        return AwareDatetime
    match schema["type"]:
        case "array":
            return types.GenericAlias(tuple, (python_type(schema["items"]), ...))
        case "map":
            return Mapping[str, python_type(schema["values"])]  # type: ignore[misc]
    return NESTED[schema["name"]]


@every_record
def test_a_schema_has_its_record_s_name(record_type):
    assert (schema_of(record_type)["namespace"], schema_of(record_type)["name"]) == (
        "truthgate",
        record_type.__name__,
    )
    assert current_schema(record_type).name == f"truthgate.{record_type.__name__}"


@every_record
def test_every_record_and_field_of_a_schema_is_described(record_type):
    for record in records_in(schema_of(record_type)):
        assert record["doc"]
        assert [field["name"] for field in record["fields"] if not field.get("doc")] == []


@every_record
def test_optional_fields_default_to_null(record_type):
    for record in records_in(schema_of(record_type)):
        for field in record["fields"]:
            if isinstance(field["type"], list):
                assert field["type"][0] == "null"
                assert field["default"] is None


@every_record
def test_the_dataclass_has_the_fields_of_the_schema_with_their_types(record_type):
    for record in records_in(schema_of(record_type)):
        dataclass = NESTED.get(record["name"], record_type)
        assert typing.get_type_hints(dataclass) == {
            field["name"]: python_type(field["type"]) for field in record["fields"]
        }


@every_record
def test_what_the_dataclass_may_leave_out_the_schema_may_too(record_type):
    for record in records_in(schema_of(record_type)):
        defaults = {field["name"] for field in record["fields"] if "default" in field}
        for field in dataclasses.fields(NESTED.get(record["name"], record_type)):
            required = field.default is field.default_factory is dataclasses.MISSING
            assert required or field.name in defaults


def changed(record_type: type[Record], change: str) -> str:
    schema = schema_of(record_type)
    fields = schema["fields"]
    match change:
        case "new field without default":
            fields.append({"name": "added", "type": "string"})
        case "new field with default":
            fields.append({"name": "added", "type": "string", "default": ""})
        case "field removed":
            del fields[1]
        case "type narrowed":
            fields[0]["type"] = "int"
        case "optional made required":
            field = next(field for field in fields if isinstance(field["type"], list))
            field["type"] = field["type"][1]
            del field["default"]
        case "renamed":
            schema["name"] = "Other"
    return json.dumps(schema)


@every_record
@pytest.mark.parametrize("change", ["new field without default", "type narrowed", "renamed"])
def test_the_check_refuses_a_change_that_breaks_reading_old_data(record_type, change):
    assert incompatibilities(reader=changed(record_type, change), writer=current_schema(record_type).text)


@pytest.mark.parametrize(
    "record_type",
    [
        ChatbotAnswer,
        KnowledgeDocument,
        Review,
        Verdict,
        RateWindow,
        RateAlert,
        Pause,
        KnownAnswer,
        PolicyChange,
    ],
)
def test_the_check_refuses_an_optional_field_made_required(record_type):
    broken = changed(record_type, "optional made required")
    assert incompatibilities(reader=broken, writer=current_schema(record_type).text)


@every_record
@pytest.mark.parametrize("change", ["new field with default", "field removed"])
def test_the_check_lets_a_compatible_change_pass(record_type, change):
    assert (
        incompatibilities(reader=changed(record_type, change), writer=current_schema(record_type).text) == ()
    )


def test_every_schema_is_known_by_its_own_fingerprint():
    distinct = {schema.name for schema in schemas_by_fingerprint().values()}
    assert distinct == {current_schema(kind).name for kind in RECORD_TYPES}


@every_record
def test_no_schema_file_is_left_aside(record_type):
    shipped = {file.name for file in files("schemas").iterdir() if file.name.endswith(".avsc")}
    assert len(shipped) == len(RECORD_TYPES)
    assert any(
        json.loads((files("schemas") / name).read_text())["name"] == record_type.__name__ for name in shipped
    )
