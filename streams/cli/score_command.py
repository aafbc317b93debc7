"""``truthgate score``: judge a file of answers without a broker."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.progress import Progress

from schemas import to_json
from schemas.jsonl import BadLine
from schemas.records import ChatbotAnswer, KnowledgeDocument, Verdict
from scoring.scorer.scorer import ScorerOptions
from streams.cli.async_input import map_in_order
from streams.cli.command_files import (
    InputErrors,
    MissingDocuments,
    check_not_overwriting,
    count_lines,
    open_output,
    read_records,
)
from streams.cli.command_output import indexing_bar, json_line, progress_bar
from streams.cli.common_options import ConfigFile, InputFile
from streams.cli.document_sources import (
    AnswersDocuments,
    DocumentLanguages,
    FromKafka,
    errors_for,
    read_documents,
)
from streams.cli.scoring_options import (
    ProcessesOption,
    ProfileOption,
    ServiceFailures,
    TranslateOption,
    apply_options,
    max_in_flight,
    prepare_processes,
    with_translation_mode,
)
from streams.documents.company_terms import offline_terms
from streams.llm.cascade import open_file_judges
from streams.observability.failures import BadAnswer
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import scorer_options
from streams.scorers.pool import ScoringPool
from streams.search.on_demand import open_on_demand_retriever
from streams.settings import Settings, load_settings
from streams.translating.opening import open_file_translation

Line = tuple[int, ChatbotAnswer | BadLine]
Outcome = Verdict | BadLine


def score(
    file: InputFile,
    documents: AnswersDocuments = None,
    documents_language: DocumentLanguages = None,
    from_kafka: FromKafka = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where verdicts go; default: standard output."),
    ] = None,
    profile: ProfileOption = None,
    translate: TranslateOption = None,
    processes: ProcessesOption = None,
    config: ConfigFile = None,
) -> None:
    """Score a JSONL file of answers without a broker; verdicts are JSONL, in the order of the input.

    A malformed line is named on standard error, the rest is scored, and the exit code is 1. Answers
    that could not be translated are judged as they are; with --translate always the exit code is 3 then.
    It is 3, too, where answers were to be searched for and could not be, or where language models of
    judges.endpoints were to be asked and gave no opinion, and 1 where answers took longer to score than
    scoring.timeout_seconds or name documents that are not there; these go to review. So does what
    judges.budget is spent for: it counts for each run alone.

    Example: `truthgate score chats.jsonl --documents help.jsonl --output verdicts.jsonl`
    """
    check_not_overwriting(output, [file, *(documents or [])])
    settings = apply_options(load_settings(config), profile, processes)
    settings = with_translation_mode(settings, translate)
    settings, on_demand = prepare_processes(settings, count_lines(file))
    complaints, bad_documents = InputErrors(str(file)), errors_for(documents)
    missing = MissingDocuments(str(file))
    known = read_documents(documents, documents_language, settings, bad_documents, from_kafka=from_kafka)
    with (
        offline_terms(
            settings, StaticDocuments.of(known).by_id.values(), [settings.scoring.profile]
        ) as settings,
        open_output(output) as sink,
        progress_bar("scoring", count_lines(file), shown=sink is not sys.stdout) as bar,
    ):
        options = scorer_options(settings, on_demand=on_demand)
        unserved = asyncio.run(_score(file, settings, options, known, sink, complaints, missing, bar))
    missing.report()
    unserved.report()
    ended = unserved.exit_code(translation_required=translate == "always")
    wrong = max(each.exit_code for each in (complaints, *bad_documents))
    raise typer.Exit(max(ended, wrong, missing.exit_code))


async def _score(
    file: Path,
    settings: Settings,
    options: ScorerOptions,
    documents: Sequence[KnowledgeDocument],
    sink: TextIO,
    complaints: InputErrors,
    missing: MissingDocuments,
    bar: Progress,
) -> ServiceFailures:
    scoring, unserved = settings.scoring, ServiceFailures()
    indexing = indexing_bar(None if bar.disable else bar)
    async with (
        ScoringPool(scoring.profile, scoring.processes, scoring.timeout_seconds, options) as pool,
        open_file_translation(settings) as translation,
        open_on_demand_retriever(documents, settings, indexing) as retrieval,
        open_file_judges(settings, unserved) as advise,
    ):
        given, decide = StaticDocuments.of(documents), settings.policy.decide
        way = Pipeline(given, pool, decide, scoring.profile, translation, retrieval, advise)
        begun = datetime.now(UTC)
        # One moment for both times: a line without one is not produced after it is scored.
        lines = read_records(file, ChatbotAnswer, bar, lambda: begun)
        answers = OfflinePipeline(way, begun)
        async with aclosing(score_lines(lines, answers, max_in_flight(settings), missing)) as outcomes:
            async for outcome in outcomes:
                _write(outcome, sink, complaints)
                if isinstance(outcome, Verdict):
                    unserved.add(outcome.degraded)
    return unserved


async def score_lines(
    lines: Iterable[Line], answers: OfflinePipeline, limit: int, missing: MissingDocuments
) -> AsyncGenerator[Outcome, None]:
    """Judge the good lines, ``limit`` at once, and pass the bad ones on; all in the order of the input.

    An answer that the scorer fails on becomes a bad line; ``missing`` sees every verdict.

    Raises:
        InfrastructureFailure: there is no judging.
    """

    async def judged(numbered: Line) -> Outcome:
        number, answer = numbered
        if isinstance(answer, BadLine):
            return answer
        try:
            verdict = await answers.verdict(answer)
        except BadAnswer as error:
            return BadLine(number, f"the scorer failed on this answer: {error.error_class}")
        missing.add(number, verdict)
        return verdict

    async with aclosing(map_in_order(lines, judged, limit)) as outcomes:
        async for outcome in outcomes:
            yield outcome


def _write(outcome: Outcome, sink: TextIO, complaints: InputErrors) -> None:
    if isinstance(outcome, BadLine):
        complaints.report(outcome.number, outcome.reason)
    else:
        sink.write(json_line(to_json(outcome)) + "\n")
        if sink is sys.stdout:  # whoever reads a pipe waits for it
            sink.flush()
