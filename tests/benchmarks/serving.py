"""What judging over HTTP costs beside judging a file, without a broker for either.

Run as ``python -m tests.benchmarks.serving [--events N] [--runs N] [--processes N] [--language en|nl]``. The
events are the answers of the sample that name documents, again and again under other ids. Both are warm,
have as many scoring processes, and as many answers at work. In each run one is measured right after the
other, so what counts are the ratios, as medians over the runs; the client takes its part of the cores too.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count, cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

import psutil
from aiohttp import ClientSession

from schemas import ChatbotAnswer, to_json
from streams.cli.demo.sample import sample_answers, sample_documents
from streams.documents.company_terms import offline_terms
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import scorer_options
from streams.scorers.pool import ScoringPool
from streams.settings import RetrievalSettings, ScoringSettings, Settings
from tests.benchmarks.checkout import free_port, running, wait_until_ready
from tests.benchmarks.tables import table

Language = Literal["en", "nl"]
Judge = Callable[[ChatbotAnswer], Awaitable[object]]

_WAITING_EACH = 16  # as many as a file's answers


@dataclass(frozen=True, slots=True)
class Measured:
    """What so many answers took: seconds of the clock and of the processor, and what each one waited."""

    answers: int
    clock: float
    processor: float
    waits: Sequence[float]

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.answers / self.clock

    @property
    def milliseconds(self) -> float:
        """Processor time of an answer, of main and scoring processes."""
        return 1000 * self.processor / self.answers

    @property
    def median(self) -> float:
        """The median wait in milliseconds."""
        return 1000 * statistics.median(self.waits)


@dataclass(frozen=True, slots=True)
class Run:
    """Both ways under full load, and each with one answer after the other."""

    score: Measured
    http: Measured
    score_alone: Measured
    http_alone: Measured


def _answers(language: Language) -> Iterator[ChatbotAnswer]:
    named = [answer for answer in sample_answers(language) if answer.document_ids]
    for number, answer in zip(count(), cycle(named), strict=False):
        yield replace(answer, answer_id=f"bench-{number}")


async def _measured(judge: Judge, answers: Sequence[ChatbotAnswer], at_once: int, pid: int) -> Measured:
    waits: list[float] = []
    left = iter(answers)

    async def one_after_the_other() -> None:
        for answer in left:
            began = time.perf_counter()
            await judge(answer)
            waits.append(time.perf_counter() - began)

    processor, clock = _processor(pid), time.perf_counter()
    await asyncio.gather(*(one_after_the_other() for _ in range(at_once)))
    return Measured(len(answers), time.perf_counter() - clock, _processor(pid) - processor, waits)


def _processor(pid: int) -> float:
    main = psutil.Process(pid)
    times = [each.cpu_times() for each in (main, *main.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


@asynccontextmanager
async def _scoring(settings: Settings, language: Language) -> AsyncIterator[Judge]:
    known = StaticDocuments.of(sample_documents(language))
    scoring = settings.scoring
    with offline_terms(settings, known.by_id.values()) as given:
        options = scorer_options(given)
        async with ScoringPool(scoring.profile, scoring.processes, scoring.timeout_seconds, options) as pool:
            way = Pipeline(known, pool, settings.policy.decide, scoring.profile)
            yield OfflinePipeline(way, datetime.now(UTC)).verdict


@asynccontextmanager
async def _serving(settings: Settings, language: Language, folder: Path) -> AsyncIterator[tuple[Judge, int]]:
    documents, port = folder / "documents.jsonl", free_port()
    lines = (json.dumps(to_json(each)) for each in sample_documents(language))
    documents.write_text("\n".join(lines), "utf-8")
    own = {
        "WEB__PORT": str(port),
        "WEB__VERDICTS__MAX_IN_FLIGHT": "256",
        "RETRIEVAL__EMBEDDER": "none",
        "SCORING__PROCESSES": str(settings.scoring.processes),
    }
    environment = {**os.environ, **{f"TRUTHGATE_{name}": value for name, value in own.items()}}
    command = [sys.executable, "-m", "streams.cli", "serve", "--documents", str(documents)]
    log = folder / "serve.log"
    with running(command, environment, log) as process:
        wait_until_ready(process, port, log)
        async with ClientSession(f"http://127.0.0.1:{port}") as session:

            async def judge(answer: ChatbotAnswer) -> Any:
                async with session.post("/v1/verdicts", json=to_json(answer)) as response:
                    response.raise_for_status()
                    return await response.json()

            yield judge, process.pid


async def _runs(options: argparse.Namespace) -> list[Run]:
    """Measure so many runs, ``truthgate serve`` each time after the way of ``truthgate score``."""
    scoring = ScoringSettings(processes=options.processes)
    settings = Settings(scoring=scoring, retrieval=RetrievalSettings(embedder="none"))
    answers, at_once = _answers(options.language), options.processes * _WAITING_EACH
    with TemporaryDirectory(prefix="truthgate-") as folder:
        async with (
            _scoring(settings, options.language) as score,
            _serving(settings, options.language, Path(folder)) as (http, pid),
        ):
            own = os.getpid()

            async def take(judge: Judge, number: int, many: int, of: int) -> Measured:
                return await _measured(judge, list(islice(answers, number)), many, of)

            for judge, of in ((score, own), (http, pid)):  # every document is parsed then
                await take(judge, options.warm, at_once, of)
            alone = max(10, options.events // 5)
            return [
                Run(
                    await take(score, options.events, at_once, own),
                    await take(http, options.events, at_once, pid),
                    await take(score, alone, 1, own),
                    await take(http, alone, 1, pid),
                )
                for _ in range(options.runs)
            ]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=400)
    parser.add_argument("--warm", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--language", choices=get_args(Language), default="nl")
    runs = asyncio.run(_runs(parser.parse_args()))
    of_score = [(run.score, run.score_alone, run) for run in runs]
    of_http = [(run.http, run.http_alone, run) for run in runs]
    table(
        "Judging over HTTP",
        {
            "answers/s": (lambda each: each[0].rate, "{:.1f}"),
            "of score's": (lambda each: each[0].rate / each[2].score.rate, "{:.2f}"),
            "processor, ms": (lambda each: each[0].milliseconds, "{:.1f}"),
            "of score's processor": (
                lambda each: each[0].milliseconds / each[2].score.milliseconds,
                "{:.2f}",
            ),
            "one at a time, ms": (lambda each: each[1].median, "{:.1f}"),
            "more than score": (lambda each: each[1].median - each[2].score_alone.median, "{:.1f}"),
        },
        {"score": of_score, "serve": of_http},
    )


if __name__ == "__main__":
    main()
