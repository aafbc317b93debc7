"""Prints a line for each verdict, review, rate and alert of truthgate. Needs aiokafka and fastavro alone."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import CommitFailedError, KafkaError
from records import PassedOver, add, decode, identity, is_new, load

KAFKA = os.environ.get("KAFKA", "localhost:9092")
PREFIX = os.environ.get("PREFIX", "")
VERDICTS = ["verdicts.auto-send", "verdicts.review", "verdicts.blocked"]
TOPICS = [*VERDICTS, "reviews", "hallucination-rates", "hallucination-alerts"]
REMEMBERED = 100_000  # ids, some 10 MB; the oldest are forgotten


def line(name, record):
    if name == "truthgate.Verdict":
        score = "-" if record["score"] is None else f"{record['score']:.1f}"
        return f"{record['decision']} {record['answer_id']} {score} {','.join(record['reasons'])}"
    if name == "truthgate.Review":
        return f"reviewed {record['answer_id']} {record['outcome']}"
    if name == "truthgate.RateWindow":
        about = f"{record['message_type']}/{record['language'] or '-'}"
        return f"rate {about} {record['hallucinated']} of {record['scored']} untrue"
    return f"alert {record['alert']} {record['status']}" if name.endswith("Alert") else name


def show(record, schemas, seen):
    try:
        name, fields = decode(record.value, *schemas)
        if found := identity(name, fields):
            if found in seen:
                raise PassedOver(f"{found} again")
            seen[found] = None
            while len(seen) > REMEMBERED:
                del seen[next(iter(seen))]
        print(line(name, fields), flush=True)
    except PassedOver as why:
        print(f"{record.topic}/{record.partition}@{record.offset}: {why}", file=sys.stderr)


async def look_up(value, writers):
    """Read the topic of schemas: a writer publishes there before its first record, so once is enough."""
    at = TopicPartition(f"{PREFIX}schemas", 0)
    async with AIOKafkaConsumer(bootstrap_servers=KAFKA) as consumer:
        consumer.assign([at])
        await consumer.seek_to_beginning(at)
        end = (await consumer.end_offsets([at]))[at]
        while await consumer.position(at) < end:
            for record in (await consumer.getmany(at, timeout_ms=500)).get(at, ()):
                try:
                    add(record.value, writers)
                except Exception as error:  # noqa: BLE001 - whatever was published there
                    print(f"{at.topic}@{record.offset}: {type(error).__name__}", file=sys.stderr)
    writers.setdefault(value[2:10])  # None: not there


async def main():
    schemas = load(Path(os.environ.get("SCHEMAS", "../../../../schemas/released")))
    seen, stop, loop = {}, asyncio.Event(), asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stop.set)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=KAFKA,
        group_id=os.environ.get("GROUP", "verdict-log"),
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level="read_committed",
    )
    try:
        await consumer.start()
        there = await consumer.topics()  # those of rates are not where rates are off
        topics = [PREFIX + topic for topic in TOPICS if PREFIX + topic in there]
        consumer.subscribe(topics or sys.exit(f"PREFIX: there is no topic {PREFIX}{TOPICS[0]}"))
        while not stop.is_set():
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    if is_new(record.value, schemas[0]):
                        await look_up(record.value, schemas[0])
                    show(record, schemas, seen)
            try:  # after the work: who takes over after a crash or a rebalance repeats rather than loses
                await consumer.commit()
            except CommitFailedError:
                print("partitions went to another consumer: it repeats the last lines", file=sys.stderr)
    except KafkaError as error:
        sys.exit(f"KAFKA: {error}")
    finally:
        await consumer.stop()


asyncio.run(main())
