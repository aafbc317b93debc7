"""A fleet of workers that do all but score, on many partitions, while workers join, leave and are killed.

Run as ``python -m tests.benchmarks.fleet``. Answers are published at a steady rate. For each change it prints
how long the group was not stable, the longest time in which no verdict at all came, the largest lag, and the
time until it was gone; in the end how many verdicts came twice, and how many answers have none.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from schemas import Codec
from schemas.catalogue import VERDICT_OUTCOME
from streams.embedded import EmbeddedKafka
from streams.kafka.kafka_clients import open_admin, open_consumer, open_producer
from streams.kafka.topics import Topics, create_topics
from streams.pipeline.verdict import verdict_id
from streams.settings import Settings
from tests.benchmarks.load import answers
from tests.benchmarks.usage import memory
from tests.support.brokers import isolated_settings
from tests.support.workers import Worker, changed

_LOOK_SECONDS, _PUBLISH_SECONDS = 0.25, 0.1
_CALM_SECONDS, _LIMIT_SECONDS, _SETTLING_SECONDS = 10.0, 240.0, 900.0
#: Answers of so many seconds may wait in a group that keeps up.
_USUAL_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Look:
    """The group at a moment: how many answers wait, and whether its members share the partitions."""

    at: float
    lag: int
    stable: bool


class Fleet:
    """Answers in, verdicts out, and the group in between, seen from outside.

    Attributes:
        looks: the group, several times a second.
        ids: those of all verdicts.
        times: of all verdicts, by the broker's clock.
        published: how many answers.
    """

    def __init__(self, settings: Settings, per_second: float) -> None:
        self.settings = settings
        self.looks: list[Look] = []
        self.ids: list[str] = []
        self.times: list[float] = []
        self.published = 0
        self._per_second = per_second
        self._topics = Topics(settings.kafka.topic_prefix)
        self._partitions = [
            TopicPartition(self._topics.answers, number) for number in range(settings.topics.partitions)
        ]

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Look and count while the context is open."""
        kafka, outputs = self.settings.kafka, self._topics.outputs
        async with (
            open_admin(kafka) as admin,
            open_consumer(kafka) as ends,
            open_consumer(kafka, *outputs, auto_offset_reset="earliest") as verdicts,
        ):
            tasks = [asyncio.create_task(each) for each in (self._look(admin, ends), self._count(verdicts))]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)

    @asynccontextmanager
    async def fed(self) -> AsyncIterator[None]:
        """Publish answers at the rate while the context is open."""
        task = asyncio.create_task(self._publish())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _publish(self) -> None:
        codec, samples, began = Codec(), answers("nl", 1_000), time.monotonic()
        async with open_producer(self.settings.kafka) as producer:
            while True:
                while self.published < int((time.monotonic() - began) * self._per_second):
                    number = self.published
                    one = replace(samples[number % len(samples)], answer_id=f"f-{number}")
                    await producer.send(self._topics.answers, codec.encode(one), f"c-{number // 3}".encode())
                    self.published += 1
                await asyncio.sleep(_PUBLISH_SECONDS)

    async def _look(self, admin: AIOKafkaAdminClient, consumer: AIOKafkaConsumer) -> None:
        group = self.settings.kafka.consumer_group
        while True:
            try:
                done = await admin.list_consumer_group_offsets(group, partitions=self._partitions)
                ends = await consumer.end_offsets(self._partitions)
                ((_, _, state, *_),) = (await admin.describe_consumer_groups([group]))[0].groups
            except KafkaError:  # the coordinator of a new group takes a moment
                await asyncio.sleep(_LOOK_SECONDS)
                continue
            lag = sum(end - max(0, done[at].offset if at in done else 0) for at, end in ends.items())
            self.looks.append(Look(time.time(), lag, state == "Stable"))
            await asyncio.sleep(_LOOK_SECONDS)

    async def _count(self, consumer: AIOKafkaConsumer) -> None:
        codec = Codec()
        while True:
            for batch in (await consumer.getmany(timeout_ms=200)).values():
                for record in batch:
                    self.ids.append(codec.decode_projection(record.value, VERDICT_OUTCOME).verdict_id)
                    self.times.append(record.timestamp / 1_000)

    async def change(self, name: str, act: Callable[[], object]) -> None:
        """Change the fleet, wait until the lag is as usual again, and print what was seen meanwhile."""
        began, repeats = time.time(), len(self.ids) - len(set(self.ids))
        await asyncio.to_thread(act)
        # A worker that is killed is missed after the session timeout.
        await asyncio.sleep(self.settings.flow.session_timeout_seconds + _CALM_SECONDS)
        calm = await self._calm(began)
        looks = [look for look in self.looks if look.at >= began]
        unstable = sum(after.at - look.at for look, after in pairwise(looks) if not look.stable)
        moments = sorted([began, *(at for at in self.times if at >= began), time.time()])
        silence = max(after - at for at, after in pairwise(moments))
        repeated = len(self.ids) - len(set(self.ids)) - repeats
        most = max(look.lag for look in looks)
        _print(
            f"| {name} | {unstable:.1f} s | {silence:.1f} s | {most:,} | {calm - began:.0f} s | {repeated} |"
        )

    async def _calm(self, began: float) -> float:
        """Return since when the group has been stable with no more than the usual lag, or the time limit."""
        most, deadline = _USUAL_SECONDS * self._per_second, time.time() + _LIMIT_SECONDS
        while time.time() < deadline:
            bad = [
                look.at for look in self.looks if look.at >= began and (look.lag > most or not look.stable)
            ]
            since = max(bad, default=began)
            if time.time() - since > _CALM_SECONDS:
                return since
            await asyncio.sleep(_LOOK_SECONDS)
        return time.time()

    async def settled(self) -> None:
        """Wait until no answer waits."""
        async with asyncio.timeout(_SETTLING_SECONDS):
            while not self.looks or self.looks[-1].lag or len(set(self.ids)) < self.published:  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_SECONDS)

    def lost(self) -> int:
        """Return how many answers have no verdict."""
        return len({verdict_id(f"f-{number}") for number in range(self.published)} - set(self.ids))


async def run(settings: Settings, folder: Path, count: int, per_second: float) -> None:
    """Run the fleet through its changes, and print what comes of it."""
    await create_topics(settings)
    fleet = Fleet(settings, per_second)
    workers = [Worker(settings, folder, f"worker-{number}") for number in range(count + 1)]
    with _ended(workers):
        async with fleet.watched():
            for worker in workers[:count]:
                await asyncio.to_thread(_started, worker)
            _print(
                f"\n{settings.topics.partitions} partitions, {count} workers, {per_second:g} answers/s, "
                f"session timeout {settings.flow.session_timeout_seconds:g} s\n"
            )
            _print("| | group not stable | no verdict for | largest lag | calm after | repeats |")
            _print("| --- | --- | --- | --- | --- | --- |")
            async with fleet.fed():
                await fleet.change("nothing", lambda: time.sleep(_CALM_SECONDS))
                await fleet.change("a worker joins", lambda: _started(workers[count]))
                await fleet.change("a worker is killed", workers[0].kill)
                await fleet.change("it comes back", lambda: _started(workers[0]))
                await fleet.change("a worker is told to end", workers[1].terminate)
                await fleet.change("two are killed at once", lambda: _kill(workers[2:4]))
                size = memory(workers[0].pid, 1).main
            await fleet.settled()
    repeated = len(fleet.ids) - len(set(fleet.ids))
    _print(
        f"\n{fleet.published:,} answers, {repeated} repeats ({repeated / fleet.published:.2%}), "
        f"{fleet.lost()} lost; main process of a worker {size:.0f} MB"
    )


@contextmanager
def _ended(workers: Sequence[Worker]) -> Iterator[None]:
    try:
        yield
    finally:
        _kill([worker for worker in workers if worker.running])


def _kill(workers: Sequence[Worker]) -> None:
    for worker in workers:
        worker.kill()


def _started(worker: Worker) -> None:
    worker.start()
    worker.wait_ready()


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--partitions", type=int, default=200)
    parser.add_argument("--per-second", type=float, default=200)
    parser.add_argument("--session", type=float, default=45, help="flow.session_timeout_seconds")
    options = parser.parse_args()
    with EmbeddedKafka(heap_mb=1024) as kafka, tempfile.TemporaryDirectory() as temporary:
        settings = changed(
            isolated_settings(kafka.bootstrap_servers, Path(temporary), "fleet.", options.partitions),
            # Patient, for a machine that is busy with other things too.
            kafka={"connect_timeout_seconds": 60},
            scoring={"enabled": False},
            rates={"enabled": True},
            flow={"session_timeout_seconds": options.session},
        )
        asyncio.run(run(settings, Path(temporary), options.workers, options.per_second))


if __name__ == "__main__":
    main()
