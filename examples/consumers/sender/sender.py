"""Sends each answer that may be sent, once: over restarts, kills and repeats. Needs aiokafka and fastavro."""

import asyncio
import json
import os
import signal
import sys
import time
from io import BytesIO
from pathlib import Path

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.errors import CommitFailedError, IllegalStateError
from fastavro import parse_schema, schemaless_reader
from fastavro.schema import fingerprint, to_parsing_canonical_form
from post import post
from sent import Sent, State

SETTING = os.environ.get
TOPIC = SETTING("PREFIX", "") + "verdicts.auto-send"
MAX_AGE = float(SETTING("MAX_AGE_SECONDS", "86400"))  # an older answer is not sent any more
UNSURE = SETTING("UNSURE", "send")  # what may have been sent by a sender that was killed: send, or skip
UNSURE in ("send", "skip") or sys.exit(f"UNSURE should be send or skip, not {UNSURE}")


def tell(what):
    print(what, file=sys.stderr, flush=True)


def load(folder):
    for file in folder.glob("*.avsc"):
        schema = json.loads(file.read_text("utf-8"))
        canonical = to_parsing_canonical_form(parse_schema(schema, _write_hint=False))
        yield bytes.fromhex(fingerprint(canonical, "CRC-64-AVRO")), parse_schema(schema)


async def send(record, schemas, sent):
    """Send the answer of one record, unless it was. What cannot be sent ends the sender."""
    place = f"{record.topic}/{record.partition}@{record.offset}"
    value = record.value
    if value is None:  # a tombstone
        return tell(f"{place}: no value")
    if value[:2] != b"\xc3\x01" or value[2:10] not in schemas:
        sys.exit(f"{place}: unknown fingerprint {value[2:10].hex()}: add the schemas of its release")
    verdict = schemaless_reader(BytesIO(value[10:]), schemas[value[2:10]], None)
    answer, produced = verdict["answer_id"], verdict["produced_at"].timestamp()
    if verdict["decision"] != "auto_send" or abs(time.time() - produced) > MAX_AGE:
        return tell(f"{place}: {answer} is {verdict['decision']}, of {verdict['produced_at']}: not sent")
    state = sent.claim(verdict["verdict_id"], until=produced + MAX_AGE)
    if state is State.UNSURE:
        tell(f"{place}: {answer} may have been sent before: {UNSURE}")
    if state is State.NEW or (state is State.UNSURE and UNSURE == "send"):
        try:
            await asyncio.to_thread(post, verdict)
        except OSError as error:
            sys.exit(f"{place}: {answer} cannot be sent: {error}")
    sent.done(verdict["verdict_id"])


class Settle(ConsumerRebalanceListener):
    """Keeps a partition until the answer of it that is in work is sent."""

    def __init__(self, busy):
        self.busy = busy

    async def on_partitions_revoked(self, revoked):
        async with self.busy:
            pass

    def on_partitions_assigned(self, assigned):
        tell(f"sends from {sorted(each.partition for each in assigned)}")


async def main():
    schemas = dict(load(Path(SETTING("SCHEMAS", "../../../schemas/released/Verdict"))))
    sent, stop, busy = Sent(SETTING("STORE", "sent.sqlite3")), asyncio.Event(), asyncio.Lock()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stop.set)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=SETTING("KAFKA", "localhost:9092"),
        group_id=SETTING("GROUP", "sender"),
        group_instance_id=SETTING("INSTANCE"),
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level="read_committed",
    )
    consumer.subscribe([TOPIC], listener=Settle(busy))
    async with consumer:
        while not stop.is_set():
            for partition, (record,) in (await consumer.getmany(timeout_ms=500, max_records=1)).items():
                async with busy:
                    await send(record, schemas, sent)
                    try:
                        await consumer.commit({partition: record.offset + 1})
                    except (CommitFailedError, IllegalStateError):
                        tell(f"{partition.topic}/{partition.partition} went to another sender")


asyncio.run(main())
