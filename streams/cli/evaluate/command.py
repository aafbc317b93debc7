"""The command: reads rated files, judges their answers, and shows how good that was."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.progress import Progress

from schemas import KnowledgeDocument
from scoring.version import SCORER_VERSION
from streams.cli.evaluate.extras import check_plot, draw_to, require
from streams.cli.exits import CommandFailed, ExitCode, WrongUsage
from streams.cli.lines import Complaints, count, read
from streams.cli.options import AsJson, ConfigFile, InputFiles
from streams.cli.output import json_line, progress, write_line
from streams.cli.render import ResultConsole
from streams.cli.scoring_options import ProcessesOption, ProfileOption, TranslateMode, chosen, translated
from streams.enrichment.company_terms import offline_terms
from streams.enrichment.context import GivenDocuments
from streams.offline import OfflineJudge
from streams.pool import ScoringPool
from streams.scorer_options import scorer_options
from streams.settings import Settings, load_settings
from streams.translation import open_file_translation

if TYPE_CHECKING:
    from streams.cli.evaluate.rated import Judged

Translate = Literal["off", "auto", "always", "both"]

# Answers in work for each process: enough that none waits for input, few enough to bound memory.
_WAITING_EACH = 16


def evaluate(
    files: InputFiles,
    documents: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            metavar="FILE",
            help="JSONL that document_ids are resolved from: one for all FILEs, or one for each in order.",
        ),
    ] = None,
    profile: ProfileOption = None,
    translate: Annotated[
        Translate, typer.Option(help="Score a translation; both compares with scoring natively.")
    ] = "off",
    plot: Annotated[
        Path | None,
        typer.Option(dir_okay=False, metavar="FILE", help="Draw ratings against scores, as .png or .svg."),
    ] = None,
    processes: ProcessesOption = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show how well scores, message types and decisions agree with people, for JSONL files of rated answers.

    A line is that of `score` with `rating` (1 to 5), and, where known, `rating_second` and
    `message_type`. Intervals are of 95%. A malformed line is named on standard error, the rest is
    evaluated, and the exit code is 1; lines without a rating are named and counted out. Where a
    translation is asked for by always or both and cannot be had, the exit code is 3.

    Needs `pip install 'truthgate[evaluate]'`, and `truthgate[plot]` for --plot.

    Example: `truthgate evaluate rated.jsonl --documents help.jsonl --plot rated.svg`
    """
    require("scipy", "evaluate")
    if plot:
        check_plot(plot, files)
    settings = chosen(load_settings(config), profile, processes)
    given = [Complaints(str(path)) for path in documents or []]
    known = [_documents(path, complaints) for path, complaints in zip(documents or [], given, strict=True)]
    runs: tuple[TranslateMode, ...] = ("off", "always") if translate == "both" else (translate,)
    for run in runs:
        translated(settings, run)  # refused before anything is judged
    every = (document for each in known for document in each.by_id.values())
    with offline_terms(settings, every) as settings, progress("judging", _total(files)) as bar:
        found = asyncio.run(_judged(files, _for_each(files, known), settings, runs, bar))
    found.tell()
    _show(found, settings, plot, as_json=as_json)
    unmet = ExitCode.UNREACHABLE if found.untranslated and "always" in runs else ExitCode.DONE
    raise typer.Exit(max(unmet, *(each.exit_code for each in (*given, *found.complaints))))


def _for_each(files: Sequence[Path], known: Sequence[GivenDocuments]) -> Sequence[GivenDocuments]:
    if len(known) == len(files):
        return known
    if len(known) > 1:
        raise WrongUsage("--documents: give one for all FILEs, or one for each of them in their order")
    return [*(known or [GivenDocuments({})])] * len(files)


def _documents(path: Path, complaints: Complaints) -> GivenDocuments:
    lines = complaints.without_bad(read(path, KnowledgeDocument))
    return GivenDocuments({document.document_id: document for _, document in lines})


def _total(files: Sequence[Path]) -> int | None:
    counts = [count(path) for path in files]
    return None if None in counts else sum(filter(None, counts))


async def _judged(
    files: Sequence[Path],
    documents: Sequence[GivenDocuments],
    settings: Settings,
    runs: Sequence[TranslateMode],
    bar: Progress,
) -> Judged:
    from streams.cli.evaluate.rated import Judged, Source, judged_lines  # noqa: PLC0415 - needs scipy

    scoring, now = settings.scoring, datetime.now(UTC)
    options = scorer_options(settings)
    pool = ScoringPool(settings.policy, scoring.profile, scoring.processes, scoring.timeout, options)
    async with pool, AsyncExitStack() as stack:
        ways = [
            await stack.enter_async_context(open_file_translation(translated(settings, run))) for run in runs
        ]
        sources = [
            Source(
                path, [OfflineJudge(settings, pool, given, now, way) for way in ways], Complaints(str(path))
            )
            for path, given in zip(files, documents, strict=True)
        ]
        limit = scoring.processes * _WAITING_EACH
        async with aclosing(judged_lines(sources, limit, bar)) as answers:
            return Judged(runs, sources, [cases async for cases in answers])


def _show(found: Judged, settings: Settings, plot: Path | None, *, as_json: bool) -> None:
    from scoring.evaluation import report  # noqa: PLC0415 - needs scipy
    from streams.cli.evaluate.tables import tables  # noqa: PLC0415 - needs scipy

    if not found.says_something:
        raise CommandFailed("nothing to evaluate: no answer has a rating or a message_type")
    whole = report(found.cases)
    if plot:
        draw_to(plot, found.cases)
    if as_json:
        write_line(json_line({**found.described(), **_versions(settings), **asdict(whole)}))
    else:
        console = ResultConsole()
        for part in tables(whole):
            console.print(part)


def _versions(settings: Settings) -> dict[str, str]:
    return {
        "profile": settings.scoring.profile,
        "policy_version": settings.policy.identity,
        "scorer_version": SCORER_VERSION,
    }
