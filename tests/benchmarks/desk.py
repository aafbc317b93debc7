"""The review desk under load: how fast answers come and decisions go, and what a long queue costs.

Run as ``python -m tests.benchmarks.desk``. First verdicts come at a steady rate, at random moments, and as
many reviewers as keep up decide at once: from the moment the broker has a verdict until the page has it, and
from the decision until its review is on ``reviews`` (nothing can be undone here; as shipped five seconds come
on top). Then a desk with an empty folder reads a long queue: its start, pages and memory.
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import psutil
from aiokafka import AIOKafkaProducer

from schemas import Codec, Review, Verdict
from streams.embedded import EmbeddedKafka
from streams.kafka.kafka_clients import client_arguments, open_consumer
from streams.kafka.topics import Topics, create_topics
from streams.settings import Settings
from tests.benchmarks.sample_verdicts import encoded_verdicts, sample_verdicts
from tests.support.brokers import isolated_settings
from tests.support.desk import DeskProcess, Reviewer

_LIMIT_SECONDS = 600.0
_SHOWN = 50
#: So many verdicts are on their way to the broker at once.
_UNSENT = 5_000


@dataclass(slots=True)
class Times:
    """When each verdict was on its topic, on a page and decided about, and when its review was published."""

    published: dict[str, float] = field(default_factory=dict)
    shown: dict[str, float] = field(default_factory=dict)
    decided: dict[str, float] = field(default_factory=dict)
    reviewed: dict[str, float] = field(default_factory=dict)

    def row(self, name: str, begin: dict[str, float], end: dict[str, float]) -> str:
        """Return the row of a table: median, 99th percentile and maximum in milliseconds."""
        taken = [1e3 * (at - begin[key]) for key, at in end.items() if key in begin]
        high = statistics.quantiles(taken, n=100)[98]
        return f"| {name} | {len(taken)} | {statistics.median(taken):.0f} | {high:.0f} | {max(taken):.0f} |"


async def follow(settings: Settings, verdicts: Sequence[Verdict], count: int, per_second: float) -> Times:
    """Publish so many verdicts at a desk, with reviewers who decide at once."""
    times, chance = Times(), random.Random(7)
    with (
        tempfile.TemporaryDirectory() as folder,
        DeskProcess(settings, Path(folder), decisions_per_minute=10_000) as desk,
    ):
        desk.wait_ready()
        reviewers = [
            asyncio.create_task(_review(desk.address, f"reviewer {number}", times))
            for number in range(max(4, round(per_second / 2)))
        ]
        async with (
            _reviews(settings, times),
            AIOKafkaProducer(**client_arguments(settings.kafka)) as producer,
        ):
            await asyncio.sleep(2)  # those who review wait for the first answer
            for number, (verdict, value) in enumerate(_waiting(verdicts, count)):
                topic, key = Topics(settings.kafka.topic_prefix).review, verdict.conversation_id.encode()
                await producer.send_and_wait(topic, value, key)
                times.published[verdict.verdict_id] = time.monotonic()
                await asyncio.sleep(chance.expovariate(per_second) if number < count - 1 else 0)
            async with asyncio.timeout(_LIMIT_SECONDS):
                while len(times.reviewed) < count:  # noqa: ASYNC110 - other processes decide
                    await asyncio.sleep(0.1)
        for each in reviewers:
            each.cancel()
        await asyncio.gather(*reviewers, return_exceptions=True)
        _print(f"memory of the desk: {_memory(desk):.0f} MB")
    return times


async def _review(address: str, name: str, times: Times) -> None:
    """Send each answer as soon as it is on the page."""
    reviewer = await asyncio.to_thread(Reviewer, address, name)
    with reviewer:
        async with httpx2.AsyncClient(
            base_url=address, cookies=reviewer.cookies, timeout=None, trust_env=False
        ) as waiting:
            while True:
                await asyncio.to_thread(reviewer.look)
                if reviewer.shown is None:
                    async with waiting.stream("GET", "/news") as news:
                        async for line in news.aiter_lines():
                            if line == "event: free":
                                await asyncio.to_thread(reviewer.look)
                            if reviewer.shown:
                                break
                while shown := reviewer.shown:
                    times.shown.setdefault(shown, time.monotonic())
                    times.decided[shown] = time.monotonic()
                    await asyncio.to_thread(reviewer.decide, "send")


@asynccontextmanager
async def _reviews(settings: Settings, times: Times) -> AsyncIterator[None]:
    codec, topic = Codec(), Topics(settings.kafka.topic_prefix).reviews

    async def read() -> None:
        async for record in consumer:
            review = codec.decode(record.value, Review)
            times.reviewed.setdefault(review.verdict_id, time.monotonic())

    async with open_consumer(settings.kafka, topic, auto_offset_reset="earliest") as consumer:
        reading = asyncio.create_task(read())
        yield
        reading.cancel()


def _waiting(verdicts: Sequence[Verdict], count: int) -> Any:
    held = [replace(each, decision="review", reasons=("not_found",)) for each in verdicts]
    return encoded_verdicts(held, count, 1_000, datetime.now(UTC))


async def fill(settings: Settings, verdicts: Sequence[Verdict], count: int) -> None:
    """Publish so many verdicts that wait."""
    topic, sent = Topics(settings.kafka.topic_prefix).review, list[Any]()
    async with AIOKafkaProducer(**client_arguments(settings.kafka), linger_ms=10) as producer:
        for verdict, value in _waiting(verdicts, count):
            sent.append(await producer.send(topic, value, verdict.conversation_id.encode()))
            if len(sent) == _UNSENT:
                await asyncio.gather(*sent)
                sent.clear()
        await asyncio.gather(*sent)


def read_queue(settings: Settings, count: int) -> None:
    """Start a desk with an empty folder on so many verdicts, and look at its pages."""
    with tempfile.TemporaryDirectory() as folder, DeskProcess(settings, Path(folder)) as desk:
        began = time.monotonic()
        while desk.get("/readyz")[0] != 200:
            assert desk.running, desk.log[-2000:]
            assert time.monotonic() - began < _LIMIT_SECONDS, desk.log[-2000:]
            time.sleep(0.1)
        ready = time.monotonic() - began
        with Reviewer(desk.address) as reviewer:
            first = _timed(reviewer.look)
            assert reviewer.shown
            taken = [_timed(lambda: reviewer.decide("send")) for _ in range(_SHOWN)]
            filtered = _timed(lambda: reviewer.look("/filter"))
        size = sum(each.stat().st_size for each in Path(folder).rglob("*.sqlite3"))
        _print(
            f"| {count:,} | {ready:.1f} | {1e3 * first:.0f} | {1e3 * statistics.median(taken):.0f} | "
            f"{1e3 * max(taken):.0f} | {1e3 * filtered:.0f} | {_memory(desk):.0f} | {size / 1e6:.0f} |"
        )


def _memory(desk: DeskProcess) -> float:
    return float(psutil.Process(desk.pid).memory_info().rss) / 1e6


def _timed(action: Any) -> float:
    began = time.monotonic()
    action()
    return time.monotonic() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-second", type=float, default=20, help="answers that come to be reviewed")
    parser.add_argument("--events", type=int, default=2_000)
    parser.add_argument(
        "--waiting", type=int, nargs="*", default=[100_000], help="verdicts that a desk reads"
    )
    options = parser.parse_args()
    verdicts = sample_verdicts()
    with EmbeddedKafka(heap_mb=1024) as kafka, tempfile.TemporaryDirectory() as folder:
        if options.events:
            settings = isolated_settings(kafka.bootstrap_servers, Path(folder), "desk.")
            asyncio.run(create_topics(settings))
            times = asyncio.run(follow(settings, verdicts, options.events, options.per_second))
            _print(f"\n{options.per_second:g} answers a second:\n")
            _print(
                "| from | answers | median, ms | 99th percentile | longest |\n| --- | --- | --- | --- | --- |"
            )
            _print(times.row("verdict on its topic to page", times.published, times.shown))
            _print(times.row("decision to review on its topic", times.decided, times.reviewed))
        _print(
            "\n| verdicts that wait | start, s | first page, ms | next, median | next, longest | filter page "
            "| memory, MB | files, MB |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
        )
        for count in options.waiting:
            settings = isolated_settings(kafka.bootstrap_servers, Path(folder), f"desk-{count}.")
            asyncio.run(create_topics(settings))
            asyncio.run(fill(settings, verdicts, count))
            read_queue(settings, count)


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
