"""How many answers a second one worker passes with scoring switched off, beside a bare aiokafka loop.

Run as ``python -m benchmarks.stream [--events N] [--runs N]``. All contenders read the same answers from
the same broker, one after the other in each run, each as a process of its own; the time is that from
the first to the last record on the output topics, by the broker's clock. The last table is the time
from an answer to its verdict with scoring on, at a rate that leaves the worker idle most of the time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path

from aiokafka import AIOKafkaConsumer, TopicPartition
from rich.console import Console
from rich.table import Table

from schemas import ChatbotAnswer, Codec, ContextPassage, Verdict
from streams.cli.demo.sample import sample_answers, sample_documents
from streams.embedded import EmbeddedKafka
from streams.kafka.clients import open_consumer, open_producer
from streams.kafka.topics import Topics, create_topics
from streams.settings import KafkaSettings, Settings, TopicSettings, variable_name

_PARTITIONS = 4
_LIMIT_SECONDS = 300.0
_STOP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Contender:
    """A process that takes answers to the output topics."""

    name: str
    module: tuple[str, ...]


CONTENDERS = (
    Contender("bare loop", ("benchmarks.bare_loop", "bytes")),
    Contender("bare loop with the codec", ("benchmarks.bare_loop", "codec")),
    Contender("worker, scoring off", ("streams.cli", "worker")),
)


def answers(count: int) -> list[ChatbotAnswer]:
    """Give so many answers with their documents inline, from the sample, three to a conversation."""
    documents = {document.document_id: document for document in sample_documents("nl")}
    return [
        replace(
            answer,
            answer_id=f"a-{number}",
            conversation_id=f"c-{number // 3}",
            context=tuple(
                ContextPassage(i, documents[i].text, documents[i].title) for i in answer.document_ids
            ),
        )
        for number, answer in enumerate(islice(cycle(sample_answers("nl")), count))
    ]


async def publish(settings: Settings, batch: list[ChatbotAnswer], per_second: float = 0) -> int:
    """Publish answers, all at once or at a rate, and return the size of all values in bytes."""
    topic, codec, size = Topics(settings.kafka.topic_prefix).answers, Codec(), 0
    async with open_producer(settings.kafka, linger_ms=0 if per_second else 10) as producer:
        sent = []
        for answer in batch:
            value = codec.encode(answer)
            size += len(value)
            sent.append(await producer.send(topic, value, answer.conversation_id.encode()))
            if per_second:
                await asyncio.sleep(1 / per_second)
        await asyncio.gather(*sent)
    return size


async def measure(settings: Settings, contender: Contender, events: int, folder: Path) -> float:
    """Let a contender pass all answers; return events a second."""
    topics = Topics(settings.kafka.topic_prefix)
    async with open_consumer(settings.kafka) as consumer:
        partitions = [TopicPartition(topic, p) for topic in topics.outputs for p in range(_PARTITIONS)]
        before = await consumer.end_offsets(partitions)
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *contender.module],
                env=_environment(settings, folder),
                stdout=log,
                stderr=log,
            )
            try:
                ends = await _ends(consumer, before, events)
            finally:
                process.terminate()
                process.wait(_STOP_SECONDS)
        return events / await _seconds_between(consumer, before, ends)


async def _ends(
    consumer: AIOKafkaConsumer, before: dict[TopicPartition, int], events: int
) -> dict[TopicPartition, int]:
    deadline = time.monotonic() + _LIMIT_SECONDS
    while True:
        ends = await consumer.end_offsets(list(before))
        if sum(ends.values()) - sum(before.values()) >= events:
            return dict(ends)
        if time.monotonic() > deadline:
            raise TimeoutError(f"not {events} records within {_LIMIT_SECONDS:g} s")
        await asyncio.sleep(0.25)


async def _seconds_between(
    consumer: AIOKafkaConsumer, before: dict[TopicPartition, int], ends: dict[TopicPartition, int]
) -> float:
    """Return the time from the first to the last record, by the broker's clock."""
    times = []
    for partition, end in ends.items():
        if end > before[partition]:
            times += [await _timestamp(consumer, partition, o) for o in (before[partition], end - 1)]
    return max(1, max(times) - min(times)) / 1000


async def _timestamp(consumer: AIOKafkaConsumer, partition: TopicPartition, offset: int) -> int:
    consumer.assign([partition])
    consumer.seek(partition, offset)
    return int((await asyncio.wait_for(consumer.getone(partition), 30)).timestamp)


def _environment(settings: Settings, folder: Path) -> dict[str, str]:
    own = {
        variable_name("kafka", "bootstrap_servers"): settings.kafka.bootstrap_servers,
        variable_name("kafka", "topic_prefix"): settings.kafka.topic_prefix,
        variable_name("kafka", "consumer_group"): uuid.uuid4().hex,
        variable_name("topics", "partitions"): str(_PARTITIONS),
        variable_name("documents", "store"): str(folder / "documents"),
        variable_name("scoring", "enabled"): str(settings.scoring.enabled).lower(),
        variable_name("web", "port"): "0",
    }
    return {**os.environ, **own}


async def latencies(settings: Settings, count: int, per_second: float, folder: Path) -> list[float]:
    """Let a worker judge answers that come at a rate; return the seconds from each answer to its verdict."""
    topics, codec = Topics(settings.kafka.topic_prefix), Codec()
    process = subprocess.Popen(
        [sys.executable, "-m", "streams.cli", "worker"],
        env=_environment(settings, folder),
        stderr=subprocess.DEVNULL,
    )
    arrived: dict[str, int] = {}
    judged: dict[str, int] = {}
    try:
        async with open_consumer(
            settings.kafka, topics.answers, *topics.outputs, auto_offset_reset="earliest"
        ) as consumer:
            publishing = asyncio.create_task(publish(settings, answers(count), per_second))
            async with asyncio.timeout(_LIMIT_SECONDS):
                while len(judged) < count:
                    for records in (await consumer.getmany(timeout_ms=200)).values():
                        for record in records:
                            _enter(record, topics, codec, arrived, judged)
            await publishing
    finally:
        process.terminate()
        process.wait(_STOP_SECONDS)
    warm = list(judged)[count // 4 :]  # the first ones waited for the worker to start
    return [(judged[answer_id] - arrived[answer_id]) / 1000 for answer_id in warm]


def _enter(record, topics: Topics, codec: Codec, arrived: dict[str, int], judged: dict[str, int]) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 - aiokafka has no types
    if record.topic == topics.answers:
        arrived[codec.decode(record.value, ChatbotAnswer).answer_id] = record.timestamp
    else:
        judged.setdefault(codec.decode(record.value, Verdict).answer_id, record.timestamp)


async def run(events: int, runs: int, console: Console) -> None:
    """Measure everything and print the tables."""
    with EmbeddedKafka(heap_mb=512) as kafka, tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        settings = _settings(kafka, "throughput.", scoring=False)
        await create_topics(settings)
        size = await publish(settings, answers(events))
        console.print(f"{events} answers of {size / events:.0f} bytes, {runs} runs")
        rates: dict[str, list[float]] = {contender.name: [] for contender in CONTENDERS}
        for _ in range(runs):
            for contender in CONTENDERS:
                rates[contender.name].append(await measure(settings, contender, events, folder))
        console.print(_throughput(rates))
        settings = _settings(kafka, "latency.", scoring=True)
        await create_topics(settings)
        console.print(_latency(await latencies(settings, 1200, 40, folder)))


def _settings(kafka: EmbeddedKafka, prefix: str, *, scoring: bool) -> Settings:
    settings = Settings(
        kafka=KafkaSettings(bootstrap_servers=kafka.bootstrap_servers, topic_prefix=prefix),
        topics=TopicSettings(partitions=_PARTITIONS),
    )
    return settings.model_copy(update={"scoring": settings.scoring.model_copy(update={"enabled": scoring})})


def _throughput(rates: dict[str, list[float]]) -> Table:
    table = Table("contender", "events/s, median", "least", "most", "ratio to the bare loop, median of runs")
    first, *_ = rates.values()
    for name, values in rates.items():
        ratios = [own / bare for own, bare in zip(values, first, strict=True)]
        figures = (statistics.median(values), min(values), max(values))
        table.add_row(name, *(f"{figure:,.0f}" for figure in figures), f"{statistics.median(ratios):.2f}")
    return table


def _latency(seconds: list[float]) -> Table:
    table = Table("answer to verdict, scoring on, 40 answers/s", "ms")
    cuts = statistics.quantiles(seconds, n=100)
    for name, value in (("median", cuts[49]), ("95th percentile", cuts[94]), ("99th percentile", cuts[98])):
        table.add_row(name, f"{value * 1000:.0f}")
    return table


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    asyncio.run(run(arguments.events, arguments.runs, Console(width=110)))


if __name__ == "__main__":
    main()
