"""Prints a line for each verdict, rate and alert of truthgate. Needs aiokafka and fastavro, nothing else."""

import asyncio
import json
import os
import signal
import sys
from io import BytesIO
from pathlib import Path

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import CommitFailedError
from fastavro import parse_schema, schemaless_reader
from fastavro.schema import fingerprint, to_parsing_canonical_form

PREFIX = os.environ.get("PREFIX", "")
TOPICS = (
    "verdicts.auto-send verdicts.review verdicts.blocked hallucination-rates hallucination-alerts".split()
)
REMEMBERED = 100_000  # verdict ids, some 10 MB; the oldest are forgotten


class PassedOver(Exception):
    """A record that is passed over; the message says why."""


def load(folder):
    """Return the writers' schemas by fingerprint, and the newest of each record by its name."""
    writers, newest = {}, {}
    for file in sorted(folder.glob("*/*.avsc"), key=lambda file: int(file.stem)):
        schema = json.loads(file.read_text("utf-8"))
        canonical = to_parsing_canonical_form(parse_schema(schema, _write_hint=False))
        writers[bytes.fromhex(fingerprint(canonical, "CRC-64-AVRO"))] = parsed = parse_schema(schema)
        newest[parsed["name"]] = parsed
    return writers, newest


def decode(value, writers, newest):
    """Return a record's name and its fields, as its newest schema has them."""
    if value is None or value[:2] != b"\xc3\x01" or len(value) < 10:  # None: a tombstone
        raise PassedOver("no value" if value is None else "not in the Avro single-object encoding")
    if not (writer := writers.get(value[2:10])):
        raise PassedOver(f"unknown fingerprint {value[2:10].hex()}: of a later release?")
    name = writer["name"]
    try:
        return name, schemaless_reader(BytesIO(value[10:]), writer, newest[name])
    except Exception as error:  # whatever the bytes are
        raise PassedOver(f"malformed {name}: {type(error).__name__}") from error


def line(name, record):
    if name == "truthgate.Verdict":
        score = "-" if record["score"] is None else f"{record['score']:.1f}"
        return f"{record['decision']} {record['answer_id']} {score} {','.join(record['reasons'])}"
    if name == "truthgate.RateWindow":
        about = f"{record['message_type']}/{record['language'] or '-'}"
        return f"rate {about} {record['hallucinated']} of {record['scored']} untrue"
    return f"alert {record['alert']} {record['status']}" if name.endswith("Alert") else name


def show(record, schemas, seen):
    try:
        name, fields = decode(record.value, *schemas)
        if verdict := fields.get("verdict_id"):
            if verdict in seen:
                raise PassedOver(f"{verdict} again")
            seen[verdict] = None
            while len(seen) > REMEMBERED:
                del seen[next(iter(seen))]
        print(line(name, fields), flush=True)
    except PassedOver as why:
        print(f"{record.topic}/{record.partition}@{record.offset}: {why}", file=sys.stderr)


async def main():
    schemas = load(Path(os.environ.get("SCHEMAS", "../../../schemas/released")))
    seen, stop, loop = {}, asyncio.Event(), asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stop.set)
    async with AIOKafkaConsumer(
        *(PREFIX + topic for topic in TOPICS),
        bootstrap_servers=os.environ.get("KAFKA", "localhost:9092"),
        group_id=os.environ.get("GROUP", "verdict-log"),
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level="read_committed",
    ) as consumer:
        while not stop.is_set():
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    show(record, schemas, seen)
            try:  # after the work: who takes over after a crash or a rebalance repeats rather than loses
                await consumer.commit()
            except CommitFailedError:
                print("partitions went to another consumer: it repeats the last lines", file=sys.stderr)


asyncio.run(main())
