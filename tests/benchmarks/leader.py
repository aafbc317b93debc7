"""What the leader of the rates bears: verdicts a second on one core, and the memory of each.

Run as ``python -m tests.benchmarks.leader``. The verdicts are those on the sample's answers. First they are
counted and published as the leader does, without Kafka; then a leader of its own process reads them from a
broker. Times are processor time, whose inverse is what one core bears.
"""

import argparse
import asyncio
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeVar

import psutil
from aiokafka import AIOKafkaProducer, ConsumerRecord, TopicPartition
from opentelemetry.metrics import CallbackOptions

from schemas import Codec
from schemas.records import Verdict
from streams.embedded import EmbeddedKafka
from streams.kafka.kafka_clients import client_arguments
from streams.kafka.topics import Topics, create_topics
from streams.observability.tracing import Tracing
from streams.rates.leader_state import ResumePoint
from streams.rates.rate_leader import RateLeader
from streams.rates.verdict_counter import VerdictCounter
from streams.settings import KafkaSettings, Settings, TopicSettings
from streams.worker.worker_metrics import WorkerMetrics
from tests.benchmarks.sample_verdicts import encoded_verdicts, sample_verdicts

#: As many as the reader takes at once.
_BATCH = 200
_LIMIT_SECONDS = 600.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Counted:
    """What counting took: microseconds of processor time a verdict, and bytes of memory for each."""

    microseconds: float
    memory: float


def counted(verdicts: Sequence[Verdict], count: int, per_second: float, partitions: int) -> Counted:
    """Count so many verdicts, and take the publications that fall due in the chatbot's time."""
    return asyncio.run(_counted(_records(verdicts, count, per_second, partitions), per_second, partitions))


async def _counted(records: Iterator[ConsumerRecord], per_second: float, partitions: int) -> Counted:
    settings, every = Settings(), list(records)
    places = [TopicPartition(t, n) for t in Topics("").outputs for n in range(partitions)]
    positions = dict.fromkeys(places, 0)
    counter = VerdictCounter(settings, Codec(), (), ResumePoint(positions, positions), None, {})
    interval = round(settings.rates.publish_interval_seconds * per_second)
    gc.collect()
    before, began = psutil.Process().memory_info().rss, time.process_time()
    for start in range(0, len(every), _BATCH):
        batch = every[start : start + _BATCH]
        await counter.count(batch, lambda _record, _result: None)
        positions = {**positions, **{TopicPartition(r.topic, r.partition): r.offset + 1 for r in batch}}
        counter.advance(positions, ())
        counter.partitions_ahead()
        if start // interval != (start + _BATCH) // interval:
            counter.take_publication()
    spent = time.process_time() - began
    grown = psutil.Process().memory_info().rss - before
    return Counted(1e6 * spent / len(every), grown / len(every))


def _records(
    verdicts: Sequence[Verdict], count: int, per_second: float, partitions: int
) -> Iterator[ConsumerRecord]:
    topics, offsets = Topics(""), dict[TopicPartition, int]()
    for number, (verdict, value) in enumerate(encoded_verdicts(verdicts, count, per_second)):
        at = TopicPartition(topics.verdict_topic(verdict.decision), number % partitions)
        offsets[at] = offset = offsets.get(at, -1) + 1
        stamp = int(verdict.scored_at.timestamp() * 1_000)
        yield ConsumerRecord(*at, offset, stamp, 0, b"c", value, None, 1, len(value), ())


def led(servers: str, prefix: str, partitions: int, count: int) -> float:
    """Let a leader count what is on the topics; returns its processor time in microseconds a verdict.

    It starts over, as it does without the progress of the last leader.
    """
    return asyncio.run(_led(_settings(servers, prefix, partitions), count))


async def _led(settings: Settings, count: int) -> float:
    async with AIOKafkaProducer(**client_arguments(settings.kafka)) as producer:
        state = Topics(settings.kafka.topic_prefix).rates_state
        await producer.send_and_wait(state, None, b"progress", 0)
    metrics, stopping = WorkerMetrics(), asyncio.Event()
    leader = RateLeader(settings, metrics.rates, Tracing(), lambda: True, stopping)
    began = time.process_time()
    running = asyncio.create_task(leader.run())
    async with asyncio.timeout(_LIMIT_SECONDS):
        while _read(metrics) < count:  # noqa: ASYNC110 - a counter has no event
            await asyncio.sleep(0.1)
    spent = time.process_time() - began
    stopping.set()
    await running
    return 1e6 * spent / count


def _read(metrics: WorkerMetrics) -> float:
    # Not by /metrics, which would take longer than counting does.
    return sum(float(one.value) for one in metrics.rates.verdicts.observations(CallbackOptions()))


def _settings(servers: str, prefix: str, partitions: int) -> Settings:
    group = f"{prefix}{os.getpid()}"
    kafka = KafkaSettings(bootstrap_servers=servers, topic_prefix=prefix, consumer_group=group)
    return Settings(kafka=kafka, topics=TopicSettings(partitions=partitions))


async def fill(settings: Settings, verdicts: Sequence[Verdict], count: int, per_second: float) -> None:
    """Publish so many verdicts to the topics of the settings."""
    await create_topics(settings)
    topics = Topics(settings.kafka.topic_prefix)
    async with AIOKafkaProducer(**client_arguments(settings.kafka), linger_ms=10) as producer:
        sent: list[Any] = []
        for number, (verdict, value) in enumerate(encoded_verdicts(verdicts, count, per_second)):
            topic, partition = topics.verdict_topic(verdict.decision), number % settings.topics.partitions
            stamp = int(verdict.scored_at.timestamp() * 1_000)
            key = verdict.conversation_id.encode()
            sent.append(await producer.send(topic, value, key, partition, timestamp_ms=stamp))
        await asyncio.gather(*sent)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=30_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--per-second", type=float, default=1_000, help="verdicts a second of event time")
    parser.add_argument("--partitions", type=int, nargs="+", default=[6, 200], help="of each topic")
    options = parser.parse_args()
    verdicts = sample_verdicts()
    size = statistics.mean(len(value) for _, value in encoded_verdicts(verdicts, len(verdicts), 1))
    _print(
        f"{options.events} verdicts of {size:,.0f} bytes, {options.per_second:g} a second, "
        f"{options.runs} runs, medians\n"
    )
    _print("| partitions of each topic | | µs a verdict | verdicts/s on one core |")
    _print("| --- | --- | --- | --- |")
    for partitions in options.partitions:
        runs = [
            counted(verdicts, options.events, options.per_second, partitions) for _ in range(options.runs)
        ]
        _row(partitions, "counting and windows", statistics.median(run.microseconds for run in runs))
    memory = statistics.median(run.memory for run in runs)
    with EmbeddedKafka(heap_mb=1024) as kafka:
        for partitions in options.partitions:
            prefix = f"leader-{partitions}."
            settings = _settings(kafka.bootstrap_servers, prefix, partitions)
            asyncio.run(fill(settings, verdicts, options.events, options.per_second))
            spent = [
                alone(led, kafka.bootstrap_servers, prefix, partitions, options.events)
                for _ in range(options.runs)
            ]
            _row(partitions, "with reading and publishing", statistics.median(spent))
    _print(f"\n{memory:.0f} bytes of memory a verdict")


def alone(function: Callable[..., T], *arguments: object) -> T:
    """Call a function in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _row(partitions: int, what: str, microseconds: float) -> None:
    _print(f"| {partitions} | {what} | {microseconds:.0f} | {1e6 / microseconds:,.0f} |")


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
