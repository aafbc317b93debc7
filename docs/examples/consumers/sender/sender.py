"""Sends what truthgate or a person sends, once: over restarts, kills, repeats. By aiokafka and fastavro."""

import asyncio
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError
from messages import decode, load
from post import NotSent, post
from sent import State, opened

SETTING = os.environ.get
TOPICS = [SETTING("PREFIX", "") + topic for topic in ("verdicts.auto-send", "reviews")]
SECONDS = SETTING("MAX_AGE_SECONDS", "86400")  # an older answer is not sent any more
MAX_AGE = int(SECONDS) if SECONDS.isdecimal() else sys.exit(f"MAX_AGE_SECONDS: no number: {SECONDS}")
UNSURE = SETTING("UNSURE", "send")  # what may have been sent by a sender that was killed: send, or skip
UNSURE in ("send", "skip") or sys.exit(f"UNSURE should be send or skip, not {UNSURE}")
tell = partial(print, file=sys.stderr, flush=True)


async def send(record, schemas, sent):
    """Send the answer of one record, unless it was. What cannot be sent ends the sender."""
    place = f"{record.topic}/{record.partition}@{record.offset}"
    if record.value is None:  # a tombstone
        return tell(f"{place}: no value")
    try:
        message = decode(record.value, schemas)
    except ValueError as why:
        sys.exit(f"{place}: {why}")
    verdict, answer, produced = (message[each] for each in ("verdict_id", "answer_id", "produced_at"))
    age = time.time() - produced.timestamp()
    if not message["counts"] or age > MAX_AGE:
        return tell(f"{place}: {answer} is {message['said']}, of {produced}: not sent")
    state = sent.claim(verdict, until=produced.timestamp() + MAX_AGE)
    if state is State.UNSURE:
        tell(f"{place}: {answer} may have been sent before: {UNSURE}")
    if age < -MAX_AGE:  # the chatbot's clock is wrong: nothing is sent, and no later outcome counts
        tell(f"{place}: {answer} is {message['said']}, of {produced}: not sent")
    elif message["answer"] and (state is State.NEW or (state is State.UNSURE and UNSURE == "send")):
        try:
            await asyncio.to_thread(post, message)
        except NotSent as error:
            if state is State.NEW and error.surely:
                sent.give_back(verdict)
            sys.exit(f"{place}: {answer} cannot be sent: {error}")
    sent.done(verdict)  # a rejected one too: a later review of it does not count


class Settle(ConsumerRebalanceListener):
    """Keeps a partition until the answer of it that is in work is sent."""

    def __init__(self, busy):
        self.busy = busy

    async def on_partitions_revoked(self, revoked):
        async with self.busy:
            pass

    def on_partitions_assigned(self, assigned):
        tell(f"sends from {sorted(f'{each.topic}/{each.partition}' for each in assigned)}")


async def main():
    folder, store = SETTING("SCHEMAS", "../../../../schemas/released"), SETTING("STORE", "sent.sqlite3")
    schemas, sent, stop, busy = load(Path(folder)), opened(store), asyncio.Event(), asyncio.Lock()
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
    try:
        await consumer.start()
        if missing := set(TOPICS) - await consumer.topics():
            sys.exit(f"PREFIX: there is no topic {min(missing)}")
        consumer.subscribe(TOPICS, listener=Settle(busy))
        while not stop.is_set():
            for partition, (record,) in (await consumer.getmany(timeout_ms=500, max_records=1)).items():
                async with busy:
                    await send(record, schemas, sent)
                    try:
                        await consumer.commit({partition: record.offset + 1})
                    except (CommitFailedError, IllegalStateError):
                        tell(f"{partition.topic}/{partition.partition} went to another sender")
    except KafkaError as error:
        sys.exit(f"KAFKA: {error}")
    finally:
        await consumer.stop()


asyncio.run(main())
