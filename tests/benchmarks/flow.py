"""Answers in and verdicts out, published at a rate, counted, and timed by the broker's clock."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from tests.benchmarks.checkout import PARTITIONS, Scene

_LIMIT_SECONDS = 600.0
_POLL_SECONDS = 0.05

Headers = Callable[[], list[tuple[str, bytes]]]


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer as it is published."""

    key: bytes
    value: bytes


async def publish(
    scene: Scene, batch: Sequence[Sent], per_second: float = 0, headers: Headers = list
) -> None:
    """Publish answers, as fast as can be or at random moments at a rate, until the broker has them all."""
    chance, due = random.Random(0), time.monotonic()
    async with AIOKafkaProducer(
        bootstrap_servers=scene.servers, acks="all", linger_ms=0 if per_second else 10
    ) as producer:
        sent = []
        for one in batch:
            if per_second:
                due += chance.expovariate(per_second)
                await asyncio.sleep(max(0.0, due - time.monotonic()))
            sent.append(await producer.send(scene.answers, one.value, one.key, headers=headers()))
        await asyncio.gather(*sent)


class Watch:
    """Watches the topics of a scene."""

    def __init__(self, scene: Scene, consumer: AIOKafkaConsumer) -> None:
        self._consumer = consumer
        self._answers = _partitions(scene.answers)
        self._verdicts = [one for topic in scene.verdicts for one in _partitions(topic)]

    async def reached(self, verdicts: int) -> int:
        """Wait until so many verdicts are there; gives how many are."""
        deadline = time.monotonic() + _LIMIT_SECONDS
        while (count := sum((await self._ends()).values())) < verdicts:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{count} of {verdicts} verdicts within {_LIMIT_SECONDS:g} s")
            await asyncio.sleep(_POLL_SECONDS)
        return count

    async def latencies(self, publishing: Awaitable[None], count: int) -> dict[bytes, float]:
        """Await what publishes so many answers, each with a key of its own; give the seconds to each verdict.

        Verdicts are not decoded: those of another checkout may be of another schema. Their keys tell.
        """
        begin = await self._consumer.end_offsets([*self._answers, *self._verdicts])
        await publishing
        await self.reached(sum(begin[one] for one in self._verdicts) + count)
        self._consumer.assign(list(begin))
        for partition, offset in begin.items():
            self._consumer.seek(partition, offset)
        answered: dict[bytes, int] = {}
        judged: dict[bytes, int] = {}
        while len(answered) < count or len(judged) < count:
            for partition, records in (await self._consumer.getmany(timeout_ms=1000)).items():
                times = answered if partition in self._answers else judged
                times.update((record.key, record.timestamp) for record in records)
        return {key: (judged[key] - answered[key]) / 1000 for key in answered}

    async def verdicts(self) -> list[bytes]:
        """Give all verdicts that are there."""
        ends = await self._ends()
        self._consumer.assign(list(ends))
        await self._consumer.seek_to_beginning()
        found: list[bytes] = []
        while len(found) < sum(ends.values()):
            for records in (await self._consumer.getmany(timeout_ms=1000)).values():
                found += [record.value for record in records]
        return found

    async def _ends(self) -> dict[TopicPartition, int]:
        return dict(await self._consumer.end_offsets(self._verdicts))


@asynccontextmanager
async def watching(scene: Scene) -> AsyncIterator[Watch]:
    """Watch the topics of a scene while the context lasts."""
    async with AIOKafkaConsumer(bootstrap_servers=scene.servers, enable_auto_commit=False) as consumer:
        yield Watch(scene, consumer)


def _partitions(topic: str) -> list[TopicPartition]:
    return [TopicPartition(topic, number) for number in range(PARTITIONS)]
