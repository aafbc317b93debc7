"""The command `truthgate evaluate`."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import RenderableType
from rich.text import Text

from schemas import KnowledgeDocument
from scoring.policy import Policy
from scoring.values.exchange import MAX_SCORE, MIN_SCORE
from streams.cli.command_files import (
    atomic_write,
    check_not_overwriting,
    check_writable,
    count_lines,
)
from streams.cli.command_output import (
    CommandErrors,
    CommandFailed,
    ExitCode,
    UsageError,
    progress_bar,
    require_package,
    say,
    write_json,
)
from streams.cli.common_options import (
    AsJson,
    ConfigFile,
    OptionalInputFiles,
    ProcessesOption,
    ProfileName,
    apply_options,
    existing_option,
    existing_pair,
    with_translation_mode,
)
from streams.cli.document_sources import DocumentLanguages, FromKafka, read_documents
from streams.cli.evaluate.rated_files import (
    ConfidenceChoice,
    ContextChoice,
    JudgeEvaluation,
    OpinionFile,
    RatedFile,
    ScoringVariant,
    TranslateChoice,
    check_single,
    lines_of,
    other_policy,
    report_files,
    score_files,
    select_variants,
    with_policy,
)
from streams.cli.evaluate.verdict_comparison import show_comparison
from streams.cli.verdict_rendering import ResultConsole
from streams.documents.company_terms import offline_terms
from streams.pipeline.context import StaticDocuments
from streams.scorers.options import scorer_options
from streams.settings import Settings, load_settings

if TYPE_CHECKING:
    from scoring.evaluation.report import Report
    from streams.cli.evaluate.fail_if import Condition, Measures

_PLOT_FORMATS = {".png": "png", ".svg": "svg"}
_OPTIONS_OF_COMPARE: Final = frozenset({"compare", "files", "as_json"})


def evaluate(
    called: typer.Context,
    files: OptionalInputFiles = None,
    documents: Annotated[
        list[Path] | None,
        existing_option(
            "JSONL, or a folder of pages: document_ids are looked up in it, and answers with neither "
            "document_ids nor context search it. One for all FILEs, or one for each in order.",
            folders=True,
        ),
    ] = None,
    documents_language: DocumentLanguages = None,
    from_kafka: FromKafka = False,
    profile: Annotated[
        list[ProfileName] | None, typer.Option(help="The scorer profile; repeat it to compare profiles.")
    ] = None,
    context: Annotated[
        ContextChoice,
        typer.Option(
            help="The context of the answers, or passages retrieved from --documents instead; both compares."
        ),
    ] = "given",
    translate: Annotated[
        TranslateChoice, typer.Option(help="Score a translation; both compares with scoring untranslated.")
    ] = "off",
    auto_send_at: Annotated[
        float | None,
        typer.Option(min=MIN_SCORE, max=MAX_SCORE, help="Evaluate a policy that sends from this score on."),
    ] = None,
    block_below: Annotated[
        float | None,
        typer.Option(min=MIN_SCORE, max=MAX_SCORE, help="Evaluate a policy that blocks below this score."),
    ] = None,
    policy: Annotated[
        Path | None,
        existing_option(
            "Evaluate the policy of this TOML file: a section [policy] as in the settings, with "
            "overrides per message type and language; other values are those of the settings."
        ),
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="VERDICTS VERDICTS",
            callback=existing_pair,
            help="Compare two files of verdicts on the same answers, as `score` writes them; nothing is "
            "scored.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            metavar="FILE",
            help="Plot ratings against scores, risk against coverage, and judges, as .png or .svg.",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--csv", dir_okay=False, metavar="FILE", help="Write scores, decisions and features as CSV."
        ),
    ] = None,
    fail_if: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITIONS",
            help="Exit with code 1 if one of these holds, e.g. 'untrue > 2% or sent_true < previous - 5%'.",
        ),
    ] = None,
    previous: Annotated[
        Path | None, existing_option("The report that `previous` in --fail-if is: one of --json.")
    ] = None,
    opinions: Annotated[
        list[Path] | None,
        existing_option("Opinions on these answers that `judge import` wrote; repeat it to compare judges."),
    ] = None,
    tau: Annotated[
        float, typer.Option(min=0, max=1, help="The confidence from which opinions decide.")
    ] = 0.9,
    flip: Annotated[
        list[float] | None,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="Simulate a judge with this share of its labels inverted, e.g. .1; may be repeated.",
        ),
    ] = None,
    confidence: Annotated[
        ConfidenceChoice, typer.Option(help="The confidence of the simulated judge.")
    ] = "both",
    seed: Annotated[int, typer.Option(min=0, help="The random seed of the simulation.")] = 0,
    processes: ProcessesOption = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Evaluate how well scores, message types and decisions agree with the ratings in JSONL files.

    A line is that of `score` with a `rating` (1 to 5, or the mean of several reviewers' ratings) and, if
    known, `rating_first` and `rating_second` of two reviewers, to compare with each other, and
    `message_type`. Intervals are of 95%: Wilson's where answers are counted, otherwise bootstrapped; these
    are omitted of fewer than 10 answers of a kind, and where over 5% of resamples are undefined. Lines
    without a rating are named and excluded. Exit code 1: a line is malformed (it is named on standard error,
    the others are evaluated), an answer exceeded scoring.timeout_seconds, and so has no score, or documents
    of an answer are missing. Exit code 3: --translate always or both could not translate.

    With --profile given twice the answers are scored with each profile, and both are compared. Answers rated
    4 and 5 are true, those rated 1 and 2 untrue, unless a line has a `label`. For each profile the tables
    count how many of both were sent, sent to review and blocked, and in how many each check found something,
    and list the ids of the misrouted answers: untrue and sent, or true and blocked.

    --auto-send-at, --block-below or --policy evaluate another policy on the same scores: where true and
    untrue answers go under the current policy and the other one, and which answers change. Opinions of
    judges are not included.

    --compare compares two files of verdicts, as `score` writes them, answer by answer, and scores nothing;
    FILEs are then the ratings of these answers, and optional.

    --opinions, with one profile, also compares the opinions of language models with the ratings: 4 and 5 are
    TRUE, 1 and 2 FALSE, 3 neither. A line may have `label` (TRUE, FALSE or NOT_GIVEN), `consistent` and
    `relevant` (true or false), which reviewers gave the answer.

    --fail-if takes conditions joined by `or`: a measure, one of > >= < <=, and a number, a percentage, or
    `previous`, with or without `+` or `-` and a number or percentage (points). Measures are `sent`, `review`
    and `blocked` (of the rated answers), `untrue` (of all sent), `sent_true` and `blocked_true` (of the true
    answers), `sent_untrue` and `blocked_untrue` (of the untrue ones), `spearman` and `auroc` of the score. An
    undefined measure counts as failed. Each condition that holds is named on standard error: exit code 1.

    Needs `pip install 'truthgate[evaluate]'`, and `truthgate[plot]` for --plot.

    Example: `truthgate evaluate rated.jsonl --documents help.jsonl --profile paper --profile truthgate`
    """
    require_package("scipy", "evaluate")
    if compare:
        _refuse_other_options(called)
        raise typer.Exit(show_comparison(*compare, files or [], as_json=as_json))
    if not files:
        raise UsageError("give a FILE of rated answers, or two files of verdicts with --compare")
    _check_outputs(plot, table, [*files, *(opinions or [])])
    conditions, earlier = _read_conditions(fail_if, previous)
    settings, errors = load_settings(config), CommandErrors()
    other = other_policy(settings.policy, policy, auto_send_at, block_below)
    profiles = [each.value for each in profile or []] or [settings.scoring.profile]
    variants = select_variants(profiles, context, translate)
    read = partial(
        read_documents, languages=documents_language, settings=settings, errors=errors, from_kafka=from_kafka
    )
    known = [read([path]) for path in documents or []] or [read(None)]
    known = known * len(files) if len(known) == 1 else known
    _check_variants(variants, known, len(files), settings)
    for option, given in (("--opinions", opinions), ("--fail-if", conditions)):
        if given:
            check_single(variants, option)
    if flip and not opinions:
        raise UsageError("--flip: needs --opinions")
    read_opinions = [OpinionFile.read(path, errors.of(path)) for path in opinions or []]
    judges = JudgeEvaluation(read_opinions, tau, flip or [], confidence, seed)
    variants = with_policy(variants, other) if other else variants
    lines = count_lines(*files)
    settings, on_demand = apply_options(settings, processes, lines)
    every = (document for each in known for document in StaticDocuments.of(each).by_id.values())
    with (
        offline_terms(settings, every, profiles) as settings,
        # Each profile scores all lines.
        progress_bar("scoring", lines and lines * len({variant.profile for variant in variants})) as bar,
    ):
        options = scorer_options(settings, on_demand=on_demand)
        found = asyncio.run(score_files(files, known, settings, options, variants, errors, bar))
    report_files(found, errors)
    whole = _show(found, judges, settings, variants, other, plot, table, as_json=as_json)
    required = any(variant.translate == "always" for variant in variants)
    measures = whole.runs[0].summary.measures
    failures = [failure for each in conditions if (failure := each.failure(measures, earlier))]
    for failure in failures:
        say(f"--fail-if {failure}")
    code = errors.exit_code(translation_required=required)
    raise typer.Exit(max(code, ExitCode.BAD_INPUT) if failures else code)


def _read_conditions(text: str | None, previous: Path | None) -> "tuple[Sequence[Condition], Measures]":
    from streams.cli.evaluate.fail_if import parse_conditions, read_previous  # noqa: PLC0415 - needs scipy

    conditions = parse_conditions(text) if text is not None else []
    return conditions, read_previous(previous, conditions)


def _check_variants(
    variants: Sequence[ScoringVariant],
    documents: Sequence[Sequence[KnowledgeDocument]],
    files: int,
    settings: Settings,
) -> None:
    """Check the variants, and the documents of each of the files, before anything is scored."""
    if len(documents) != files:
        raise UsageError("--documents: give one for all FILEs, or one for each of them in their order")
    for variant in variants:
        with_translation_mode(settings, variant.translate)
        if variant.context == "retrieved" and not all(documents):
            raise UsageError("--context retrieved: needs --documents, with documents in each")
        if variant.context == "retrieved" and not settings.retrieval.is_enabled:
            raise UsageError("--context retrieved: retrieval is off (retrieval.embedder)")


def _show(
    found: Sequence[RatedFile],
    judges: JudgeEvaluation,
    settings: Settings,
    variants: Sequence[ScoringVariant],
    other: Policy | None,
    plot: Path | None,
    table: Path | None,
    *,
    as_json: bool,
) -> "Report":
    """Report on the scored files: a plot and a CSV file where asked for, then tables or JSON.

    Raises CommandFailed if no answer has a rating or a message type, or a file cannot be written.
    """
    from scoring.evaluation.comparison import compare_runs  # noqa: PLC0415 - needs scipy
    from scoring.evaluation.report import report  # noqa: PLC0415 - needs scipy
    from streams.cli.evaluate.evaluation_files import (  # noqa: PLC0415 - needs scipy
        compare_policies,
        evaluation_report,
        write_csv,
    )
    from streams.cli.evaluate.evaluation_tables import (  # noqa: PLC0415 - needs scipy
        comparison_tables,
        evaluation_tables,
    )
    from streams.cli.evaluate.judge_tables import judge_tables  # noqa: PLC0415 - needs scipy

    lines = lines_of(found)
    runs = {each.name: [line.cases[index] for line in lines] for index, each in enumerate(variants)}
    first = runs[variants[0].name]
    if all(case.rating is None and case.labelled is None for case in first):
        raise CommandFailed("nothing to evaluate: no answer has a rating or a message_type")
    # Another policy is not another way of scoring: it has tables of its own.
    changed = compare_runs(first, runs.pop(variants[-1].name)) if other else None
    whole, judge_runs = report(runs), judges.runs(lines)
    if plot:
        from streams.cli.evaluate.evaluation_plot import draw  # noqa: PLC0415 - needs matplotlib

        with atomic_write(plot) as partial_file:
            draw(partial_file, _PLOT_FORMATS[plot.suffix.lower()], runs, judge_runs)
    if table:
        write_csv(table, runs)
    if as_json:
        what_if = compare_policies(settings.policy, other, changed) if other and changed else None
        write_json(
            asdict(evaluation_report(whole, found, variants, judges, judge_runs, settings.policy, what_if))
        )
        return whole
    parts: list[RenderableType] = [*evaluation_tables(whole), *judge_tables(judge_runs)]
    if changed:
        # First, since it was asked for, and the rest is long.
        first_parts = comparison_tables(changed, "current", "other", rescored=False)
        first_heading = Text("The same scores under another policy", "bold")
        parts = [first_heading, *first_parts, Text("The current policy", "bold"), *parts]
    console = ResultConsole()
    for part in parts:
        console.print(part)
    return whole


def _refuse_other_options(called: typer.Context) -> None:
    """Refuse options that have no effect with --compare."""
    sources = ((name, called.get_parameter_source(name)) for name in called.params)
    given = (name for name, source in sources if source and source.name == "COMMANDLINE")
    if others := [f"--{name.replace('_', '-')}" for name in given if name not in _OPTIONS_OF_COMPARE]:
        raise UsageError(f"--compare: nothing is scored, so omit {', '.join(others)}")


def _check_outputs(plot: Path | None, table: Path | None, inputs: Sequence[Path]) -> None:
    """Check that a plot can be drawn, and a table be written; raises CommandFailed."""
    if plot and plot.suffix.lower() not in _PLOT_FORMATS:
        raise UsageError(f"--plot {plot}: the name must end in {' or '.join(_PLOT_FORMATS)}")
    for option, path in (("--plot", plot), ("--csv", table)):
        if path:
            check_not_overwriting(path, inputs, option)
            check_writable(path)
    if plot:
        require_package("matplotlib", "plot")
