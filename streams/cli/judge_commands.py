"""`truthgate judge`: opinions of language models by batch files, in rounds of requests and replies."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from scoring.values.rules import Reason
from streams.cli.command_errors import CommandErrors
from streams.cli.command_files import check_not_overwriting, count_lines, open_output, read_records
from streams.cli.command_output import ExitCode, UsageError, json_line, plural, progress_bar, say
from streams.cli.common_options import ConfigFile, InputFile
from streams.cli.document_sources import read_documents
from streams.cli.judge_inputs import (
    AnswerToJudge,
    JudgeOption,
    MethodOption,
    ModelOption,
    Reference,
    ReferenceOption,
    judge_models,
    judge_options,
    read_with_documents,
    read_with_expected,
)
from streams.llm.batches import (
    BatchProgress,
    BatchReplies,
    JudgeModels,
    ReplyLine,
    batch_progress,
    opinion_line,
    request_line,
)
from streams.settings import Settings, load_settings

app = typer.Typer(help="Ask language models for opinions on a file of answers, by batch files.")

_DocumentFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--documents",
        exists=True,
        dir_okay=False,
        metavar="FILE",
        help="JSONL: document_ids are looked up in it, and answers with neither document_ids nor context "
        "search it. May be repeated; all are used together.",
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
    reference: ReferenceOption = Reference.DOCUMENTS,
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
    options, settings, errors = judge_options(judge_option or []), load_settings(config), CommandErrors()
    models = judge_models(model or [], options, settings.judges)
    _check_files(file, documents, reference, output)
    answers = _read_answers(file, documents, reference, settings, errors)
    progress = batch_progress((each.case for each in answers), method, options, BatchReplies())
    _write(_requests(progress, models), output)
    say(f"{plural(len(progress.requests), 'request')} for {plural(len(answers), 'answer')}")
    raise typer.Exit(errors.exit_code())


@app.command("import")
def import_replies(
    file: InputFile,
    method: MethodOption,
    replies: Annotated[
        list[Path],
        typer.Option(
            exists=True,
            dir_okay=False,
            metavar="FILE",
            help="Replies in OpenAI's batch output format; repeat it for the replies of all rounds so far.",
        ),
    ],
    documents: _DocumentFiles = None,
    reference: ReferenceOption = Reference.DOCUMENTS,
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
    options, settings, errors = judge_options(judge_option or []), load_settings(config), CommandErrors()
    models = judge_models(model or [], options, settings.judges)
    _check_files(file, documents, reference, output, replies)
    answers = _read_answers(file, documents, reference, settings, errors)
    known = BatchReplies(give_up=give_up)
    for path in replies:
        for _, line in errors.of(path).good_lines(read_records(path, ReplyLine)):
            known.add(line)
    progress = batch_progress((each.case for each in answers), method, options, known)
    _write(_requests(progress, models) if progress.requests else _opinions(answers, progress), output)
    _report(progress, known)
    raise typer.Exit(max(errors.exit_code(), ExitCode.BAD_INPUT if known.unused else ExitCode.DONE))


def _check_files(
    file: Path,
    documents: Sequence[Path] | None,
    reference: Reference,
    output: Path | None,
    replies: Sequence[Path] = (),
) -> None:
    if documents and reference is Reference.EXPECTED:
        raise UsageError("--documents: --reference expected compares answers with expected_answer only")
    check_not_overwriting(output, [file, *(documents or ()), *replies])


def _read_answers(
    file: Path,
    documents: Sequence[Path] | None,
    reference: Reference,
    settings: Settings,
    errors: CommandErrors,
) -> list[AnswerToJudge]:
    """Read the answers with what they are compared with; raises as :func:`read_with_documents` does."""
    known, file_errors = read_documents(documents, None, settings, errors), errors.of(file)
    with progress_bar("reading answers", count_lines(file)) as bar:
        if reference is Reference.EXPECTED:
            answers = read_with_expected(file, file_errors, bar)
        else:
            answers = asyncio.run(read_with_documents(file, known, settings, file_errors, bar))
    for each in answers:
        errors.note_degraded(each.degraded)
    errors.report_degraded()
    if missing := sum(Reason.CONTEXT_MISSING in each.degraded for each in answers):
        say(f"{plural(missing, 'answer')} with missing documents: degraded {Reason.CONTEXT_MISSING}")
    return answers


def _requests(progress: BatchProgress, models: JudgeModels) -> Iterable[dict[str, Any]]:
    return (request_line(request, models) for request in progress.requests)


def _opinions(answers: Sequence[AnswerToJudge], progress: BatchProgress) -> Iterable[dict[str, Any]]:
    pairs = zip(answers, progress.opinions, strict=True)
    return (opinion_line(each.key, opinion) for each, opinion in pairs if opinion is not None)


def _write(lines: Iterable[dict[str, Any]], output: Path | None) -> None:
    with open_output(output) as sink:
        for line in lines:
            sink.write(json_line(line) + "\n")


def _report(progress: BatchProgress, known: BatchReplies) -> None:
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
        say(f"{plural(len(progress.opinions), 'opinion')}, complete: no more requests")
