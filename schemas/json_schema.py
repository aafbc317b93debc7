"""The records of the contract as JSON Schemas, made from their Avro schemas and the limits of their fields.

JSON Schema is that of OpenAPI 3.1 (draft 2020-12).
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from schemas.catalogue import current_schema
from schemas.records import Record
from schemas.validation import adapter

Schema = dict[str, Any]

#: ``read``: what senders must give, and nothing else is taken. ``written``: every field is there, and a later
#: release may bring more.
Use = Literal["read", "written"]

#: How a time is written in Avro, which JSON writes as in RFC 3339.
_IN_AVRO: Final = re.compile(r", milliseconds since [\w:-]+")

_PRIMITIVES: Final[Mapping[str, str]] = {
    "null": "null",
    "string": "string",
    "boolean": "boolean",
    "int": "integer",
    "long": "integer",
    "double": "number",
}
#: What the types of the records say beyond Avro.
_LIMITS: Final = (
    "minLength",
    "maxLength",
    "maxItems",
    "maxProperties",
    "minimum",
    "exclusiveMaximum",
)


def json_schemas(record_type: type[Record], use: Use, place: str) -> dict[str, Schema]:
    """Return the JSON Schemas of a record and of the records within it, by name.

    Args:
        record_type: the record.
        use: whether it is read or was written.
        place: the prefix of references between the schemas, such as ``#/components/schemas/``.
    """
    limits = adapter(record_type).json_schema(mode="validation")
    known = {record_type.__name__: limits, **limits.get("$defs", {})}
    return dict(_SchemaConverter(use, place, known).record(json.loads(current_schema(record_type).text)))


class _SchemaConverter:
    """Converts an Avro schema; ``known`` are pydantic's schemas of the records, for their limits."""

    def __init__(self, use: Use, place: str, known: Mapping[str, Schema]) -> None:
        self._use = use
        self._place = place
        self._known = known

    def record(self, avro: Mapping[str, Any]) -> Iterator[tuple[str, Schema]]:
        """Yield the schemas of the records in a record's fields, and then its own."""
        for field in avro["fields"]:
            for within in _records_in(field["type"]):
                yield from self.record(within)
        limits = self._known[avro["name"]]["properties"]
        needed = [each["name"] for each in avro["fields"] if self._use == "written" or "default" not in each]
        made: Schema = {
            "type": "object",
            "description": avro["doc"],
            "properties": {
                each["name"]: self._field(each, limits.get(each["name"], {})) for each in avro["fields"]
            },
            "required": needed,
        }
        if self._use == "read":
            made["additionalProperties"] = False
        yield avro["name"], made

    def _field(self, field: Mapping[str, Any], limits: Schema) -> Schema:
        schema = {**self._type(field["type"], limits), "description": _IN_AVRO.sub("", field["doc"])}
        if self._use == "read" and "default" in field:
            schema["default"] = field["default"]
        return schema

    def _type(self, avro: Any, limits: Schema) -> Schema:
        if isinstance(avro, list):
            return self._union(avro, limits)
        if isinstance(avro, dict):
            return self._table(avro, limits)
        if avro in _PRIMITIVES:
            return {"type": _PRIMITIVES[avro], **_limits_of(limits)}
        return {"$ref": f"{self._place}{avro.rpartition('.')[2]}"}

    def _table(self, avro: Mapping[str, Any], limits: Schema) -> Schema:
        match avro["type"]:
            case "record":
                return self._type(avro["name"], limits)
            case "array":
                items = self._type(avro["items"], limits.get("items", {}))
                return {"type": "array", "items": items, **_limits_of(limits)}
            case "map":
                values = self._type(avro["values"], limits.get("additionalProperties", {}))
                return {"type": "object", "additionalProperties": values, **_limits_of(limits)}
        if avro.get("logicalType") == "timestamp-millis":
            return {"type": "string", "format": "date-time"}
        return self._type(avro["type"], limits)

    def _union(self, avro: list[Any], limits: Schema) -> Schema:
        (other,) = (each for each in avro if each != "null")
        within = next((each for each in limits.get("anyOf", ()) if each.get("type") != "null"), limits)
        schema = self._type(other, within)
        if "$ref" in schema:
            return {"anyOf": [schema, {"type": "null"}]}
        return {**schema, "type": [schema["type"], "null"]}


def _records_in(avro: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(avro, list):
        for each in avro:
            yield from _records_in(each)
    elif isinstance(avro, dict):
        if avro["type"] == "record":
            yield avro
        for key in ("items", "values"):
            yield from _records_in(avro.get(key))


def _limits_of(pydantic: Schema) -> Schema:
    return {key: pydantic[key] for key in _LIMITS if key in pydantic}
