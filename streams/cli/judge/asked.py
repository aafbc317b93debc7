"""The answers that are asked about: read from a file, each with what it is compared with."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from rich.progress import Progress

from schemas import BadLine, KnowledgeDocument, RatedAnswer
from scoring.judges import Case, Expected
from streams.answers.context import GivenDocuments, resolve_context
from streams.answers.verdict import exchange_of
from streams.answers.way import failing_as
from streams.cli.feed import in_order
from streams.cli.lines import Complaints, read
from streams.cli.output import indexing_bar
from streams.failures import BadAnswer, Stage
from streams.judging.batches.opinions import AnswerKey
from streams.retrieval.on_demand import retriever_on_demand
from streams.settings import Settings
from streams.translating.opening import FILE_PATIENCE_SECONDS

Line = tuple[int, RatedAnswer | BadLine]
Outcome = tuple[int, "Asked | BadLine"]

# Searches are the only thing that takes time, and they share one model.
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer as a judge is to see it, with nothing that people say of it; ``degraded`` is its context."""

    key: AnswerKey
    case: Case
    degraded: tuple[str, ...]


def with_documents(
    file: Path,
    documents: Sequence[KnowledgeDocument],
    settings: Settings,
    complaints: Complaints,
    bar: Progress,
) -> list[Asked]:
    """Read the answers of a file and find their documents as `score` does, moving the bar.

    Raises:
        CommandFailed: the file cannot be read.
        InfrastructureFailure: the documents cannot be searched.
        WrongSettings: nor can they be with these settings.
    """
    outcomes = asyncio.run(_with_context(read(file, RatedAnswer, bar), documents, settings, bar))
    return [asked for _, asked in complaints.without_bad(outcomes)]


def with_expected(file: Path, complaints: Complaints, bar: Progress) -> list[Asked]:
    """Read the answers of a file that bring the right answer to compare with, moving the bar.

    A line without one is a bad line. Raises CommandFailed where the file cannot be read.
    """
    outcomes = (_expected(number, line) for number, line in read(file, RatedAnswer, bar))
    return [asked for _, asked in complaints.without_bad(outcomes)]


def _expected(number: int, line: RatedAnswer | BadLine) -> Outcome:
    if isinstance(line, BadLine):
        return number, line
    if line.expected_answer is None:
        return number, BadLine(
            number, "expected_answer: is missing, which this answer is to be compared with"
        )
    answer = line.answer
    case = Case(answer.question, answer.answer, Expected(line.expected_answer))
    return number, Asked(AnswerKey.of(answer), case, ())


async def _with_context(
    lines: Iterable[Line], documents: Sequence[KnowledgeDocument], settings: Settings, bar: Progress
) -> list[Outcome]:
    given = GivenDocuments.of(documents)
    indexing = indexing_bar(None if bar.disable else bar)
    async with retriever_on_demand(documents, settings, indexing) as retriever:

        async def asked(line: Line) -> Outcome:
            number, rated = line
            if isinstance(rated, BadLine):
                return number, rated
            answer = rated.answer
            try:
                with failing_as(Stage.ENRICH):
                    context = await resolve_context(answer, given, 0, retriever, FILE_PATIENCE_SECONDS)
            except BadAnswer as error:
                return number, BadLine(number, f"its documents cannot be found: {error.error_class}")
            case = Case.of(exchange_of(answer, context.judged))
            return number, Asked(AnswerKey.of(answer), case, context.degraded)

        async with aclosing(in_order(lines, asked, _AT_ONCE)) as found:
            return [each async for each in found]
