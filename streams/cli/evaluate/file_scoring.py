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
from streams.cli.command_files import InputErrors, MissingDocuments
from streams.cli.command_output import indexing_bar
from streams.cli.evaluate.rated_files import (
    EvaluatedAnswers,
    RatedFile,
    RatedLine,
    VerdictFunction,
    evaluated_answers,
    read_lines,
    score_lines,
    without_context,
)
from streams.cli.evaluate.scoring_variants import ScoreCache, ScoringVariant
from streams.cli.scoring_options import max_in_flight, with_translation_mode
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import AsyncScorer
from streams.scorers.pool import ScoringPool
from streams.search.on_demand import OnDemandRetriever, open_on_demand_retriever
from streams.settings import Settings
from streams.translating.opening import open_file_translation

Documents = Sequence[KnowledgeDocument]


@dataclass(frozen=True, slots=True)
class _SearchableDocuments:
    given: StaticDocuments
    retrieval: OnDemandRetriever | None


async def score_files(
    files: Sequence[Path],
    documents: Sequence[Documents],
    settings: Settings,
    options: ScorerOptions,
    ways: Sequence[ScoringVariant],
    bar: Progress,
) -> EvaluatedAnswers:
    """Judge the answers of each file against its documents in each way, moving the bar.

    The lines are kept where there are several profiles, and judged by one after the other: two pools at once
    would keep the documents prepared twice.

    Raises:
        CommandFailed: a file cannot be read.
        InfrastructureFailure: there is no judging.
        InvalidSettings: what they ask for cannot be had.
    """
    sources = [RatedFile(path, InputErrors(str(path)), MissingDocuments(str(path))) for path in files]
    lines: Iterable[RatedLine] = read_lines(sources, bar)
    *former, last = (list(each) for _, each in groupby(ways, lambda way: way.profile))
    async with _opened(documents, settings, indexing_bar(bar)) as known:
        for each in former:
            async with _scored_with_profile(each, lines, known, settings, options) as passed:
                lines = _again([line async for line in passed], bar)
        async with (
            _scored_with_profile(last, lines, known, settings, options) as passed,
            aclosing(evaluated_answers(sources, passed)) as answers,
        ):
            return EvaluatedAnswers([way.name for way in ways], sources, [each async for each in answers])


@asynccontextmanager
async def _scored_with_profile(
    ways: Sequence[ScoringVariant],
    lines: Iterable[RatedLine],
    known: Sequence[_SearchableDocuments],
    settings: Settings,
    options: ScorerOptions,
) -> AsyncIterator[AsyncGenerator[RatedLine, None]]:
    """Give the lines as they are judged in these ways, which are all of one profile."""
    scoring, profile, now = settings.scoring, ways[0].profile, datetime.now(UTC)
    pool = ScoringPool(profile, scoring.processes, scoring.timeout_seconds, options)
    several = any(way.policy for way in ways)
    async with pool, AsyncExitStack() as stack:
        translations = [
            await stack.enter_async_context(
                open_file_translation(with_translation_mode(settings, way.translate))
            )
            for way in ways
        ]
        assessor: AsyncScorer = ScoreCache(pool) if several else pool

        def judges(known: _SearchableDocuments) -> list[VerdictFunction]:
            found: list[VerdictFunction] = []
            for way, translation in zip(ways, translations, strict=True):
                decide = (way.policy or settings.policy).decide
                pipeline = Pipeline(known.given, assessor, decide, profile, translation, known.retrieval)
                answers = OfflinePipeline(pipeline, now)
                found.append(without_context(answers) if way.context == "retrieved" else answers.verdict)
            return found

        async with aclosing(score_lines(lines, [*map(judges, known)], max_in_flight(settings))) as passed:
            yield passed


def _again(lines: Sequence[RatedLine], bar: Progress) -> Iterator[RatedLine]:
    for line in lines:
        yield line
        bar.advance(bar.task_ids[0])


@asynccontextmanager
async def _opened(
    documents: Sequence[Documents], settings: Settings, on_indexed: Callable[[int, int], None]
) -> AsyncIterator[list[_SearchableDocuments]]:
    """Give the documents of each file; what several files share is opened once."""
    async with AsyncExitStack() as stack:
        opened = {
            key: _SearchableDocuments(
                StaticDocuments.of(each),
                await stack.enter_async_context(open_on_demand_retriever(each, settings, on_indexed)),
            )
            for key, each in {id(each): each for each in documents}.items()
        }
        yield [opened[id(each)] for each in documents]
