"""A topic that a test writes to and a follower reads, in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Mapping

from aiokafka import ConsumerRecord, TopicPartition

from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicSnapshot

FIRST = TopicPartition("controls", 0)


class Topic:
    """A topic that a test writes to, and its reader in one."""

    def __init__(self, *records: ConsumerRecord) -> None:
        self.records = {FIRST: list(records)}
        self.positions: dict[TopicPartition, int] = {}
        self.topic_id = "1"
        self.looks: list[Exception] = []
        self.failure: Exception | None = None
        self.silent = False
        self.hangs = False

    async def snapshot(self) -> TopicSnapshot:
        if self.hangs:
            await asyncio.Event().wait()
        if self.looks:
            raise self.looks.pop(0)
        ends = {at: len(records) for at, records in self.records.items()}
        origins = (TopicIdentity("cluster", "controls", self.topic_id),)
        return TopicSnapshot(origins, dict.fromkeys(ends, 0), ends, now())

    async def read_between(
        self, begins: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
    ) -> AsyncIterator[list[ConsumerRecord]]:
        if self.failure:
            raise self.failure
        for at, end in ends.items():
            yield self.records[at][begins[at] : end]

    def read_from(self, positions: Mapping[TopicPartition, int]) -> None:
        self.positions = dict(positions)

    async def poll(self, wait: float) -> list[ConsumerRecord]:
        await asyncio.sleep(wait)
        if self.failure:
            raise self.failure
        read = [record for at, offset in self.positions.items() for record in self.records[at][offset:]]
        self.positions = {at: len(self.records[at]) for at in self.positions}
        return read

    def caught_up_at(self) -> float | None:
        return None if self.silent else now()


def now() -> float:
    """Give the seconds of the event loop's clock."""
    return asyncio.get_running_loop().time()
