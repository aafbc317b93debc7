"""What verdicts and reviews send to a customer, read with the released schemas they were written with."""

import json
import os
import sys
from io import BytesIO

from fastavro import parse_schema, schemaless_reader
from fastavro.schema import fingerprint, to_parsing_canonical_form

LATER = os.environ.get("LATER", "A colleague will answer.")  # what is sent if nobody decided in time


def load(folder):
    """Return the schemas of both records by fingerprint; ends the program where there are none."""
    schemas = {}
    for file in [*folder.glob("*/Verdict.avsc"), *folder.glob("*/Review.avsc")]:
        schema = json.loads(file.read_text("utf-8"))
        canonical = to_parsing_canonical_form(parse_schema(schema, _write_hint=False))
        schemas[bytes.fromhex(fingerprint(canonical, "CRC-64-AVRO"))] = parse_schema(schema)
    return schemas or sys.exit(f"SCHEMAS: no schemas of verdicts in {folder}")


def decode(value, schemas):
    """Return a record, with the text that it sends as ``answer`` (None: nothing), and whether it ``counts``.

    The first record of a verdict that counts is the one that does. Raises ValueError with what is wrong.
    """
    if value[:1] == b"\0":
        raise ValueError("Confluent's wire format: use your registry's deserializer (docs/consumers.md)")
    if value[:2] != b"\xc3\x01" or len(value) < 10:
        raise ValueError("not in the Avro single-object encoding")
    if not (writer := schemas.get(value[2:10])):
        raise ValueError(f"unknown fingerprint {value[2:10].hex()}: add the schemas of its release")
    try:
        record = schemaless_reader(BytesIO(value[10:]), writer, None)
    except Exception as error:  # whatever the bytes are
        raise ValueError(
            f"malformed {writer['name'].split('.')[-1].lower()}: {type(error).__name__}"
        ) from error
    if "outcome" not in record:
        return {**record, "said": record["decision"], "counts": record["decision"] == "auto_send"}
    outcome, text = record["outcome"], record["text"]
    texts = {"send": text, "send_edited": text, "reject": None, "expired": LATER}
    counts = outcome in ("reject", "expired") or (outcome in texts and bool(text))
    return {**record, "said": outcome, "counts": counts, "answer": texts.get(outcome)}
