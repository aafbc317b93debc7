"""`truthgate judge`: opinions of language models by batch files, in rounds of requests and replies."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from pydantic import TypeAdapter, ValidationError
from rich.progress import Progress

from schemas import KnowledgeDocument, RatedAnswer
from scoring.judges import METHODS, Case, ExamplesError, JudgeOptions, ReferenceAnswer, read_examples_file
from scoring.values.rules import Reason
from streams.cli.command_files import (
    check_not_overwriting,
    count_lines,
    map_good_lines,
    open_output,
    read_records,
)
from streams.cli.command_output import (
    CommandErrors,
    ExitCode,
    InputErrors,
    UsageError,
    indexing_bar,
    json_line,
    plural,
    progress_bar,
    report_opinions,
    say,
)
from streams.cli.common_options import ConfigFile, InputFile, existing_option
from streams.cli.document_sources import read_documents
from streams.llm.batches import (
    AnswerKey,
    BatchProgress,
    BatchReplies,
    JudgeModels,
    ReplyLine,
    batch_progress,
    opinion_line,
    request_line,
)
from streams.observability.failures import Stage
from streams.pipeline.context import StaticDocuments, resolve_context
from streams.pipeline.pipeline import map_failures
from streams.pipeline.verdict import make_exchange
from streams.search.on_demand import open_on_demand_retriever
from streams.settings import JudgeSettings, Settings, load_settings
from streams.translating.opening import FILE_TIMEOUT_SECONDS

app = typer.Typer(help="Ask language models for opinions on a file of answers, by batch files.")

# Only searches take time, and they share one model.
_CONCURRENT_SEARCHES = 8

#: Parsers of the options that are not plain text.
_PARSERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "judges": lambda value: tuple(filter(None, value.split(","))),
    "examples": lambda value: read_examples_file(Path(value)),
}
_NAMES = tuple(field.name for field in fields(JudgeOptions))
_options = TypeAdapter(JudgeOptions)


def _check_method(method: str) -> str:
    if method not in METHODS:
        raise typer.BadParameter(f"{method} is not one of {', '.join(METHODS)}")
    return method


MethodOption = Annotated[
    str,
    typer.Option(
        "--method", "-m", metavar="METHOD", callback=_check_method, help=f"One of {', '.join(METHODS)}."
    ),
]
JudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--judge-option",
        metavar="NAME=VALUE",
        help=f"A parameter of the method: {', '.join(_NAMES)}. Judges are separated by commas; examples is a "
        "JSONL file. May be repeated.",
    ),
]
ModelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="[JUDGE=]MODEL",
        help="The model of a judge, or of all judges; default: that of the endpoint of this name in the "
        "settings, or else the judge's name. May be repeated.",
    ),
]


Reference = Literal["documents", "expected"]
ReferenceOption = Annotated[
    Reference,
    typer.Option(
        "--reference",
        help="What answers are compared with: their documents, or the expected_answer of their line, as test "
        "sets have it.",
    ),
]
_DocumentFiles = Annotated[
    list[Path] | None,
    existing_option(
        "JSONL: document_ids are looked up in it, and answers with neither document_ids nor context "
        "search it. May be repeated; all are used together.",
        "--documents",
    ),
]
_Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Requests or opinions; default: standard output."),
]


@app.command("export")
def export(
    file: InputFile,
    method: MethodOption,
    documents: _DocumentFiles = None,
    reference: ReferenceOption = "documents",
    judge_option: JudgeOption = None,
    model: ModelOption = None,
    output: _Output = None,
    config: ConfigFile = None,
) -> None:
    """Write the first requests of a method for a JSONL file of answers, in OpenAI's batch format.

    Each request is written once; its `custom_id` is a hash of its content. Ratings are never part of a
    request. Run the batch, and give the replies to `truthgate judge import`.

    Example: `truthgate judge export rated.jsonl --documents help.jsonl -m single -o requests.jsonl`
    """
    known = BatchReplies()
    progress, errors = _run_round(
        file, method, documents, reference, judge_option, model, [], known, output, config
    )
    say(f"{plural(len(progress.requests), 'request')} for {plural(len(progress.opinions), 'answer')}")
    raise typer.Exit(errors.exit_code())


@app.command("import")
def import_replies(
    file: InputFile,
    method: MethodOption,
    replies: Annotated[
        list[Path],
        existing_option(
            "Replies in OpenAI's batch output format; repeat it for the replies of all rounds so far."
        ),
    ],
    documents: _DocumentFiles = None,
    reference: ReferenceOption = "documents",
    judge_option: JudgeOption = None,
    model: ModelOption = None,
    give_up: Annotated[
        bool,
        typer.Option(
            "--give-up",
            help="Stop asking: a request without a reply counts as failed, and opinions are written.",
        ),
    ] = False,
    output: _Output = None,
    config: ConfigFile = None,
) -> None:
    """Read the replies of all rounds so far, and write the next requests, or the opinions if complete.

    FILE, documents, reference, method and its options must be those of `export`. Requests with an error, or
    without a reply, are repeated. A malformed line is named on standard error, replies to unknown requests
    are counted there, and the exit code is then 1. `truthgate evaluate --opinions` reads the opinions.

    Example: `truthgate judge import a.jsonl --documents help.jsonl -m single --replies r1.jsonl -o r2.jsonl`
    """
    known = BatchReplies(give_up=give_up)
    progress, errors = _run_round(
        file, method, documents, reference, judge_option, model, replies, known, output, config
    )
    if known.unused:
        say(f"{plural(len(known.unused), 'reply', 'replies')} to unknown requests")
    if known.repeated:
        say(f"{plural(known.repeated, 'repeated reply', 'repeated replies')}: the first one counts")
    if known.failed:
        say(f"{plural(len(known.failed), 'request')} failed")
    if progress.requests:
        pending, total = progress.opinions.count(None), plural(len(progress.opinions), "answer")
        say(f"{plural(len(progress.requests), 'request')} to send next, for {pending} of {total}")
    else:
        opinions = [opinion for opinion in progress.opinions if opinion is not None]
        say(f"{plural(len(opinions), 'opinion')}, complete: no more requests")
        report_opinions(file, opinions, load_settings(config).policy.send_confidence)
    raise typer.Exit(max(errors.exit_code(), ExitCode.BAD_INPUT if known.unused else ExitCode.DONE))


def _run_round(
    file: Path,
    method: str,
    documents: Sequence[Path] | None,
    reference: Reference,
    judge_option: Sequence[str] | None,
    model: Sequence[str] | None,
    replies: Sequence[Path],
    known: BatchReplies,
    output: Path | None,
    config: Path | None,
) -> tuple[BatchProgress, CommandErrors]:
    """Add the replies to the known ones, and write the next requests, or the opinions after the last replies.

    Raises as :func:`judge_options`, :func:`judge_models` and :func:`read_with_documents` do.
    """
    options, settings, errors = judge_options(judge_option or []), load_settings(config), CommandErrors()
    models = judge_models(model or [], options, settings.judges)
    if documents and reference == "expected":
        raise UsageError("--documents: --reference expected compares answers with expected_answer only")
    check_not_overwriting(output, [file, *(documents or ()), *replies])
    texts, file_errors = read_documents(documents, None, settings, errors), errors.of(file)
    with progress_bar("reading answers", count_lines(file)) as bar:
        if reference == "expected":
            answers = read_with_expected(file, file_errors, bar)
        else:
            answers = asyncio.run(read_with_documents(file, texts, settings, file_errors, bar))
    for each in answers:
        errors.note_codes(*each.degraded)
    errors.report_codes()
    if missing := sum(Reason.CONTEXT_MISSING in each.degraded for each in answers):
        say(f"{plural(missing, 'answer')} with missing documents: degraded {Reason.CONTEXT_MISSING}")
    for path in replies:
        for _, reply in errors.of(path).good_lines(read_records(path, ReplyLine)):
            known.add(reply)
    progress = batch_progress((each.case for each in answers), method, options, known)
    lines: Iterable[dict[str, Any]] = (request_line(request, models) for request in progress.requests)
    if replies and not progress.requests:
        pairs = zip(answers, progress.opinions, strict=True)
        lines = (opinion_line(each.key, opinion) for each, opinion in pairs if opinion is not None)
    with open_output(output) as sink:
        for line in lines:
            sink.write(json_line(line) + "\n")
    return progress, errors


@dataclass(frozen=True, slots=True)
class AnswerToJudge:
    """An answer as a judge sees it, without ratings; ``degraded`` is that of its context."""

    key: AnswerKey
    case: Case
    degraded: tuple[str, ...]


async def read_with_documents(
    file: Path, documents: Sequence[KnowledgeDocument], settings: Settings, errors: InputErrors, bar: Progress
) -> list[AnswerToJudge]:
    """Read the answers of a file, retrieve their documents as `score` does, and advance the bar.

    Raises CommandFailed, or InfrastructureFailure or InvalidSettings if the documents cannot be searched.
    """
    static = StaticDocuments.of(documents)
    indexing = indexing_bar(None if bar.disable else bar)
    async with open_on_demand_retriever(documents, settings, indexing) as retriever:

        async def with_documents(rated: RatedAnswer) -> AnswerToJudge:
            answer = rated.answer
            with map_failures(Stage.ENRICH):
                context = await resolve_context(answer, static, 0, retriever, FILE_TIMEOUT_SECONDS)
            case = Case.of(make_exchange(answer, context.scoring_passages))
            return AnswerToJudge(AnswerKey.of(answer), case, context.degraded)

        lines, failure = list(read_records(file, RatedAnswer, bar)), "its documents cannot be retrieved"
        found = map_good_lines(lines, with_documents, _CONCURRENT_SEARCHES, errors, failure)
        async with aclosing(found) as answers:
            return [answer async for _, answer in answers]


def read_with_expected(file: Path, errors: InputErrors, bar: Progress) -> list[AnswerToJudge]:
    """Read the answers of a file with the expected answer of each, and advance the bar.

    A line without an expected answer is a bad line. Raises CommandFailed if the file cannot be read.
    """
    found = []
    for number, line in errors.good_lines(read_records(file, RatedAnswer, bar)):
        if line.expected_answer is None:
            errors.report(number, "expected_answer: is missing, and --reference expected needs it")
        else:
            answer = line.answer
            case = Case(answer.question, answer.answer, ReferenceAnswer(line.expected_answer))
            found.append(AnswerToJudge(AnswerKey.of(answer), case, ()))
    return found


def judge_options(given: Sequence[str]) -> JudgeOptions:
    """Parse the values of --judge-option; raises UsageError for an unknown parameter or an invalid value."""
    values: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or name not in _NAMES:
            names = ", ".join(_NAMES)
            raise UsageError(f"--judge-option {each}: expected NAME=VALUE, with NAME one of {names}")
        try:
            values[name] = _PARSERS.get(name, str)(value)
        except ExamplesError as error:
            raise UsageError(f"--judge-option examples: {error}") from error
    try:
        return _options.validate_python(values)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        option = f"--judge-option {first['loc'][0]}: " if first["loc"] else ""
        raise UsageError(f"{option}{first['msg'].removeprefix('Value error, ')}") from None


def judge_models(given: Sequence[str], options: JudgeOptions, settings: JudgeSettings) -> JudgeModels:
    """Combine the values of --model with the models of the endpoints in the settings.

    Raises UsageError if two models are for all judges, or one is for a judge that is not asked.
    """
    of_judge = dict(each.split("=", 1) for each in given if "=" in each)
    of_all = [each for each in given if "=" not in each]
    if unknown := of_judge.keys() - set(options.judges):
        raise UsageError(f"--model: {', '.join(sorted(unknown))} is not one of the judges")
    if len(of_all) > 1 or not all((*of_all, *of_judge.values())):
        raise UsageError("--model: give one model for all judges, or JUDGE=MODEL for each")
    if not of_all:
        of_judge = {name: each.model for name, each in settings.endpoints.items()} | of_judge
    return JudgeModels(of_all[0] if of_all else None, of_judge)
