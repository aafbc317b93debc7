"""What asking judges costs a worker; prints the Markdown tables of the README.

Run as ``python -m tests.benchmarks.judges``. Workers with and without a judge read the same answers one
after the other in each run, in changing order: first Dutch ones as fast as they can, of which all in doubt
are asked about; then Dutch and English ones at half of what the slower of both reached, where the policy
asks about no English ones: what counts then is their latency alone, also beside a judge that never replies.
The judge is a process of its own that replies after a fixed time.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from aiohttp import web

from schemas import Codec, Verdict
from streams.embedded import EmbeddedKafka
from tests.benchmarks.checkout import Checkout, Scene
from tests.benchmarks.flow import Sent, watching
from tests.benchmarks.load import answers
from tests.benchmarks.measure import Bench, Passed, Span, encoded, main_process
from tests.benchmarks.tables import table

#: Longer than any answer waits.
_NEVER = 3_600.0
_CONCURRENCY = 64
_REPLY = '{"label": "TRUE", "confidence": 0.97, "score": 5, "wrong": []}'
_ENGLISH_IS_NOT_ASKED = json.dumps([{"language": "en", "ask": []}])


@dataclass(frozen=True, slots=True)
class Load:
    """A worker under full load: what it took, and the shares of verdicts with and for want of an opinion."""

    passed: Passed
    asked: float
    refused: float


@dataclass(frozen=True, slots=True)
class Run:
    """One worker's part in a run, beside that of the one without a judge."""

    load: Load | None
    latencies: Sequence[float]
    alone: Load
    alone_latencies: Sequence[float]

    def latency(self, percent: int) -> float:
        """Give the milliseconds within which so many of a hundred verdicts came."""
        return _percentile(self.latencies, percent)

    def slower(self, percent: int) -> float:
        """Give how much that is of what it takes without a judge."""
        return self.latency(percent) / _percentile(self.alone_latencies, percent)


@contextmanager
def judge(seconds: float) -> Iterator[str]:
    """Run a judge in a process of its own that replies after so many seconds; gives its address."""
    command = [sys.executable, "-m", "tests.benchmarks.judges", "--reply-after", str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def reply(seconds: float) -> None:
    """Serve a judge until ended."""

    async def complete(_request: web.Request) -> web.Response:
        await asyncio.sleep(seconds)
        choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": _REPLY}}
        usage = {"prompt_tokens": 1_000, "completion_tokens": 30}
        return web.json_response({"model": "m", "choices": [choice], "usage": usage})

    application = web.Application()
    application.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    sys.stdout.write(f"http://{host}:{port}/v1\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


async def run(options: argparse.Namespace) -> None:
    """Measure everything and print the tables."""
    rows: dict[str, list[Run]] = {}
    with (
        EmbeddedKafka(heap_mb=512) as kafka,
        tempfile.TemporaryDirectory() as temporary,
        judge(options.seconds) as replying,
        judge(_NEVER) as silent,
    ):
        bench = Bench(kafka.bootstrap_servers, kafka.pids[0] or 0, Path(temporary), options.processes)
        for number in range(options.runs):
            loads = await _loads(bench, replying, number, options)
            half = min(load.passed.rate for load in loads.values()) / 2
            judges = {_NOBODY: "", _REPLIES: replying, _SILENT: silent}
            times = await _latencies(bench, judges, half, number, options)
            for name in judges:
                found = Run(loads.get(name), times[name], loads[_NOBODY], times[_NOBODY])
                rows.setdefault(name, []).append(found)
    _print(rows, options)


_NOBODY, _REPLIES, _SILENT = "no judge", "replies", "never replies"


async def _loads(bench: Bench, address: str, number: int, options: argparse.Namespace) -> dict[str, Load]:
    span = Span(options.warm, options.events)
    batch = encoded(answers("nl", span.published))
    loads: dict[str, Load] = {}
    for name, url in _turned({_NOBODY: "", _REPLIES: address}, number):
        scene = bench.scene(**_asking(url))
        passed = await bench.passed(Checkout("worker"), scene, batch, span)
        loads[name] = Load(passed, *await _opinions(scene))
    return loads


async def _latencies(
    bench: Bench, judges: dict[str, str], per_second: float, number: int, options: argparse.Namespace
) -> dict[str, list[float]]:
    warm = [one for language in ("nl", "en") for one in encoded(answers(language, options.warm // 2))]
    late = _mixed(options.late)
    times: dict[str, list[float]] = {}
    for name, url in _turned(judges, number):
        scene = bench.scene(POLICY__OVERRIDES=_ENGLISH_IS_NOT_ASKED, **_asking(url))
        found = await bench.timed(Checkout("worker"), scene, warm, late, per_second)
        times[name] = [seconds for key, seconds in found.items() if key.startswith(b"en")]
    return times


def _mixed(count: int) -> list[Sent]:
    """Give Dutch and English answers in turn, each of a conversation of its own that tells its language."""
    both = zip(answers("nl", count // 2), answers("en", count // 2), strict=True)
    return encoded(
        [
            replace(one, conversation_id=f"{one.language}-{one.answer_id}", answer_id=f"late-{one.answer_id}")
            for pair in both
            for one in pair
        ]
    )


def _turned(judges: dict[str, str], number: int) -> list[tuple[str, str]]:
    return list(judges.items())[:: -1 if number % 2 else 1]


def _asking(url: str) -> dict[str, str]:
    if not url:
        return {}
    endpoint = {"BASE_URL": url, "MODEL": "m", "CONCURRENCY": str(_CONCURRENCY), "LOGPROBS": "false"}
    return {f"JUDGES__ENDPOINTS__SMALL__{name}": value for name, value in endpoint.items()}


async def _opinions(scene: Scene) -> tuple[float, float]:
    """Give the share of verdicts that rest on an opinion, and of those that were to and could not."""
    codec = Codec()
    async with watching(scene) as watch:
        verdicts = [codec.decode(value, Verdict) for value in await watch.verdicts()]
    asked = sum(bool(verdict.opinions) for verdict in verdicts)
    refused = sum("judge_unavailable" in verdict.degraded for verdict in verdicts)
    return asked / len(verdicts), refused / len(verdicts)


def _percentile(latencies: Sequence[float], percent: int) -> float:
    return 1000 * statistics.quantiles(latencies, n=100)[percent - 1]


def _print(rows: dict[str, list[Run]], options: argparse.Namespace) -> None:
    loads = {name: [(run.load, run.alone) for run in runs if run.load] for name, runs in rows.items()}
    table(
        f"Full load ({options.events} answers after {options.warm}, {options.runs} runs), the judge replies "
        f"within {options.seconds:g} s",
        {
            "answers/s": (lambda pair: pair[0].passed.rate, "{:.1f}"),
            "of those without a judge": (lambda pair: pair[0].passed.rate / pair[1].passed.rate, "{:.2f}"),
            "asked": (lambda pair: pair[0].asked, "{:.2f}"),
            "to be asked, and not": (lambda pair: pair[0].refused, "{:.3f}"),
            "main process, ms": (lambda pair: pair[0].passed.milliseconds(main_process), "{:.2f}"),
            "more than without": (
                lambda pair: (
                    pair[0].passed.milliseconds(main_process) - pair[1].passed.milliseconds(main_process)
                ),
                "{:.2f}",
            ),
        },
        {name: pairs for name, pairs in loads.items() if pairs},
    )
    table(
        f"Answer to verdict at half load, of {options.late // 2} not asked about beside as many others",
        {
            "median, ms": (lambda run: run.latency(50), "{:.0f}"),
            "of that without a judge": (lambda run: run.slower(50), "{:.2f}"),
            "95th percentile": (lambda run: run.latency(95), "{:.0f}"),
            "of that without": (lambda run: run.slower(95), "{:.2f}"),
        },
        rows,
    )


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--events", type=int, default=1_000)
    parser.add_argument("--warm", type=int, default=400)
    parser.add_argument("--late", type=int, default=600, help="answers at half load")
    parser.add_argument("--seconds", type=float, default=0.2, help="that the judge takes for a reply")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--reply-after", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    asyncio.run(run(options) if options.reply_after is None else reply(options.reply_after))


if __name__ == "__main__":
    main()
