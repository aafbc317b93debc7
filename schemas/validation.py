"""One set of rules for every encoding: from plain values or JSON to a record, or a clear reason."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from schemas.errors import DecodeError
from schemas.records import Record

T = TypeVar("T")

MAX_REASONS = 3
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}
_FIELD_NAMES: dict[type[Any], frozenset[str]] = {}


def from_plain(values: Mapping[str, Any], record_type: type[T]) -> T:
    """Make a record of the plain values that an Avro reader returns.

    Raises DecodeError ``invalid_record`` (stage ``validate``) if a value breaks a rule.
    """
    try:
        return adapter(record_type).validate_python(values)
    except ValidationError as error:
        raise _invalid(error, record_type) from None


def from_json(value: bytes, record_type: type[T]) -> T:
    """Make a record of a JSON object in UTF-8; fields that the record does not have are ignored.

    Types are strict: the number 5 is no text, and a time is text as in RFC 3339. Raises
    DecodeError ``invalid_json`` if the bytes are no JSON object or name a key twice (RFC 8259
    leaves open which of the two counts), and ``invalid_record`` if a value breaks a rule.
    """
    try:
        record = adapter(record_type).validate_json(value, strict=True)
    except ValidationError as error:
        raise _invalid(error, record_type) from None
    _refuse_ambiguous(value, record_type)
    return record


def to_json(record: Record) -> dict[str, Any]:
    """Write a record as JSON-ready values: times as RFC 3339 in UTC, tuples as lists."""
    values: dict[str, Any] = adapter(type(record)).dump_python(record, mode="json", warnings=False)
    return values


def adapter(record_type: type[T]) -> TypeAdapter[T]:
    """Return pydantic's validator and serializer of a record type, built once."""
    if record_type not in _ADAPTERS:
        _ADAPTERS[record_type] = TypeAdapter(record_type)
    return _ADAPTERS[record_type]


def _invalid(error: ValidationError, record_type: type[Any]) -> DecodeError:
    details = error.errors(include_url=False, include_context=False, include_input=False)
    if details[0]["type"] == "json_invalid":
        return DecodeError("invalid_json", details[0]["msg"].removeprefix("Invalid JSON: "))
    known = _field_names(record_type)
    reasons = [f"{_place(detail['loc'], known)}: {_phrase(detail)}" for detail in details[:MAX_REASONS]]
    if len(details) > MAX_REASONS:
        reasons.append(f"and {len(details) - MAX_REASONS} more")
    return DecodeError("invalid_record", "; ".join(reasons), stage="validate")


def _place(location: tuple[int | str, ...], known: frozenset[str]) -> str:
    """Write ``context[2].text``; a key of the sender's own, as in metadata, is not repeated."""
    place = ""
    for part in location:
        if isinstance(part, int):
            place += f"[{part}]"
        else:
            place += f".{part if part in known else '*'}"
    return place.removeprefix(".") or "value"


def _field_names(record_type: type[Any]) -> frozenset[str]:
    """Return the names of the fields of a record and of those within it, found once."""
    if record_type not in _FIELD_NAMES:
        schema = adapter(record_type).json_schema()
        within = (schema, *schema.get("$defs", {}).values())
        _FIELD_NAMES[record_type] = frozenset(name for each in within for name in each.get("properties", {}))
    return _FIELD_NAMES[record_type]


def _phrase(detail: ErrorDetails) -> str:
    if detail["type"] == "missing":
        return "is missing"
    if detail["type"].startswith("dataclass"):
        return "should be a JSON object"
    return detail["msg"].removeprefix("Value error, ").replace("Input should", "should")


def _refuse_ambiguous(value: bytes, record_type: type[Any]) -> None:
    """Look for what the validator lets pass: repeated keys, and numbers that JSON does not have."""
    try:
        json.loads(
            value.decode(),
            object_pairs_hook=lambda pairs: _check_unique(pairs, record_type),
            parse_constant=_no_constant,
            parse_int=str,
            parse_float=str,
        )
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise DecodeError("invalid_json", reason) from None


def _check_unique(pairs: Iterable[tuple[str, Any]], record_type: type[Any]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise ValueError(f"key {key if key in _field_names(record_type) else '*'} is repeated")
        seen.add(key)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
