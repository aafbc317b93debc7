"""The entry point: parse the command line, run the command, and turn its failure into an exit code."""

import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Annotated

import structlog
import typer
from aiokafka.errors import KafkaError

from schemas import RegistryUnreachable
from streams.cli.command_output import (
    CommandFailed,
    ExitCode,
    OutputFailed,
    check_standard_output,
    say,
    write_line,
)
from streams.cli.company_terms_commands import app as company_terms_app
from streams.cli.dead_letters.dead_letter_commands import app as dead_letters_app
from streams.cli.demo.demo_command import demo
from streams.cli.document_commands import app as documents_app
from streams.cli.document_commands import publish_documents
from streams.cli.evaluate.evaluate_command import evaluate
from streams.cli.explain_command import explain
from streams.cli.judge_commands import app as judge_app
from streams.cli.monitoring_commands import app as monitoring_app
from streams.cli.pause_commands import pause, paused, resume
from streams.cli.policy.policy_commands import app as policy_app
from streams.cli.review_commands import app as reviews_app
from streams.cli.score_command import score
from streams.cli.search_command import search
from streams.cli.service_commands import desk, health, serve, worker
from streams.cli.settings_commands import app as settings_app
from streams.cli.stream_commands import replay, tail, try_out
from streams.cli.topic_commands import app as topics_app
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.observability.failures import InfrastructureFailure
from streams.settings import InvalidSettings

NAME = "truthgate"

app = typer.Typer(
    name=NAME,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_command: Callable[..., None]
for _command in (demo, worker, serve, desk, health):
    app.command()(_command)
app.command("try")(try_out)
for _command in (score, evaluate, search, replay, publish_documents, tail, explain, pause, resume, paused):
    app.command()(_command)
app.add_typer(company_terms_app, name="company-terms")
app.add_typer(company_terms_app, name="lexicon", hidden=True)  # its former name
app.add_typer(documents_app, name="documents")
app.add_typer(topics_app, name="topics")
app.add_typer(settings_app, name="settings")
app.add_typer(dead_letters_app, name="dead-letters")
app.add_typer(reviews_app, name="reviews")
app.add_typer(policy_app, name="policy")
app.add_typer(judge_app, name="judge")
app.add_typer(monitoring_app, name="monitoring")


def _print_version(wanted: bool) -> None:
    if wanted:
        write_line(f"{NAME} {version(NAME)}")
        raise typer.Exit


@app.callback()
def truthgate(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Decide about every answer of a support chatbot: send it, have a person review it, or block it.

    Start with `truthgate demo`, which needs only this package.

    Exit codes: 0 success, 1 bad input, 2 wrong usage or settings, 3 a service is unreachable, 70 an error of
    the program itself, 130 interrupted.
    """


def main() -> None:
    """Run the command line of this process and exit."""
    try:
        check_standard_output()
    except OutputFailed as error:
        say(str(error))
        sys.exit(error.code)
    # Commands print what their user must know; only the worker writes a log.
    logging.getLogger().addHandler(logging.NullHandler())
    structlog.configure(logger_factory=structlog.stdlib.LoggerFactory())  # its default is standard output
    if f"_{NAME.upper()}_COMPLETE" in os.environ:  # a shell requests completions, which typer handles
        app(prog_name=NAME)
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; each error is one line on standard error."""
    code = int(ExitCode.DONE)
    try:
        command = typer.main.get_command(app)
        try:
            with command.make_context(NAME, list(arguments) or ["--help"]) as context:
                command.invoke(context)
        except typer.Exit as done:
            code = done.exit_code
        sys.stdout.flush()
    except BrokenPipeError:
        _leave_output()
        return ExitCode.BROKEN_PIPE
    except SystemExit as ended:
        # Help is printed by rich, which exits when the reader of the pipe has left.
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        return ExitCode.BROKEN_PIPE
    except BaseException as error:
        if (found := _code_and_message(error)) is None:
            raise
        if isinstance(error, OutputFailed):
            _leave_output()
        code, message = found
        for line in (message, *(error.more if isinstance(error, InvalidSettings) else ())):
            say(line)
    return code


def _code_and_message(error: BaseException) -> tuple[int, str] | None:
    """Return what a command tells its user; None for a defect, of which the traceback is wanted."""
    code, message = int(ExitCode.UNREACHABLE), str(error)
    match error:
        case KeyboardInterrupt():
            code, message = ExitCode.INTERRUPTED, "interrupted"
        case typer.TyperException():
            sentence = " ".join(error.format_message().split()).rstrip(".").replace(": Value error, ", ": ")
            code, message = ExitCode.WRONG_USAGE, f"{sentence} (see --help)"
        case InvalidSettings():
            code = ExitCode.WRONG_USAGE
        case CommandFailed():
            code = error.code
        case InfrastructureFailure():
            code = error.exit_code
        case KafkaError():
            message = f"Kafka failed: {type(error).__name__}"
        case ServiceUnreachable() | RegistryUnreachable():
            pass
        case _:
            return None
    return code, message


def _leave_output() -> None:
    # Nothing more can be written; without this Python reports an error when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
