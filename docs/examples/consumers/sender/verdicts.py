"""Verdicts in the Avro single-object encoding, with the released schemas they were written with."""

import json
import sys
from io import BytesIO

from fastavro import parse_schema, schemaless_reader
from fastavro.schema import fingerprint, to_parsing_canonical_form


def load(folder):
    """Return the schemas of verdicts by fingerprint; ends the program where there are none."""
    schemas = {}
    for file in folder.glob("*/Verdict.avsc"):
        schema = json.loads(file.read_text("utf-8"))
        canonical = to_parsing_canonical_form(parse_schema(schema, _write_hint=False))
        schemas[bytes.fromhex(fingerprint(canonical, "CRC-64-AVRO"))] = parse_schema(schema)
    return schemas or sys.exit(f"SCHEMAS: no schemas of verdicts in {folder}")


def decode(value, schemas):
    """Return a verdict; raises ValueError with what is wrong with the value."""
    if value[:1] == b"\0":
        raise ValueError("Confluent's wire format: use your registry's deserializer (docs/consumers.md)")
    if value[:2] != b"\xc3\x01" or len(value) < 10:
        raise ValueError("not in the Avro single-object encoding")
    if not (writer := schemas.get(value[2:10])):
        raise ValueError(f"unknown fingerprint {value[2:10].hex()}: add the schemas of its release")
    try:
        return schemaless_reader(BytesIO(value[10:]), writer, None)
    except Exception as error:  # whatever the bytes are
        raise ValueError(f"malformed verdict: {type(error).__name__}") from error
