"""The command: reads rated files, judges their answers, and shows how good that was."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from schemas import KnowledgeDocument
from scoring.values.scored_answer import SCORER_VERSION
from streams.cli.command_files import InputErrors, count_lines
from streams.cli.command_output import CommandFailed, UsageError, json_line, progress_bar, write_line
from streams.cli.common_options import AsJson, ConfigFile, OptionalInputFiles
from streams.cli.document_sources import DocumentLanguages, FromKafka, errors_for, read_documents
from streams.cli.evaluate.extras import check_plot, draw_to, require_package
from streams.cli.evaluate.file_scoring import score_files
from streams.cli.evaluate.opinion_files import (
    ConfidenceOption,
    FlipOption,
    JudgeEvaluation,
    OpinionFile,
    OpinionFiles,
    SeedOption,
    SimulationOptions,
    TauOption,
)
from streams.cli.evaluate.rated_files import EvaluatedAnswers
from streams.cli.evaluate.scoring_variants import (
    HEADING,
    HEADING_OF_REST,
    AutoSendAt,
    BlockBelow,
    ContextChoice,
    PolicyFile,
    ScoringVariant,
    TranslateChoice,
    WhatIf,
    select_variants,
)
from streams.cli.evaluate.verdict_comparison import CompareFiles, show_comparison
from streams.cli.scoring_options import (
    ProcessesOption,
    ProfileName,
    apply_options,
    prepare_processes,
    with_translation_mode,
)
from streams.cli.verdict_rendering import ResultConsole
from streams.documents.company_terms import offline_terms
from streams.pipeline.context import StaticDocuments
from streams.scorers.options import scorer_options
from streams.settings import Settings, load_settings

Documents = Sequence[KnowledgeDocument]

_BESIDE_COMPARE: Final = frozenset({"compare", "files", "as_json"})


def evaluate(
    called: typer.Context,
    files: OptionalInputFiles = None,
    documents: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            metavar="FILE|FOLDER",
            help="JSONL, or a folder of pages, that document_ids are resolved from, and that is searched for "
            "answers which bring neither these nor context: one for all FILEs, or one for each in order.",
        ),
    ] = None,
    documents_language: DocumentLanguages = None,
    from_kafka: FromKafka = False,
    profile: Annotated[
        list[ProfileName] | None,
        typer.Option("--profile", help="The scorer profile; may be repeated, which compares."),
    ] = None,
    context: Annotated[
        ContextChoice,
        typer.Option(
            help="The context that answers bring, or passages of --documents that are retrieved in its "
            "place; both compares."
        ),
    ] = "given",
    translate: Annotated[
        TranslateChoice, typer.Option(help="Score a translation; both compares with scoring natively.")
    ] = "off",
    auto_send_at: AutoSendAt = None,
    block_below: BlockBelow = None,
    policy: PolicyFile = None,
    compare: CompareFiles = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False, metavar="FILE", help="Draw ratings against scores, and judges, as .png or .svg."
        ),
    ] = None,
    opinions: OpinionFiles = None,
    tau: TauOption = 0.9,
    flip: FlipOption = None,
    confidence: ConfidenceOption = "both",
    seed: SeedOption = 0,
    processes: ProcessesOption = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show how well scores, message types and decisions agree with people, for JSONL files of rated answers.

    A line is that of `score` with `rating` (1 to 5), and, where known, `rating_second` and
    `message_type`. Intervals are of 95%. A malformed line is named on standard error, the rest is
    evaluated, and the exit code is 1; lines without a rating are named and counted out. Where a
    translation is asked for by always or both and cannot be had, the exit code is 3. Where answers took
    longer to score than scoring.timeout_seconds, and so have no score, it is 1, and so it is where they
    name documents that are not there.

    With --profile given twice the answers are scored by one profile after the other, and both stand side by
    side. Answers rated 4 and 5 are true, those rated 1 and 2 untrue, unless a line has a `label`. For each
    profile it shows how many of both were sent, reviewed and blocked, in how many each check found something,
    and the ids of the answers that were routed wrongly: untrue and sent, or true and blocked.

    With --auto-send-at, --block-below or --policy it shows what another policy would make of the same
    scores: where true and untrue answers go under today's and under it, and which answers change. What
    judges would say is not in it.

    With --compare two files of verdicts, as `score` writes them, are compared answer by answer, and nothing
    is judged; FILEs are then what people say of these answers, and may be left out.

    With --opinions, which takes one profile, what language models say of these answers is compared with
    people as well: ratings 4 and 5 are TRUE, 1 and 2 FALSE, 3 neither. A line may have `label` (TRUE, FALSE
    or NOT_GIVEN), `consistent` and `relevant` (true or false), which people gave the answer.

    Needs `pip install 'truthgate[evaluate]'`, and `truthgate[plot]` for --plot.

    Example: `truthgate evaluate rated.jsonl --documents help.jsonl --profile paper --profile truthgate`
    """
    require_package("scipy", "evaluate")
    if compare:
        _refuse_other_options(called)
        raise typer.Exit(show_comparison(*compare, files or [], as_json=as_json))
    if not files:
        raise UsageError("give a FILE of rated answers, or two files of verdicts with --compare")
    if plot:
        check_plot(plot, [*files, *(opinions or [])])
    settings = apply_options(load_settings(config), None, processes)
    other = WhatIf.from_options(settings.policy, policy, auto_send_at, block_below)
    profiles = [each.value for each in profile or []] or [settings.scoring.profile]
    ways = select_variants(profiles, context, translate)
    given = errors_for(documents)
    known = _known(documents or [], documents_language, settings, given, from_kafka=from_kafka)
    sources = _for_each(files, known)
    _check(ways, sources, settings)
    judging = _judging(opinions or [], ways, SimulationOptions(flip or [], confidence, seed), tau)
    ways = other.with_variant(ways) if other else ways
    lines = count_lines(*files)
    settings, on_demand = prepare_processes(settings, lines)
    every = (document for each in known for document in StaticDocuments.of(each).by_id.values())
    with (
        offline_terms(settings, every, profiles) as settings,
        # Each profile judges all lines anew.
        progress_bar("judging", lines and lines * len({way.profile for way in ways})) as bar,
    ):
        options = scorer_options(settings, on_demand=on_demand)
        found = asyncio.run(score_files(files, sources, settings, options, ways, bar))
    found.report()
    _show(found, judging, settings, ways, other, plot, as_json=as_json)
    always = any(way.translate == "always" for way in ways)
    ended = found.unserved.exit_code(translation_required=always)
    complaints = (*given, *found.errors, *judging.errors)
    raise typer.Exit(max(ended, *(each.exit_code for each in complaints), *found.missing_codes))


def _known(
    paths: Sequence[Path],
    languages: Sequence[str] | None,
    settings: Settings,
    complaints: Sequence[InputErrors],
    *,
    from_kafka: bool,
) -> list[Documents]:
    """Read the documents of each path, or those of the deployment."""
    if not paths and not from_kafka and not languages:
        return []
    read = partial(read_documents, languages=languages, settings=settings, from_kafka=from_kafka)
    if not paths:
        return [read(None, errors=[])]
    return [read([path], errors=[about]) for path, about in zip(paths, complaints, strict=True)]


def _check(ways: Sequence[ScoringVariant], documents: Sequence[Documents], settings: Settings) -> None:
    """Refuse before anything is judged."""
    for way in ways:
        with_translation_mode(settings, way.translate)
        if way.context == "retrieved" and not all(documents):
            raise UsageError("--context retrieved: needs --documents, with documents in each")
        if way.context == "retrieved" and not settings.retrieval.is_enabled:
            raise UsageError("--context retrieved: retrieval is switched off (retrieval.embedder)")


def _judging(
    opinions: Sequence[Path], ways: Sequence[ScoringVariant], weaker: SimulationOptions, tau: float
) -> JudgeEvaluation:
    """Refuse before the opinions are read, and these before anything is judged."""
    if opinions and len(ways) > 1:
        raise UsageError(
            "--opinions: compare one thing at a time; --context or --translate is both, or --profile repeated"
        )
    if weaker.flips and not opinions:
        raise UsageError("--flip: needs --opinions")
    return JudgeEvaluation([OpinionFile.of(path) for path in opinions], tau, weaker)


def _for_each(files: Sequence[Path], known: Sequence[Documents]) -> Sequence[Documents]:
    if len(known) == len(files):
        return known
    if len(known) > 1:
        raise UsageError("--documents: give one for all FILEs, or one for each of them in their order")
    return [*(known or [[]])] * len(files)


def _show(
    found: EvaluatedAnswers,
    judging: JudgeEvaluation,
    settings: Settings,
    ways: Sequence[ScoringVariant],
    other: WhatIf | None,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    from scoring.evaluation.comparison import compare_runs  # noqa: PLC0415 - needs scipy
    from scoring.evaluation.report import report  # noqa: PLC0415 - needs scipy
    from streams.cli.evaluate.comparison_tables import comparison_tables  # noqa: PLC0415 - needs scipy
    from streams.cli.evaluate.evaluation_tables import evaluation_tables  # noqa: PLC0415 - needs scipy
    from streams.cli.evaluate.judge_tables import judge_tables  # noqa: PLC0415 - needs scipy

    if not found.has_reference:
        raise CommandFailed("nothing to evaluate: no answer has a rating or a message_type")
    runs = found.cases
    # Another policy is no other way of scoring: it has tables of its own.
    changed = compare_runs(runs[ways[0].name], runs.pop(ways[-1].name)) if other else None
    whole, judged_by = report(runs), judging.runs(found)
    if plot:
        draw_to(plot, runs, judged_by)
    if as_json:
        report_of = {
            **found.described(),
            **judging.described(),
            "profiles": list(dict.fromkeys(way.profile for way in ways)),
            "policy_version": settings.policy.identity,
            "scorer_version": SCORER_VERSION,
            **asdict(whole),
            "judges": [asdict(run) for run in judged_by],
        }
        if other and changed:
            report_of["what_if"] = {**other.described(settings.policy), **asdict(changed)}
        write_line(json_line(report_of))
    else:
        console = ResultConsole()
        if changed:
            # First, since it is what was asked for, and the rest is long.
            console.print(HEADING, style="bold")
            for part in comparison_tables(changed, "today", "what if", rescored=False):
                console.print(part)
            console.print(HEADING_OF_REST, style="bold")
        for part in (*evaluation_tables(whole), *judge_tables(judged_by)):
            console.print(part)


def _refuse_other_options(called: typer.Context) -> None:
    """Refuse options beside --compare that would change nothing."""
    sources = ((name, called.get_parameter_source(name)) for name in called.params)
    given = (name for name, source in sources if source and source.name == "COMMANDLINE")
    if others := [f"--{name.replace('_', '-')}" for name in given if name not in _BESIDE_COMPARE]:
        raise UsageError(f"--compare: nothing is judged, so leave out {', '.join(others)}")
