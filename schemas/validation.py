"""Validation of records: from plain values or JSON to a typed record, and back; its errors."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from schemas.records import Record

DecodeStage = Literal["decode", "validate"]


class DecodeError(ValueError):
    """A value that is no record of the contract, and will never become one.

    ``code`` is stable and short, such as ``truncated``; ``stage`` is ``decode`` while the bytes
    are read and ``validate`` when they can be read but break a rule of the contract. The message
    names fields, sizes and positions, never the texts in the value.
    """

    def __init__(self, code: str, detail: str, stage: DecodeStage = "decode") -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.stage = stage

    def __reduce__(self) -> tuple[type[DecodeError], tuple[str, str, DecodeStage]]:
        """Keep code and stage when the error crosses a process border."""
        return type(self), (self.code, self.detail, self.stage)


class EncodeError(ValueError):
    """A record that its schema cannot hold; the message names the record's type, not its texts."""


class RegistryUnreachable(Exception):
    """The schema registry, or the topic of schemas, does not answer in time or refuses; worth a retry."""


# Alike by so much, and no more than so much longer or shorter, it is a slip and no name of its own:
# document_id for document_ids, and not question_id for question.
_SIMILARITY_CUTOFF = 0.87
_MAX_LENGTH_DIFFERENCE = 2
_MIN_NAME_LENGTH = 5

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UnknownField:
    """A field that the record does not have: its path and name, and the field that may be meant."""

    path: str
    name: str
    suggestion: str | None


def unknown_fields(value: Any, schema: Schema) -> Iterator[UnknownField]:
    """Find the fields of a value that its schema does not name, those within it too.

    Args:
        value: as JSON gives it; what does not fit the schema is passed over.
        schema: a JSON Schema as pydantic writes it, of a type whose unknown fields are ignored.
    """
    return _unknown_within(value, schema, schema.get("$defs", {}), "")


def _unknown_within(value: Any, schema: Schema, definitions: Schema, path: str) -> Iterator[UnknownField]:
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    known = schema.get("properties")
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown_within(item, schema.get("items", {}), definitions, f"{path}[{index}]")
    elif known and isinstance(value, dict):
        for name, inner in value.items():
            if name in known:
                yield from _unknown_within(
                    inner, known[name], definitions, f"{path}.{name}".removeprefix(".")
                )
            else:
                meant = _suggestion(name, known.keys() - value.keys())
                yield UnknownField(f"{path}.".removeprefix("."), name, meant)


def _suggestion(name: str, free: Collection[str]) -> str | None:
    """Return which of the fields that are not there is meant by a name, by its letters alone."""
    if name[-1:].isdigit():
        return None  # one of a row, such as rating2
    letters = _letters(name)
    for each in sorted(free):
        if _letters(each) == letters:
            return each
    long = [
        each
        for each in sorted(free)
        if len(each) >= _MIN_NAME_LENGTH and abs(len(each) - len(name)) <= _MAX_LENGTH_DIFFERENCE
    ]
    return next(iter(difflib.get_close_matches(name.casefold(), long, n=1, cutoff=_SIMILARITY_CUTOFF)), None)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


T = TypeVar("T")

MAX_REASONS = 3
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}
_SCHEMAS: dict[type[Any], dict[str, Any]] = {}
_FIELD_NAMES: dict[type[Any], frozenset[str]] = {}

OnIgnored = Callable[[str], None]


def from_plain(values: Mapping[str, Any], record_type: type[T]) -> T:
    """Make a record of the plain values that an Avro reader returns.

    Raises DecodeError ``invalid_record`` (stage ``validate``) if a value breaks a rule.
    """
    try:
        return adapter(record_type).validate_python(values)
    except ValidationError as error:
        raise _invalid(error, record_type) from None


def from_json(
    value: bytes, record_type: type[T], known: type[Any] | None = None, on_ignored: OnIgnored | None = None
) -> T:
    """Make a record of a JSON object in UTF-8; fields that the record does not have are ignored.

    But where the type of the ``known`` ones is given, one whose name is a slip, such as ``document_id`` for
    ``document_ids``, is refused: what it says would be missing, unseen. Types are strict: the number 5 is no
    text, and a time is text as in RFC 3339.

    Args:
        value: the object.
        record_type: the record.
        known: the type whose fields are known; None: it is not looked at the fields that are not.
        on_ignored: called with the place of each field that is ignored, such as ``context[0].colour``.

    Raises:
        DecodeError: ``invalid_json`` if the bytes are no JSON object or name a key twice (RFC 8259
            leaves open which of the two counts), and ``invalid_record`` if a value breaks a rule.
    """
    try:
        record = adapter(record_type).validate_json(value, strict=True)
    except ValidationError as error:
        raise _invalid(error, record_type, _misspellings_in(value, known)) from None
    read = _unambiguous(value, record_type)
    unknown = list(unknown_fields(read, _schema(known))) if known else []
    if misspelt := [_misspelling(field) for field in unknown if field.suggestion]:
        raise _invalid_record(misspelt)
    if on_ignored:
        for field in unknown:
            on_ignored(f"{field.path}{field.name}")
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


def _invalid(error: ValidationError, record_type: type[Any], misspelt: Iterable[str] = ()) -> DecodeError:
    details = error.errors(include_url=False, include_context=False, include_input=False)
    if details[0]["type"] == "json_invalid":
        return DecodeError("invalid_json", details[0]["msg"].removeprefix("Invalid JSON: "))
    known = _field_names(record_type)
    return _invalid_record(
        [*misspelt, *(f"{_format_path(detail['loc'], known)}: {_problem_text(detail)}" for detail in details)]
    )


def _invalid_record(reasons: Sequence[str]) -> DecodeError:
    more = [f"and {len(reasons) - MAX_REASONS} more"] if len(reasons) > MAX_REASONS else []
    return DecodeError("invalid_record", "; ".join([*reasons[:MAX_REASONS], *more]), stage="validate")


def _misspellings_in(value: bytes, known: type[Any] | None) -> list[str]:
    """Return messages on misspelled names in an invalid object: a missing field may be under one."""
    if known is None:
        return []
    try:
        found = unknown_fields(json.loads(value), _schema(known))
    except (ValueError, RecursionError):
        return []  # the refusal says why
    return [_misspelling(field) for field in found if field.suggestion]


def _misspelling(field: UnknownField) -> str:
    return f"{field.path}{field.name}: is no field; did you mean {field.suggestion}?"


def _format_path(location: tuple[int | str, ...], known: frozenset[str]) -> str:
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
        schema = _schema(record_type)
        within = (schema, *schema.get("$defs", {}).values())
        _FIELD_NAMES[record_type] = frozenset(name for each in within for name in each.get("properties", {}))
    return _FIELD_NAMES[record_type]


def _schema(record_type: type[Any]) -> dict[str, Any]:
    if record_type not in _SCHEMAS:
        _SCHEMAS[record_type] = adapter(record_type).json_schema()
    return _SCHEMAS[record_type]


def _problem_text(detail: ErrorDetails) -> str:
    if detail["type"] == "missing":
        return "is missing"
    if detail["type"].startswith("dataclass"):
        return "should be a JSON object"
    return detail["msg"].removeprefix("Value error, ").replace("Input should", "should")


def _unambiguous(value: bytes, record_type: type[Any]) -> Any:
    """Read JSON as Python has it, and refuse what the validator lets pass: repeated keys, NaN and such."""
    try:
        return json.loads(
            value.decode(),
            object_pairs_hook=lambda pairs: _check_unique(pairs, record_type),
            parse_constant=_refuse_constant,
            parse_int=str,
            parse_float=str,
        )
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise DecodeError("invalid_json", reason) from None


def _check_unique(pairs: Iterable[tuple[str, Any]], record_type: type[Any]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise ValueError(f"key {key if key in _field_names(record_type) else '*'} is repeated")
        seen[key] = value
    return seen


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
