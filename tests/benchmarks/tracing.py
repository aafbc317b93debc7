"""What metrics and traces cost a worker; prints a Markdown table.

Run as ``python -m tests.benchmarks.tracing [--scoring]``. One that exports nothing, one that exports metrics
alone, and one that traces every answer read the same answers one after the other in each run, in changing
order. What is exported goes to a collector in a process of its own that throws it away. Without
``--scoring`` the worker does nothing but its own work, so that tracing shows the most.
"""

import argparse
import asyncio
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import grpc  # type: ignore[import-untyped]

from streams.embedded import EmbeddedKafka
from tests.benchmarks.checkout import Checkout, named_checkout
from tests.benchmarks.load import answers
from tests.benchmarks.measure import Bench, Passed, Span, encoded, main_process, worker_processes
from tests.benchmarks.tables import table

#: One worker's turn: by what it exports.
Turn = dict[str, Passed]


@contextmanager
def collector() -> Iterator[str]:
    """Run a collector in a process of its own; gives its endpoint."""
    command = [sys.executable, "-m", "tests.benchmarks.tracing", "--collect"]
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


def sampled() -> list[tuple[str, bytes]]:
    """Give the headers of an answer within a sampled trace of its own."""
    return [("traceparent", f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01".encode())]


async def run(options: argparse.Namespace, checkouts: Sequence[Checkout]) -> None:
    """Measure all and print the table."""
    turns: dict[str, list[Turn]] = {checkout.name: [] for checkout in checkouts}
    with (
        EmbeddedKafka(heap_mb=512) as kafka,
        tempfile.TemporaryDirectory() as temporary,
        collector() as endpoint,
    ):
        bench = Bench(kafka.bootstrap_servers, kafka.pids[0] or 0, Path(temporary), os.cpu_count() or 1)
        for number in range(options.runs):
            for checkout in checkouts[:: -1 if number % 2 else 1]:
                turns[checkout.name].append(await _turn(bench, checkout, endpoint, number, options))
    _print(turns, options)


async def _turn(
    bench: Bench, checkout: Checkout, endpoint: str, number: int, options: argparse.Namespace
) -> Turn:
    span = Span(options.events // 4, options.events)
    batch = encoded(answers("en", span.published))
    turn: Turn = {}
    for name, variables in list(_exports(endpoint).items())[:: -1 if number % 2 else 1]:
        scene = bench.scene(SCORING__ENABLED=str(options.scoring).lower(), **variables)
        turn[name] = await bench.passed(checkout, scene, batch, span, sampled)
    return turn


def _exports(endpoint: str) -> dict[str, dict[str, str]]:
    """Give the settings of each worker."""
    everything = {"TELEMETRY__OTLP_ENDPOINT": endpoint, "TELEMETRY__SAMPLING_RATIO": "1"}
    return {
        "nothing": {},
        "metrics": {**everything, "TELEMETRY__SAMPLING_RATIO": "0"},
        "every answer": everything,
    }


def _print(turns: dict[str, list[Turn]], options: argparse.Namespace) -> None:
    rows = {
        f"{checkout}: {exported}": [(turn[exported], turn["nothing"]) for turn in taken]
        for checkout, taken in turns.items()
        for exported in _exports("")
    }
    table(
        f"{options.events} answers, {options.runs} runs{', scoring' if options.scoring else ''}; exported",
        {
            "answers/s": (lambda pair: pair[0].rate, "{:.0f}"),
            "of those exporting nothing": (lambda pair: pair[0].rate / pair[1].rate, "{:.2f}"),
            "main process, ms": (lambda pair: pair[0].milliseconds(main_process), "{:.2f}"),
            "more than exporting nothing": (lambda pair: _more(*pair), "{:.2f}"),
        },
        rows,
    )


def _more(passed: Passed, nothing: Passed) -> float:
    return passed.milliseconds(worker_processes) - nothing.milliseconds(worker_processes)


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=4_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scoring", action="store_true")
    parser.add_argument("--checkout", type=named_checkout, action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--collect", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.collect:
        collect()
    else:
        asyncio.run(run(options, [*options.checkout, Checkout("after" if options.checkout else "worker")]))


if __name__ == "__main__":
    main()
