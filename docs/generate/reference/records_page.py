"""The page of all records and their fields, from the newest schemas."""

import json
from collections.abc import Iterator
from typing import Any, Final

from docs.generate.reference.markdown_table import table
from schemas.catalogue import RECORD_TYPES, current_schema

_BEGINNING: Final = """\
# Records

This page is made from the schemas (`python -m docs.generate`); a test compares them.
[Topics](topics.md) says which record goes where. A field with a default may be left out in JSON. Times are
milliseconds since 1970 in Avro, and RFC 3339 with a zone in JSON.
"""


def render() -> str:
    """Return the page, in Markdown."""
    return "\n".join([_BEGINNING, *(line for kind in RECORD_TYPES for line in _record(_schema(kind), "##"))])


def _schema(kind: Any) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(current_schema(kind).text)
    return schema


def _record(schema: dict[str, Any], level: str) -> Iterator[str]:
    yield f"{level} {schema['name']}\n"
    yield f"{schema['doc']}\n"
    yield from table(("field", "type", "default", "meaning"), map(_field, schema["fields"]))
    for inner in _inner(schema["fields"]):
        yield from _record(inner, "###")


def _field(field: dict[str, Any]) -> tuple[str, str, str, str]:
    default = f"`{json.dumps(field['default'])}`" if "default" in field else ""
    return f"`{field['name']}`", _type(field["type"]), default, field.get("doc", "")


def _type(kind: Any) -> str:
    match kind:
        case list():
            told = " or ".join(map(_type, kind))
        case {"type": "array", "items": inner}:
            told = f"array of {_type(inner)}"
        case {"type": "map", "values": inner}:
            told = f"map of {_type(inner)}"
        case {"type": "enum", "symbols": symbols}:
            told = ", ".join(f"`{symbol}`" for symbol in symbols)
        case {"logicalType": name} | {"name": name} | {"type": name} | name:
            told = str(name)
    return told


def _inner(kind: Any) -> Iterator[dict[str, Any]]:
    """Yield the records that are defined directly within a type, in their order."""
    match kind:
        case list():
            for each in kind:
                yield from _inner(each)
        case {"type": "record"}:
            yield kind
        case {"items": inner} | {"values": inner} | {"type": inner}:
            yield from _inner(inner)
