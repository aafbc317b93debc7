"""``truthgate judge export`` and ``import``: rounds of requests and replies, until there are opinions."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from scoring.values.rules import Reason
from streams.cli.command_files import (
    InputErrors,
    check_not_overwriting,
    count_lines,
    open_output,
    read_records,
)
from streams.cli.command_output import ExitCode, UsageError, json_line, plural, progress_bar, say
from streams.cli.common_options import ConfigFile, InputFile
from streams.cli.document_sources import errors_for, read_documents
from streams.cli.judge.judge_inputs import (
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
from streams.cli.scoring_options import ServiceFailures
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

app = typer.Typer(help="Have language models judge a file of answers, by batch files.")

_DocumentsFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--documents",
        exists=True,
        dir_okay=False,
        metavar="FILE",
        help="JSONL that document_ids are resolved from, and that is searched for answers which bring "
        "neither these nor context; may be repeated, which takes all together.",
    ),
]
_Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where the lines go; default: standard output."),
]


@app.command("export")
def export(
    file: InputFile,
    method: MethodOption,
    documents: _DocumentsFiles = None,
    reference: ReferenceOption = Reference.DOCUMENTS,
    judge_option: JudgeOption = None,
    model: ModelOption = None,
    output: _Output = None,
    config: ConfigFile = None,
) -> None:
    """Write the first requests of a method for a JSONL file of answers, in OpenAI's batch format.

    Each request stands there once, its `custom_id` a hash of all that is in it. Ratings are never part of
    one. Have them replied to, and give the replies to `truthgate judge import`.

    Example: `truthgate judge export rated.jsonl --documents help.jsonl -m single -o requests.jsonl`
    """
    options, settings = judge_options(judge_option or []), load_settings(config)
    asked_of = judge_models(model or [], options, settings.judges)
    answers = _AnswerFile(file, documents, reference, output)
    asked = answers.read(settings)
    found = batch_progress((each.case for each in asked), method, options, BatchReplies())
    _write(_requests(found, asked_of), output)
    say(f"{plural(len(found.requests), 'request')} for {plural(len(asked), 'answer')}")
    raise typer.Exit(answers.exit_code)


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
            help="Replies in OpenAI's batch output format; may be repeated: those of all rounds so far.",
        ),
    ],
    documents: _DocumentsFiles = None,
    reference: ReferenceOption = Reference.DOCUMENTS,
    judge_option: JudgeOption = None,
    model: ModelOption = None,
    give_up: Annotated[
        bool,
        typer.Option(
            "--give-up", help="Ask no more: what has no reply has failed, and opinions are written."
        ),
    ] = False,
    output: _Output = None,
    config: ConfigFile = None,
) -> None:
    """Take the replies of all rounds so far and write the next requests, or the opinions when all are there.

    FILE, documents, reference, method and its options must be those of `export`. What was answered by an
    error, or not at all, is among the next requests again. A malformed line is named on standard error, and
    replies to requests that nobody made are counted there; the exit code is 1 then.
    `truthgate evaluate --opinions` reads the opinions.

    Example: `truthgate judge import a.jsonl --documents help.jsonl -m single --replies r1.jsonl -o r2.jsonl`
    """
    options, settings = judge_options(judge_option or []), load_settings(config)
    asked_of = judge_models(model or [], options, settings.judges)
    answers = _AnswerFile(file, documents, reference, output, replies)
    asked = answers.read(settings)
    complaints = [InputErrors(str(path)) for path in replies]
    known = BatchReplies(give_up=give_up)
    for path, about in zip(replies, complaints, strict=True):
        for _, line in about.good_lines(read_records(path, ReplyLine)):
            known.add(line)
    found = batch_progress((each.case for each in asked), method, options, known)
    done = not found.requests
    _write(_opinions(asked, found) if done else _requests(found, asked_of), output)
    _tell(found, known)
    strange = ExitCode.BAD_INPUT if known.unused else ExitCode.DONE
    raise typer.Exit(max(answers.exit_code, strange, *(each.exit_code for each in complaints)))


class _AnswerFile:
    """The answers of a file and their documents, and what was wrong with them."""

    def __init__(
        self,
        file: Path,
        documents: Sequence[Path] | None,
        reference: Reference,
        output: Path | None,
        others: Iterable[Path] = (),
    ) -> None:
        if documents and reference is Reference.EXPECTED:
            raise UsageError("--documents: answers are compared with expected_answer, and with no document")
        check_not_overwriting(output, [file, *(documents or ()), *others])
        self._file, self._documents, self._reference = file, documents, reference
        self._complaints = InputErrors(str(file))
        self._missing = errors_for(documents)
        self._unserved = ServiceFailures()

    def read(self, settings: Settings) -> list[AnswerToJudge]:
        """Read them; raises as :func:`read_with_documents` does."""
        known = read_documents(self._documents, None, settings, self._missing)
        with progress_bar("reading answers", count_lines(self._file)) as bar:
            if self._reference is Reference.EXPECTED:
                asked = read_with_expected(self._file, self._complaints, bar)
            else:
                asked = read_with_documents(self._file, known, settings, self._complaints, bar)
        for each in asked:
            self._unserved.add(each.degraded)
        self._unserved.report()
        if short := sum(Reason.CONTEXT_MISSING in each.degraded for each in asked):
            say(f"{plural(short, 'answer')} whose documents are not there: degraded {Reason.CONTEXT_MISSING}")
        return asked

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends, as far as they are concerned."""
        searched = self._unserved.exit_code(translation_required=False)
        wrong = (self._complaints, *self._missing)
        return max(searched, *(each.exit_code for each in wrong))


def _requests(found: BatchProgress, asked_of: JudgeModels) -> Iterable[dict[str, Any]]:
    return (request_line(request, asked_of) for request in found.requests)


def _opinions(asked: Sequence[AnswerToJudge], found: BatchProgress) -> Iterable[dict[str, Any]]:
    pairs = zip(asked, found.opinions, strict=True)
    return (opinion_line(each.key, opinion) for each, opinion in pairs if opinion is not None)


def _write(lines: Iterable[dict[str, Any]], output: Path | None) -> None:
    with open_output(output) as sink:
        for line in lines:
            sink.write(json_line(line) + "\n")


def _tell(found: BatchProgress, known: BatchReplies) -> None:
    if known.unused:
        say(f"{plural(len(known.unused), 'reply', 'replies')} to requests that are not made here")
    if known.repeated:
        say(f"{plural(known.repeated, 'reply', 'replies')} to requests with one already: the first counts")
    if known.failed:
        say(f"{plural(len(known.failed), 'request')} answered by an error")
    if found.requests:
        waiting, every = found.opinions.count(None), plural(len(found.opinions), "answer")
        say(f"{plural(len(found.requests), 'request')} to send next, for {waiting} of {every}")
    else:
        say(f"{plural(len(found.opinions), 'opinion')}: no more requests")
