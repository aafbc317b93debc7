"""What a whole worker reaches, beside what it consists of; prints the Markdown tables of the READMEs.

Run as ``python -m tests.benchmarks.stream``. Other checkouts are measured in turn with this one by
``--checkout before=FOLDER``, where FOLDER has been through ``make install``. The worker is ready and warm
before anything counts; all that is compared reads the same answers in the same run, in changing order, and
what is shown are medians over the runs, of ratios within each.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from streams.cli.demo.sample import Language
from streams.embedded import EmbeddedKafka
from tests.benchmarks.checkout import Checkout, named_checkout
from tests.benchmarks.load import answers
from tests.benchmarks.measure import (
    Bare,
    Bench,
    Judged,
    Passed,
    Span,
    encoded,
    main_process,
    worker_processes,
)
from tests.benchmarks.tables import table

#: Loops are as fast as answers can be made for them; a language makes no difference to them.
_LOOP_SPAN = Span(2_000, 10_000)
_LOOPS = ("bytes", "codec")
_LANGUAGES = {"nl": "Dutch", "en": "English"}


@dataclass(frozen=True, slots=True)
class Run:
    """A worker with scoring on, and bare scorers, on the same answers one after the other."""

    worker: Judged
    bare: Bare
    cores: int

    @property
    def share(self) -> float:
        """What the worker reaches of what the bare scorers do."""
        return self.worker.full.rate / self.bare.rate

    @property
    def share_beside_broker(self) -> float:
        """The same, were the bare scorers left as little of the cores by the broker as the worker is."""
        used = self.worker.full.used
        return self.share / (1 - used.broker / (used.clock * self.cores))

    @property
    def share_of_processor(self) -> float:
        """What a bare scorer takes of the processor for an answer, of what the whole worker does."""
        return self.bare.milliseconds / self.worker.full.milliseconds(worker_processes)


@dataclass(frozen=True, slots=True)
class Off:
    """A worker with scoring off, and bare loops, on the same answers one after the other."""

    worker: Passed
    loops: tuple[Passed, ...]


async def scoring_on(
    bench: Bench, checkouts: Sequence[Checkout], language: Language, span: Span, late: int
) -> list[Run]:
    """Measure each checkout once."""
    batch = answers(language, span.published + late)
    # Nobody waits for anybody of the same conversation: latency is that of the worker.
    alone = [replace(one, conversation_id=one.answer_id) for one in batch[span.published :]]
    batch = batch[: span.published]
    runs = []
    for checkout in checkouts:
        bare = bench.bare(checkout, batch, span)
        worker = await bench.judged(checkout, encoded(batch), span, encoded(alone))
        runs.append(Run(worker, bare, os.cpu_count() or 1))
    return runs


async def scoring_off(bench: Bench, checkouts: Sequence[Checkout], span: Span) -> list[Off]:
    """Measure each checkout once."""
    batch = encoded(answers("nl", span.published))
    runs = []
    for checkout in checkouts:
        loops = [await bench.looped(checkout, mode, batch, span) for mode in _LOOPS]
        scene = bench.scene(SCORING__ENABLED="false")
        runs.append(Off(await bench.passed(checkout, scene, batch, span), tuple(loops)))
    return runs


async def run(options: argparse.Namespace, checkouts: Sequence[Checkout]) -> None:
    """Measure everything and print the tables."""
    on: dict[str, list[Run]] = {}
    off: dict[str, list[Off]] = {}
    span = Span(options.warm, options.events)
    with EmbeddedKafka(heap_mb=512) as kafka, tempfile.TemporaryDirectory() as temporary:
        bench = Bench(kafka.bootstrap_servers, kafka.pids[0] or 0, Path(temporary), options.processes)
        for number in range(options.runs):
            turn = checkouts[:: -1 if number % 2 else 1]
            for language in options.languages:
                for one, found in zip(
                    turn, await scoring_on(bench, turn, language, span, options.late), strict=True
                ):
                    on.setdefault(f"{one.name}, {_LANGUAGES[language]}", []).append(found)
            for one, measured in zip(turn, await scoring_off(bench, turn, _LOOP_SPAN), strict=True):
                off.setdefault(one.name, []).append(measured)
    _print_on(dict(sorted(on.items())), options)
    _print_off(dict(sorted(off.items())), options)


def _print_on(rows: Mapping[str, list[Run]], options: argparse.Namespace) -> None:
    """Print what was measured with scoring on."""
    runs = f"{options.events} answers after {options.warm}, {options.runs} runs"
    table(
        f"Scoring on, {options.processes} scoring processes, full load ({runs})",
        {
            "answers/s": (lambda run: run.worker.full.rate, "{:.0f}"),
            "of the bare scorers'": (lambda run: run.share, "{:.2f}"),
            "beside the broker": (lambda run: run.share_beside_broker, "{:.2f}"),
            "of the processor": (lambda run: run.share_of_processor, "{:.2f}"),
        },
        rows,
    )
    table(
        "Processor time of an answer in ms",
        {
            "main process, user": (
                lambda run: run.worker.full.milliseconds(lambda used: used.user),
                "{:.2f}",
            ),
            "kernel": (lambda run: run.worker.full.milliseconds(lambda used: used.system), "{:.2f}"),
            "scoring processes": (
                lambda run: run.worker.full.milliseconds(lambda used: used.children),
                "{:.1f}",
            ),
            "broker": (lambda run: run.worker.full.milliseconds(lambda used: used.broker), "{:.1f}"),
            "a bare scorer": (lambda run: run.bare.milliseconds, "{:.1f}"),
        },
        rows,
    )
    table(
        f"Answer to verdict at half load ({options.late} answers at random moments)",
        {
            "answers/s": (lambda run: run.worker.full.rate / 2, "{:.0f}"),
            "median, ms": (lambda run: run.worker.latency(50), "{:.0f}"),
            "95th percentile": (lambda run: run.worker.latency(95), "{:.0f}"),
            "99th percentile": (lambda run: run.worker.latency(99), "{:.0f}"),
        },
        rows,
    )
    table(
        "Memory in MB",
        {
            "main process": (lambda run: run.worker.memory.main, "{:.0f}"),
            "a scoring process' own": (lambda run: run.worker.memory.scoring, "{:.0f}"),
            "together": (lambda run: run.worker.memory.together, "{:.0f}"),
        },
        rows,
    )


def _print_off(rows: Mapping[str, list[Off]], options: argparse.Namespace) -> None:
    """Print what was measured with scoring off."""
    table(
        f"Scoring off ({_LOOP_SPAN.events} answers after {_LOOP_SPAN.warm}, {options.runs} runs)",
        {
            "answers/s": (lambda run: run.worker.rate, "{:.0f}"),
            "bare loop": (lambda run: run.loops[0].rate, "{:.0f}"),
            "with the codec": (lambda run: run.loops[1].rate, "{:.0f}"),
            "of the bare loop's": (lambda run: run.worker.rate / run.loops[0].rate, "{:.2f}"),
            "processor, ms": (lambda run: run.worker.milliseconds(main_process), "{:.2f}"),
            "bare loop's": (lambda run: run.loops[0].milliseconds(main_process), "{:.2f}"),
            "with the codec, ms": (lambda run: run.loops[1].milliseconds(main_process), "{:.2f}"),
        },
        rows,
    )


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--events", type=int, default=1_500)
    parser.add_argument("--warm", type=int, default=500)
    parser.add_argument("--late", type=int, default=800, help="answers at half load")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--languages", nargs="+", choices=get_args(Language), default=list(get_args(Language))
    )
    parser.add_argument("--checkout", type=named_checkout, action="append", default=[], metavar="NAME=FOLDER")
    options = parser.parse_args()
    asyncio.run(run(options, [*options.checkout, Checkout("after" if options.checkout else "worker")]))


if __name__ == "__main__":
    main()
