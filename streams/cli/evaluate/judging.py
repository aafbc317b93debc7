"""All files judged in all ways, by one pool of scoring processes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.progress import Progress

from schemas import KnowledgeDocument
from scoring.assessing.options import ScorerOptions
from streams.answers.context import GivenDocuments
from streams.answers.offline import OfflineAnswers
from streams.answers.way import put_together
from streams.cli.evaluate.rated import Judge, Judged, Source, judged_lines, without_context
from streams.cli.evaluate.ways import Way
from streams.cli.lines import Complaints
from streams.cli.missing import MissingDocuments
from streams.cli.output import indexing_bar
from streams.cli.scoring_options import most_in_work, translated
from streams.judging.pool import ScoringPool
from streams.retrieval.on_demand import OnDemandRetriever, retriever_on_demand
from streams.settings import Settings
from streams.translating.opening import open_file_translation
from streams.translating.step import Translation

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

    Raises:
        CommandFailed: a file cannot be read.
        InfrastructureFailure: there is no judging.
        WrongSettings: what they ask for cannot be had.
    """
    scoring, now = settings.scoring, datetime.now(UTC)
    pool = ScoringPool(scoring.profile, scoring.processes, scoring.timeout_seconds, options)
    async with (
        pool,
        _translations(settings, ways) as translations,
        _opened(documents, settings, indexing_bar(bar)) as known,
    ):

        def judges(known: _Known) -> list[Judge]:
            steps = [
                put_together(
                    known.given, pool, settings.policy.decide, scoring.profile, translation, known.retrieval
                )
                for translation in translations
            ]
            return [_judge(way, OfflineAnswers(each, now)) for way, each in zip(ways, steps, strict=True)]

        sources = [
            Source(path, judges(each), Complaints(str(path)), MissingDocuments(str(path)))
            for path, each in zip(files, known, strict=True)
        ]
        async with aclosing(judged_lines(sources, most_in_work(settings), bar)) as answers:
            return Judged([way.name for way in ways], sources, [each async for each in answers])


def _judge(way: Way, judge: OfflineAnswers) -> Judge:
    return without_context(judge) if way.context == "retrieved" else judge.verdict


@asynccontextmanager
async def _translations(settings: Settings, ways: Sequence[Way]) -> AsyncIterator[list[Translation | None]]:
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(open_file_translation(translated(settings, way.translate)))
            for way in ways
        ]


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
