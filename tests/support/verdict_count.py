"""Verdicts counted by their ids while they come, so that hours of them need no memory."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer

from schemas import Codec
from schemas.catalogue import VERDICT_OUTCOME
from streams.kafka.kafka_clients import open_consumer
from streams.kafka.topics import Topics
from streams.pipeline.verdict import verdict_id
from streams.settings import Settings
from tests.support.records import eventually

_POLL_MILLISECONDS = 200


class VerdictCount:
    """How often each verdict id came out, and how many dead letters."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self.dead_letters = 0

    async def reached(self, answer_ids: Iterable[str], deadline: float) -> None:
        """Wait until each of the answers has a verdict, or as many dead letters have come as lack one."""
        wanted = {verdict_id(each) for each in answer_ids}
        await eventually(
            lambda: len(self.times) + self.dead_letters >= len(wanted), f"{len(wanted)} outcomes", deadline
        )

    def assert_each_once(self, answer_ids: Iterable[str]) -> None:
        """Every answer has one verdict, once; nothing else has one, and there is no dead letter."""
        wanted = {verdict_id(each) for each in answer_ids}
        assert self.dead_letters == 0
        assert self.times.keys() == wanted, f"{len(wanted - self.times.keys())} answers without a verdict"
        assert self.times.total() == len(wanted), "a verdict came twice"


@asynccontextmanager
async def counting_verdicts(settings: Settings) -> AsyncIterator[VerdictCount]:
    """Count from the topics' beginning on while the context lasts."""
    topics, count = Topics(settings.kafka.topic_prefix), VerdictCount()
    every = (*topics.outputs, topics.dead_letters)
    async with open_consumer(settings.kafka, *every, auto_offset_reset="earliest") as consumer:
        counting = asyncio.create_task(_count(consumer, topics, count))
        try:
            yield count
        finally:
            counting.cancel()
            await asyncio.wait([counting])


async def _count(consumer: AIOKafkaConsumer, topics: Topics, count: VerdictCount) -> None:
    codec = Codec()
    while True:
        for batch in (await consumer.getmany(timeout_ms=_POLL_MILLISECONDS)).values():
            for record in batch:
                if record.topic == topics.dead_letters:
                    count.dead_letters += 1
                else:
                    count.times[codec.decode_projection(record.value, VERDICT_OUTCOME).verdict_id] += 1
