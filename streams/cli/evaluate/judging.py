"""All files judged in all ways, by one pool of scoring processes for each profile."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from rich.progress import Progress

from schemas import KnowledgeDocument
from scoring.scorer.scorer import ScorerOptions
from streams.cli.evaluate.rated import (
    Judge,
    Judged,
    Line,
    Source,
    answered,
    judged_lines,
    lines_of,
    without_context,
)
from streams.cli.evaluate.ways import AssessedOnce, Way
from streams.cli.files import Complaints, MissingDocuments
from streams.cli.output import indexing_bar
from streams.cli.scoring_options import most_in_work, translated
from streams.pipeline.context import GivenDocuments
from streams.pipeline.pipeline import OfflineAnswers, Pipeline
from streams.scorers.options import Assessor
from streams.scorers.pool import ScoringPool
from streams.search.on_demand import OnDemandRetriever, retriever_on_demand
from streams.settings import Settings
from streams.translating.opening import open_file_translation

Documents = Sequence[KnowledgeDocument]


@dataclass(frozen=True, slots=True)
class _Known:
    given: GivenDocuments
    retrieval: OnDemandRetriever | None


async def judged(
    files: Sequence[Path],
    documents: Sequence[Documents],
    settings: Settings,
    options: ScorerOptions,
    ways: Sequence[Way],
    bar: Progress,
) -> Judged:
    """Judge the answers of each file against its documents in each way, moving the bar.

    The lines are kept where there are several profiles, and judged by one after the other: two pools at once
    would keep the documents prepared twice.

    Raises:
        CommandFailed: a file cannot be read.
        InfrastructureFailure: there is no judging.
        WrongSettings: what they ask for cannot be had.
    """
    sources = [Source(path, Complaints(str(path)), MissingDocuments(str(path))) for path in files]
    lines: Iterable[Line] = lines_of(sources, bar)
    *former, last = (list(each) for _, each in groupby(ways, lambda way: way.profile))
    async with _opened(documents, settings, indexing_bar(bar)) as known:
        for each in former:
            async with _judged_by(each, lines, known, settings, options) as passed:
                lines = _again([line async for line in passed], bar)
        async with (
            _judged_by(last, lines, known, settings, options) as passed,
            aclosing(answered(sources, passed)) as answers,
        ):
            return Judged([way.name for way in ways], sources, [each async for each in answers])


@asynccontextmanager
async def _judged_by(
    ways: Sequence[Way],
    lines: Iterable[Line],
    known: Sequence[_Known],
    settings: Settings,
    options: ScorerOptions,
) -> AsyncIterator[AsyncGenerator[Line, None]]:
    """Give the lines as they are judged in these ways, which are all of one profile."""
    scoring, profile, now = settings.scoring, ways[0].profile, datetime.now(UTC)
    pool = ScoringPool(profile, scoring.processes, scoring.timeout_seconds, options)
    several = any(way.policy for way in ways)
    async with pool, AsyncExitStack() as stack:
        translations = [
            await stack.enter_async_context(open_file_translation(translated(settings, way.translate)))
            for way in ways
        ]
        assessor: Assessor = AssessedOnce(pool) if several else pool

        def judges(known: _Known) -> list[Judge]:
            found: list[Judge] = []
            for way, translation in zip(ways, translations, strict=True):
                decide = (way.policy or settings.policy).decide
                pipeline = Pipeline(known.given, assessor, decide, profile, translation, known.retrieval)
                answers = OfflineAnswers(pipeline, now)
                found.append(without_context(answers) if way.context == "retrieved" else answers.verdict)
            return found

        async with aclosing(judged_lines(lines, [*map(judges, known)], most_in_work(settings))) as passed:
            yield passed


def _again(lines: Sequence[Line], bar: Progress) -> Iterator[Line]:
    for line in lines:
        yield line
        bar.advance(bar.task_ids[0])


@asynccontextmanager
async def _opened(
    documents: Sequence[Documents], settings: Settings, on_indexed: Callable[[int, int], None]
) -> AsyncIterator[list[_Known]]:
    """Give the documents of each file; what several files share is opened once."""
    async with AsyncExitStack() as stack:
        opened = {
            key: _Known(
                GivenDocuments.of(each),
                await stack.enter_async_context(retriever_on_demand(each, settings, on_indexed)),
            )
            for key, each in {id(each): each for each in documents}.items()
        }
        yield [opened[id(each)] for each in documents]
