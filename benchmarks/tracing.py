"""What tracing costs: how many answers a second one worker passes with every answer traced, beside none.

Run as ``python -m benchmarks.tracing [--events N] [--runs N] [--scoring]``. Contenders read the same answers,
each with a sampled ``traceparent``, one after the other in each run; their order changes from run to run. The
collector is a process of its own that takes what comes over gRPC and throws it away. With ``--scoring`` the
answers are judged; without, the worker's own work is all there is, so that tracing shows the most.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import secrets
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc  # type: ignore[import-untyped]
from rich.console import Console
from rich.table import Table

from benchmarks.stream import Contender, answers, measure
from schemas import ChatbotAnswer, Codec
from streams.embedded import EmbeddedKafka
from streams.kafka.clients import open_producer
from streams.kafka.topics import Topics, create_topics
from streams.settings import KafkaSettings, Settings, TopicSettings, variable_name

_PARTITIONS = 4
_WORKER = ("streams.cli", "worker")


@dataclass(frozen=True, slots=True)
class Passed:
    """How many answers a second a worker passed, and its processor time in seconds, start and all."""

    rate: float
    processor: float


async def publish(settings: Settings, batch: list[ChatbotAnswer]) -> None:
    """Publish answers, each within a sampled trace of its own."""
    topic, codec = Topics(settings.kafka.topic_prefix).answers, Codec()
    async with open_producer(settings.kafka, linger_ms=10) as producer:
        sent = []
        for answer in batch:
            parent = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01".encode()
            key, value = answer.conversation_id.encode(), codec.encode(answer)
            sent.append(await producer.send(topic, value, key, headers=[("traceparent", parent)]))
        await asyncio.gather(*sent)


@contextmanager
def collector() -> Iterator[str]:
    """Run a collector in a process of its own; gives its endpoint."""
    command = [sys.executable, "-m", "benchmarks.tracing", "--collect"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def collect() -> None:
    """Take whatever is exported over gRPC and throw it away, until ended."""

    def throw_away(_request: bytes, _context: object) -> bytes:
        return b""

    class Everything(grpc.GenericRpcHandler):  # type: ignore[misc] # gRPC has no types
        def service(self, _call: object) -> object:
            return grpc.unary_unary_rpc_method_handler(throw_away)

    server = grpc.server(ThreadPoolExecutor(2), handlers=(Everything(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"http://127.0.0.1:{port}\n")
    sys.stdout.flush()
    server.wait_for_termination()


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables for the processes that are started inside."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def run(events: int, runs: int, *, scoring: bool, console: Console) -> None:
    """Measure all and print the table."""
    with (
        EmbeddedKafka(heap_mb=512) as kafka,
        tempfile.TemporaryDirectory() as temporary,
        collector() as endpoint,
    ):
        settings = _settings(kafka, scoring=scoring)
        await create_topics(settings)
        await publish(settings, answers(events))
        passed: dict[str, list[Passed]] = {name: [] for name in _contenders(endpoint)}
        for number in range(runs):
            contenders = list(_contenders(endpoint).items())
            for name, variables in contenders[:: 1 if number % 2 else -1]:
                with environment(variables):
                    passed[name].append(await _passed(settings, name, events, Path(temporary)))
        console.print(f"{events} answers, {runs} runs, scoring {'on' if scoring else 'off'}")
        console.print(_table(passed, events))


async def _passed(settings: Settings, name: str, events: int, folder: Path) -> Passed:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    rate = await measure(settings, Contender(name, _WORKER), events, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Passed(rate, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _contenders(endpoint: str) -> dict[str, dict[str, str]]:
    """Give the variables of each contender; all export metrics alike where they export at all."""
    address, ratio = variable_name("telemetry", "otlp_endpoint"), variable_name("telemetry", "sampling_ratio")
    return {
        "nothing exported": {},
        "exporting, nothing sampled": {address: endpoint, ratio: "0"},
        "exporting, everything sampled": {address: endpoint, ratio: "1"},
    }


def _settings(kafka: EmbeddedKafka, *, scoring: bool) -> Settings:
    settings = Settings(
        kafka=KafkaSettings(bootstrap_servers=kafka.bootstrap_servers, topic_prefix="tracing."),
        topics=TopicSettings(partitions=_PARTITIONS),
    )
    return settings.model_copy(update={"scoring": settings.scoring.model_copy(update={"enabled": scoring})})


def _table(passed: Mapping[str, list[Passed]], events: int) -> Table:
    table = Table(
        "worker",
        "answers/s, median",
        "least",
        "most",
        "ratio to the first",
        "processor ms/answer above the first",
    )
    first, *_ = passed.values()
    for name, values in passed.items():
        rates = [each.rate for each in values]
        pairs = list(zip(values, first, strict=True))
        ratio = statistics.median(own.rate / other.rate for own, other in pairs)
        # The start takes as long for each of them, so that it goes out.
        more = statistics.median((own.processor - other.processor) / events for own, other in pairs) * 1000
        figures = (statistics.median(rates), min(rates), max(rates))
        table.add_row(name, *(f"{figure:,.0f}" for figure in figures), f"{ratio:.2f}", f"{more:.2f}")
    return table


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--scoring", action="store_true")
    parser.add_argument("--collect", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.collect:
        collect()
    else:
        asyncio.run(
            run(arguments.events, arguments.runs, scoring=arguments.scoring, console=Console(width=110))
        )


if __name__ == "__main__":
    main()
