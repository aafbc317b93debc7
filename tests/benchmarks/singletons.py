"""What one lag reader, topic of pauses and partition bear, and what brokers write for an answer.

Run as ``python -m tests.benchmarks.singletons``. Ratios and times of the processor count: those of the clock
are those of the machine, with all else that runs there.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.partitioner import DefaultPartitioner
from aiokafka.structs import OffsetAndMetadata

from schemas import Codec
from schemas.records import Pause
from scoring.policy import PauseScope
from streams.embedded import EmbeddedKafka
from streams.kafka.kafka_clients import client_arguments, open_consumer
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics, create_topics
from streams.pause.pause_follower import PauseFollower
from streams.pause.pause_state import PauseState, pause_key
from streams.settings import KafkaSettings, Settings, TopicSettings
from tests.benchmarks.checkout import PARTITIONS, Checkout, Scene, worker
from tests.benchmarks.checkout import create_topics as create_topics_of
from tests.benchmarks.flow import Sent, publish, watching
from tests.benchmarks.load import answers
from tests.benchmarks.measure import Bench, Span, encoded, main_process, worker_processes
from tests.benchmarks.varied import WHEN

_KEYS = 5_000


async def lag_reader(servers: str, partitions: int, runs: int) -> None:
    """Ask for the committed offsets of all partitions, one by one and at once."""
    settings = _settings(servers, f"lag-{partitions}.", partitions)
    await create_topics(settings)
    topic = Topics(settings.kafka.topic_prefix).answers
    every = [TopicPartition(topic, number) for number in range(partitions)]
    async with open_consumer(settings.kafka, group_id=settings.kafka.consumer_group) as consumer:
        consumer.assign(every)
        await consumer.commit(dict.fromkeys(every, OffsetAndMetadata(0, "")))

        async def one_by_one() -> None:
            for each in every:
                await consumer.committed(each)

        async def at_once() -> None:
            await consumer._coordinator.fetch_committed_offsets(every)

        for name, ask in (("a request a partition", one_by_one), ("one request", at_once)):
            clock, processor = zip(*[await _timed(ask) for _ in range(runs)], strict=True)
            _print(f"| {partitions} | {name} | {median(clock):.0f} ms | {median(processor):.1f} ms |")


async def _timed(act: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    began, worked = time.perf_counter(), time.process_time()
    await act()
    return 1_000 * (time.perf_counter() - began), 1_000 * (time.process_time() - worked)


async def pauses(servers: str, records: int) -> None:
    """Read so many pauses and resumptions, as a worker does at its start."""
    settings, codec = _settings(servers, "pauses.", 1), Codec()
    await create_topics(settings)
    topic = Topics(settings.kafka.topic_prefix).controls
    scopes = [PauseScope(None, language) for language in ("nl", "en", "de", "fr")]
    async with AIOKafkaProducer(**client_arguments(settings.kafka), linger_ms=10) as producer:
        sent = []
        for number in range(records):
            scope, status = scopes[number % len(scopes)], ("paused", "resumed")[number // len(scopes) % 2]
            record = Pause(status, scope.message_type, scope.language, WHEN, "an operator", "a test")
            sent.append(await producer.send(topic, codec.encode(record), pause_key(scope)))
        await asyncio.gather(*sent)
    async with open_reader(settings.kafka, topic) as reader:
        clock, processor = await _timed(PauseFollower(PauseState(), topic, reader).read_to_end)
    _print(f"\n{records:,} records of `controls`: {clock:.0f} ms ({processor:.0f} ms of the processor)\n")


async def partition(bench: Bench, span: Span) -> None:
    """Let a worker judge many conversations of all partitions, of one partition, and one conversation."""
    _print(
        "| scoring | answers | answers/s | of all partitions' | scoring processes, ms | main process, ms |"
    )
    _print("| --- | --- | --- | --- | --- | --- |")
    for scoring, count in (("on", span), ("off", Span(span.warm, 4 * span.events))):
        batch = encoded(answers("nl", count.published))
        whole = 0.0
        for name, keys in _keys().items():
            scene = _patient(bench) if scoring == "on" else bench.scene(SCORING__ENABLED="false")
            keyed = [replace(one, key=keys[n % len(keys)]) for n, one in enumerate(batch)]
            passed = await bench.passed(Checkout("worker"), scene, keyed, count)
            whole = whole or passed.rate
            scored = passed.milliseconds(worker_processes) - passed.milliseconds(main_process)
            _print(
                f"| {scoring} | {name} | {passed.rate:.0f} | {passed.rate / whole:.2f} | {scored:.1f} "
                f"| {passed.milliseconds(main_process):.2f} |"
            )


def _patient(bench: Bench) -> Scene:
    """Return a scene in which answers may take long, as they do on a machine that is busy with other things.

    With few in progress none waits for its turn until its time is up.
    """
    return bench.scene(
        SCORING__TIMEOUT_SECONDS="50", FLOW__ANSWER_TIMEOUT_SECONDS="600", FLOW__MAX_IN_FLIGHT="32"
    )


def _keys() -> dict[str, list[bytes]]:
    every, partitioner, numbers = (
        [f"c-{n}".encode() for n in range(_KEYS)],
        DefaultPartitioner(),
        [*range(PARTITIONS)],
    )
    first = [key for key in every if partitioner(key, numbers, numbers) == 0]
    return {"all partitions": every, "one partition": first, "one conversation": first[:1]}


async def disk(bench: Bench, broker_folder: Path, count: int) -> None:
    """Let a worker judge answers, and print the bytes that the broker wrote for each."""
    scene = _patient(bench)
    create_topics_of(Checkout("worker"), scene)
    batch = encoded(
        [
            one
            for pair in zip(answers("nl", count // 2), answers("en", count // 2), strict=True)
            for one in pair
        ]
    )
    await publish(scene, batch)
    with worker(Checkout("worker"), scene):
        async with watching(scene) as watch:
            await watch.reached(len(batch))
    written = {topic: _written(broker_folder, topic) for topic in _topics(scene)}
    _print(f"\nBytes a broker writes for an answer, {len(batch)} answers of {_mean(batch):,.0f} bytes:\n")
    _print("| topic | bytes an answer |")
    _print("| --- | --- |")
    for topic, size in written.items():
        if size:
            _print(f"| `{topic.removeprefix(scene.prefix)}` | {size / len(batch):,.0f} |")
    _print(f"| all | {sum(written.values()) / len(batch):,.0f} |")


def _topics(scene: Scene) -> Sequence[str]:
    topics = Topics(scene.prefix)
    return (*(scene.answers, *scene.verdicts), topics.rates, topics.rates_state, "__consumer_offsets")


def _written(folder: Path, topic: str) -> int:
    return sum(file.stat().st_size for file in folder.glob(f"{topic}-*/*.log"))


def _mean(batch: Sequence[Sent]) -> float:
    return sum(len(one.value) for one in batch) / len(batch)


def _settings(servers: str, prefix: str, partitions: int) -> Settings:
    kafka = KafkaSettings(bootstrap_servers=servers, topic_prefix=prefix, consumer_group=prefix)
    return Settings(kafka=kafka, topics=TopicSettings(partitions=partitions))


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with EmbeddedKafka(heap_mb=1024) as kafka, tempfile.TemporaryDirectory() as temporary:
        bench = Bench(kafka.bootstrap_servers, kafka.pids[0] or 0, Path(temporary), options.processes)
        _print("| partitions | committed offsets | clock | processor |")
        _print("| --- | --- | --- | --- |")
        for partitions in (6, 200):
            asyncio.run(lag_reader(kafka.bootstrap_servers, partitions, options.runs))
        asyncio.run(pauses(kafka.bootstrap_servers, 10_000))
        asyncio.run(partition(bench, Span(200, options.events)))
        asyncio.run(disk(bench, kafka.brokers[0].log_dir, options.events))


if __name__ == "__main__":
    main()
