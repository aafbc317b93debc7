"""`truthgate score`: score a file of answers without a broker."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.progress import Progress

from schemas import to_json
from schemas.records import ChatbotAnswer, KnowledgeDocument
from scoring.scorer.scorer import ScorerOptions
from streams.cli.command_files import (
    check_not_overwriting,
    count_lines,
    map_good_lines,
    open_output,
    read_records,
)
from streams.cli.command_output import CommandErrors, indexing_bar, json_line, progress_bar
from streams.cli.common_options import (
    IN_FLIGHT_PER_PROCESS,
    ConfigFile,
    InputFile,
    ProcessesOption,
    ProfileOption,
    TranslateOption,
    apply_options,
)
from streams.cli.document_sources import AnswersDocuments, DocumentLanguages, FromKafka, read_documents
from streams.documents.company_terms import offline_terms
from streams.llm.cascade import open_file_judges
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import scorer_options
from streams.scorers.pool import ScoringPool
from streams.search.on_demand import open_on_demand_retriever
from streams.settings import Settings, load_settings
from streams.translating.opening import open_file_translation


def score(
    file: InputFile,
    documents: AnswersDocuments = None,
    documents_language: DocumentLanguages = None,
    from_kafka: FromKafka = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Verdicts; default: standard output."),
    ] = None,
    profile: ProfileOption = None,
    translate: TranslateOption = None,
    processes: ProcessesOption = None,
    config: ConfigFile = None,
) -> None:
    """Score a JSONL file of answers without a broker, and write verdicts as JSONL in the order of the input.

    Exit code 1: a line is malformed (it is named on standard error, the others are scored), an answer
    exceeded scoring.timeout_seconds, or documents of an answer are missing. Exit code 3: retrieval was
    unavailable, no judge of judges.endpoints replied, or, with --translate always, an answer could not be
    translated. Untranslated answers are scored as they are; the others go to review. judges.budget applies
    to each run separately; when it is spent, answers in doubt go to review.

    Example: `truthgate score chats.jsonl --documents help.jsonl --output verdicts.jsonl`
    """
    check_not_overwriting(output, [file, *(documents or [])])
    lines, errors = count_lines(file), CommandErrors()
    settings, on_demand = apply_options(load_settings(config), processes, lines, profile, translate)
    known = read_documents(documents, documents_language, settings, errors, from_kafka=from_kafka)
    static = StaticDocuments.of(known).by_id.values()
    with (
        offline_terms(settings, static, [settings.scoring.profile]) as settings,
        open_output(output) as sink,
        progress_bar("scoring", lines, shown=sink is not sys.stdout) as bar,
    ):
        options = scorer_options(settings, on_demand=on_demand)
        asyncio.run(_score(file, settings, options, known, sink, errors, bar))
    errors.report_missing_documents()
    errors.report_codes()
    raise typer.Exit(errors.exit_code(translation_required=translate == "always"))


async def _score(
    file: Path,
    settings: Settings,
    options: ScorerOptions,
    documents: Sequence[KnowledgeDocument],
    sink: TextIO,
    errors: CommandErrors,
    bar: Progress,
) -> None:
    scoring, file_errors = settings.scoring, errors.of(file)
    indexing = indexing_bar(None if bar.disable else bar)
    async with (
        ScoringPool(scoring.profile, scoring.processes, scoring.timeout_seconds, options) as pool,
        open_file_translation(settings) as translation,
        open_on_demand_retriever(documents, settings, indexing) as retrieval,
        open_file_judges(settings, errors) as judges,
    ):
        static, decide = StaticDocuments.of(documents), settings.policy.decide
        pipeline = Pipeline(static, pool, decide, scoring.profile, translation, retrieval, judges)
        started = datetime.now(UTC)
        # One time for both: an answer without produced_at is not produced after it is scored.
        lines = read_records(file, ChatbotAnswer, bar, lambda: started)
        offline = OfflinePipeline(pipeline, started)
        scored = map_good_lines(
            lines, offline.verdict, scoring.processes * IN_FLIGHT_PER_PROCESS, file_errors
        )
        async with aclosing(scored) as verdicts:
            async for number, verdict in verdicts:
                file_errors.note_verdict(number, verdict)
                errors.note_codes(*verdict.reasons, *verdict.degraded)
                sink.write(json_line(to_json(verdict)) + "\n")
                if sink is sys.stdout:  # the reader of a pipe waits for it
                    sink.flush()
