"""Publishes a review of another tool: JSON of a verdict and of what a person decided, on standard input."""

import asyncio
import json
import os
import sys
import uuid
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from aiokafka import AIOKafkaProducer
from fastavro import schemaless_writer
from records import load

#: {"verdict": as `truthgate tail --json` writes it, "outcome": "send", "reviewer": "kim", "rating": 5, ...}
given = json.load(sys.stdin)
verdict = given.pop("verdict")
if given.get("outcome") == "send":
    given["text"] = verdict["answer"]
review = {
    "review_id": str(uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([verdict["verdict_id"], given]))),
    **{name: verdict[name] for name in ("verdict_id", "answer_id", "conversation_id")},
    "produced_at": datetime.fromisoformat(verdict["produced_at"]),
    "outcome": "none",  # a rating alone
    "reviewed_at": datetime.now(UTC),
    "source": "external",
    **given,
}


async def main():
    writers, newest = load(Path(os.environ.get("SCHEMAS", "../../../../schemas/released")))
    schema, value = newest["truthgate.Review"], BytesIO()
    found = next(each for each, writer in writers.items() if writer is schema)
    value.write(b"\xc3\x01" + found)
    schemaless_writer(value, schema, review, strict_allow_default=True)
    producer = AIOKafkaProducer(
        bootstrap_servers=os.environ.get("KAFKA", "localhost:9092"), acks="all", enable_idempotence=True
    )
    async with producer:
        topic = os.environ.get("PREFIX", "") + "reviews"
        await producer.send_and_wait(topic, value.getvalue(), key=review["conversation_id"].encode())
    print(review["review_id"])


asyncio.run(main())
