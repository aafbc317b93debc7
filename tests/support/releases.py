"""Schemas as other releases could have them, and what their workers would write."""

import json
from io import BytesIO
from typing import Any

from fastavro import schemaless_writer

from schemas import Record
from schemas.catalogue import RecordSchema, current_schema, read_schema
from schemas.validation import adapter


def earlier_schema(record_type: type[Record]) -> RecordSchema:
    """Make a schema of an earlier release: the current one without the fields that have a default."""
    schema = json.loads(current_schema(record_type).text)
    schema["fields"] = [field for field in schema["fields"] if "default" not in field]
    return read_schema(json.dumps(schema), record_type)


def later_schema(record_type: type[Record], **field: Any) -> RecordSchema:
    """Make a schema of a later release: the current one with a field ``added``, a text."""
    schema = json.loads(current_schema(record_type).text)
    schema["fields"].insert(1, {"name": "added", "type": "string", **field})
    return read_schema(json.dumps(schema), record_type)


def written_with(schema: RecordSchema, record: Record, **more: Any) -> bytes:
    """Write a record as a worker with that schema does: what it has no fields for is not there."""
    output = BytesIO()
    output.write(b"\xc3\x01" + schema.fingerprint)
    schemaless_writer(output, schema.parsed, adapter(schema.record_type).dump_python(record) | more)
    return output.getvalue()
