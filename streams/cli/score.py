"""``truthgate score``: judge a file of answers without a broker."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, TextIO

import typer
from rich.progress import Progress

from schemas import to_json
from schemas.jsonl import BadLine
from schemas.records import ChatbotAnswer, KnowledgeDocument, Verdict
from streams.cli.exits import CommandFailed, ExitCode, WrongUsage
from streams.cli.feed import in_order
from streams.cli.lines import Complaints, count, opened, read
from streams.cli.options import ConfigFile, InputFile
from streams.cli.output import json_line, progress
from streams.enrichment.context import GivenDocuments
from streams.errors import BadAnswer
from streams.offline import OfflineJudge
from streams.pool import ScoringPool
from streams.settings import MOST_PROCESSES, Settings, load_settings

# Answers in work for each process: enough that none waits for input, few enough to bound memory.
_WAITING_EACH = 16

Line = tuple[int, ChatbotAnswer | BadLine]
Outcome = Verdict | BadLine


def score(
    file: InputFile,
    documents: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, metavar="FILE", help="JSONL that document_ids are resolved from."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where verdicts go; default: standard output."),
    ] = None,
    profile: Annotated[Literal["paper"] | None, typer.Option(help="The scorer profile.")] = None,
    translate: Annotated[
        Literal["off", "auto", "always"], typer.Option(help="Score a translation; needs a translator.")
    ] = "off",
    processes: Annotated[
        int | None, typer.Option(min=1, max=MOST_PROCESSES, help="Scoring processes; default: one a CPU.")
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Score a JSONL file of answers without a broker; verdicts are JSONL, in the order of the input.

    A malformed line is named on standard error, the rest is scored, and the exit code is 1.

    Example: `truthgate score chats.jsonl --documents help.jsonl --output verdicts.jsonl`
    """
    if translate != "off":
        raise WrongUsage(f"--translate {translate}: no translator is configured, so only off can be used")
    _refuse_overwriting(output, [file, documents])
    settings = _with(load_settings(config), profile, processes)
    complaints, missing = Complaints(str(file)), Complaints(str(documents))
    given = GivenDocuments(_documents(documents, missing))
    with _output(output) as sink, progress("scoring", count(file), shown=sink is not sys.stdout) as bar:
        asyncio.run(_score(file, settings, given, sink, complaints, bar))
    raise typer.Exit(max(complaints.exit_code, missing.exit_code))


def _with(settings: Settings, profile: Literal["paper"] | None, processes: int | None) -> Settings:
    chosen = {"profile": profile, "processes": processes}
    scoring = settings.scoring.model_copy(update={key: value for key, value in chosen.items() if value})
    return settings.model_copy(update={"scoring": scoring})


def _documents(path: Path | None, complaints: Complaints) -> dict[str, KnowledgeDocument]:
    lines = read(path, KnowledgeDocument) if path else ()
    return {document.document_id: document for _, document in complaints.without_bad(lines)}


async def _score(
    file: Path,
    settings: Settings,
    documents: GivenDocuments,
    sink: TextIO,
    complaints: Complaints,
    bar: Progress,
) -> None:
    chosen = settings.scoring
    async with ScoringPool(settings.policy, chosen.profile, chosen.processes, chosen.timeout) as pool:
        judge = OfflineJudge(settings, pool, documents, datetime.now(UTC))
        async with aclosing(
            judged_lines(read(file, ChatbotAnswer, bar), judge, chosen.processes * _WAITING_EACH)
        ) as outcomes:
            async for outcome in outcomes:
                _write(outcome, sink, complaints)


async def judged_lines(
    lines: Iterable[Line], judge: OfflineJudge, limit: int
) -> AsyncGenerator[Outcome, None]:
    """Judge the good lines, ``limit`` at once, and pass the bad ones on; all in the order of the input.

    An answer that the scorer fails on becomes a bad line. Raises InfrastructureFailure.
    """

    async def judged(numbered: Line) -> Outcome:
        number, answer = numbered
        if isinstance(answer, BadLine):
            return answer
        try:
            return await judge.verdict(answer)
        except BadAnswer as error:
            return BadLine(number, f"the scorer failed on this answer: {error.error_class}")

    async with aclosing(in_order(lines, judged, limit)) as outcomes:
        async for outcome in outcomes:
            yield outcome


def _write(outcome: Outcome, sink: TextIO, complaints: Complaints) -> None:
    if isinstance(outcome, BadLine):
        complaints.about(outcome.number, outcome.reason)
    else:
        sink.write(json_line(to_json(outcome)) + "\n")
        if sink is sys.stdout:  # whoever reads a pipe waits for it
            sink.flush()


def _refuse_overwriting(output: Path | None, inputs: Iterable[Path | None]) -> None:
    for path in inputs:
        if path and output and any(_is_same(each, opened(path)) for each in (output, _partial(output))):
            raise WrongUsage(f"--output {output} would overwrite the input {path}")


def _is_same(output: Path, path: Path) -> bool:
    try:
        return output.is_file() and output.samefile(path)
    except OSError:  # not there, or not to be looked at: opening it will tell
        return False


def _partial(path: Path) -> Path:
    return path.with_name(path.name + ".part")


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """Open the output; a file appears under its name only when it is whole."""
    if path is None:
        yield sys.stdout
        return
    ordinary = path.is_file() or not path.exists()  # and not a device or a pipe
    partial = _partial(path) if ordinary else path
    try:
        with partial.open("w", encoding="utf-8") as file:
            yield file
        if ordinary:
            partial.replace(path)
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}", ExitCode.WRONG_USAGE) from error
    finally:
        if ordinary:
            partial.unlink(missing_ok=True)
