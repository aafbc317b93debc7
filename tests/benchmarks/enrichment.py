"""What finding the context of an answer costs, in each of the three ways, and the index that it needs.

Run as ``python -m tests.benchmarks.enrichment [--documents N,N] [--runs N] [--embedded N] [--json]``. The
documents are those of the sample, varied to as many as asked for. Every step has a process of its own. What
counts are the ratios within a run; the rates are those of one process that shares its cores with the search.
"""

import argparse
import json
import multiprocessing
import statistics
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

from rich.console import Console

from streams.settings import DocumentSettings, RetrievalSettings, Settings
from tests.benchmarks import enriched
from tests.benchmarks.enriched import Start, Way
from tests.benchmarks.filled import Built, Stored, build_as_worker, build_with_known_vectors, fill_store

_CONSOLE = Console(highlight=False, markup=False, soft_wrap=True)

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that was measured with one number of documents; ``runs`` are in their order."""

    documents: int
    stored: Stored
    built: Built
    parsed_before: int
    starts: list[Start]
    runs: list[list[Way]]


def measure(documents: int, options: argparse.Namespace, folder: Path) -> Outcome:
    """Fill a store and an index, and measure with them."""
    settings = Settings(
        documents=DocumentSettings(store=folder), retrieval=RetrievalSettings(update_interval_seconds=1)
    )
    stored = _apart(fill_store, settings, documents)
    if documents <= options.embedded:
        built = _apart(build_as_worker, settings)
    else:
        built = _apart(build_with_known_vectors, settings, documents)
    parsed = _apart(enriched.first_life, settings, documents, options.judged)
    starts, runs = [], []
    for seed in range(options.runs):
        starts.append(_apart(enriched.start, settings, documents, options.judged))
        runs.append(_apart(enriched.ways, settings, documents, options.events, options.judged, seed))
    return Outcome(documents, stored, built, parsed, starts, runs)


def _apart(act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do it in a process of its own, so that its memory is its own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as process:
        return process.submit(act, *args, **kwargs).result()


def _print(outcomes: Sequence[Outcome]) -> None:
    _table(
        "Building",
        ("documents", "chunks", "store", "index", "time", "processor", "of it embedding", "memory"),
        [_building(one) for one in outcomes],
    )
    if any(one.built.seconds is None for one in outcomes):
        _CONSOLE.print("\n(*) reckoned: chunks times what embedding one took; the rest was measured")
    _table(
        "Starting again",
        ("documents", "store open", "index complete", "indexed", "parsed", "memory", "after searches"),
        [_starting(one) for one in outcomes],
    )
    _table(
        "Finding the context of an answer",
        ("documents", "way", "answers/s", "ms", "judging ms, warm", "cold", "finding / judging, warm"),
        [row for one in outcomes for row in _finding(one)],
    )


def _building(one: Outcome) -> tuple[str, ...]:
    built, mark = one.built, "" if one.built.seconds is not None else " (*)"
    return (
        f"{one.documents:,}",
        f"{built.chunks:,}",
        f"{one.stored.megabytes:,.0f} MB",
        f"{built.megabytes:,.0f} MB",
        f"{built.seconds:,.0f} s" if built.seconds is not None else "not measured",
        f"{built.processor_seconds:,.0f} s{mark}",
        f"{built.embedding_seconds:,.0f} s{mark}",
        f"{built.peak_megabytes:,.0f} MB",
    )


def _starting(one: Outcome) -> tuple[str, ...]:
    starts, last = one.starts, one.starts[-1]
    return (
        f"{one.documents:,}",
        f"{_median(start.store_seconds for start in starts):.2f} s",
        f"{_median(start.index_seconds for start in starts):.2f} s",
        f"{max(start.indexed for start in starts)}",
        f"{max(start.parsed for start in starts)} of {one.parsed_before} again",
        f"{last.store_megabytes:,.0f} MB",
        f"{last.search_megabytes:,.0f} MB",
    )


def _finding(one: Outcome) -> Iterable[tuple[str, ...]]:
    for ways in zip(*one.runs, strict=True):
        yield (
            f"{one.documents:,}",
            ways[0].name,
            f"{_median(way.answers_a_second for way in ways):,.0f}",
            f"{_median(way.milliseconds for way in ways):.3f}",
            f"{_median(way.warm for way in ways):.1f}",
            f"{_median(way.cold for way in ways):.1f}",
            f"{_median(way.share for way in ways):.4f}",
        )


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)


def _table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
    _CONSOLE.print(f"\n### {title}\n", *lines, sep="\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=lambda text: [*map(int, text.split(","))], default=[1_000])
    parser.add_argument("--embedded", type=int, default=1_000, help="embed all, of at most so many documents")
    parser.add_argument("--events", type=int, default=300)
    parser.add_argument("--judged", type=int, default=60, help="of the events of a run")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep what is made here; it is to be empty")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown tables")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        outcomes = [measure(count, options, folder / str(count)) for count in options.documents]
    if options.json:
        _CONSOLE.print_json(json.dumps([asdict(outcome) for outcome in outcomes]))
        return
    _print(outcomes)


if __name__ == "__main__":
    main()
