"""Records in the Avro single-object encoding, read as their newest schemas have them."""

import json
import sys
from io import BytesIO

from fastavro import parse_schema, schemaless_reader
from fastavro.schema import fingerprint, to_parsing_canonical_form


class PassedOver(Exception):
    """A record that is passed over; the message says why."""


def release(file):
    return [int(part) for part in file.parent.name.split(".")]  # 0.10.0 comes after 0.9.0


def load(folder):
    """Return the writers' schemas by fingerprint, and the newest of each record by its name."""
    writers, newest = {}, {}
    for file in sorted(folder.glob("*/*.avsc"), key=release):
        parsed = add(file.read_text("utf-8"), writers)
        newest[parsed["name"]] = parsed
    return (writers, newest) if writers else sys.exit(f"SCHEMAS: no schemas in {folder}")


def add(text, writers):
    """Parse the JSON of a schema, and add it to those that are known."""
    schema = json.loads(text)
    canonical = to_parsing_canonical_form(parse_schema(schema, _write_hint=False))
    writers[bytes.fromhex(fingerprint(canonical, "CRC-64-AVRO"))] = parsed = parse_schema(schema)
    return parsed


def is_new(value, writers):
    """Return whether the schema of a value is not known, and was not looked up before."""
    return value is not None and value[:2] == b"\xc3\x01" and len(value) >= 10 and value[2:10] not in writers


def decode(value, writers, newest):
    """Return a record's name and its fields, as its newest schema has them."""
    if value and value[0] == 0:  # as is every other record: nothing is committed
        sys.exit("Confluent's wire format: use your registry's deserializer (docs/consumers.md)")
    if value is None or value[:2] != b"\xc3\x01" or len(value) < 10:  # None: a tombstone
        raise PassedOver("no value" if value is None else "not in the Avro single-object encoding")
    if not (writer := writers.get(value[2:10])):
        raise PassedOver(f"unknown fingerprint {value[2:10].hex()}: of a later release?")
    name = writer["name"]
    try:
        return name, schemaless_reader(BytesIO(value[10:]), writer, newest[name])
    except Exception as error:  # whatever the bytes are
        raise PassedOver(f"malformed {name}: {type(error).__name__}") from error


def identity(name, record):
    """Of two records with the same identity the first counts: of a verdict, and of outcomes of one."""
    if name != "truthgate.Review":
        return record.get("verdict_id")
    texts = {"send": record["text"], "send_edited": record["text"], "reject": True, "expired": True}
    return f"outcome of {record['verdict_id']}" if texts.get(record["outcome"]) else record["review_id"]
