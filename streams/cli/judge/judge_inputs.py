"""The answers that judges are asked about, and the options of judging."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pydantic import TypeAdapter, ValidationError
from rich.progress import Progress

from schemas import BadLine, KnowledgeDocument, RatedAnswer
from scoring.judges import METHODS, Case, ExamplesError, JudgeOptions, ReferenceAnswer, read_examples_file
from streams.cli.async_input import map_in_order
from streams.cli.command_files import InputErrors, read_records
from streams.cli.command_output import UsageError, indexing_bar
from streams.llm.batches import AnswerKey, JudgeModels
from streams.observability.failures import BadAnswer, Stage
from streams.pipeline.context import StaticDocuments, resolve_context
from streams.pipeline.pipeline import map_failures
from streams.pipeline.verdict import make_exchange
from streams.search.on_demand import open_on_demand_retriever
from streams.settings import JudgeSettings, Settings
from streams.translating.opening import FILE_TIMEOUT_SECONDS

Line = tuple[int, RatedAnswer | BadLine]
Outcome = tuple[int, "AnswerToJudge | BadLine"]

# Searches are the only thing that takes time, and they share one model.
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class AnswerToJudge:
    """An answer as a judge is to see it, with nothing that people say of it; ``degraded`` is its context."""

    key: AnswerKey
    case: Case
    degraded: tuple[str, ...]


def read_with_documents(
    file: Path,
    documents: Sequence[KnowledgeDocument],
    settings: Settings,
    errors: InputErrors,
    bar: Progress,
) -> list[AnswerToJudge]:
    """Read the answers of a file and find their documents as `score` does, moving the bar.

    Raises:
        CommandFailed: the file cannot be read.
        InfrastructureFailure: the documents cannot be searched.
        InvalidSettings: nor can they be with these settings.
    """
    outcomes = asyncio.run(_with_context(read_records(file, RatedAnswer, bar), documents, settings, bar))
    return [asked for _, asked in errors.good_lines(outcomes)]


def read_with_expected(file: Path, errors: InputErrors, bar: Progress) -> list[AnswerToJudge]:
    """Read the answers of a file that bring the right answer to compare with, moving the bar.

    A line without one is a bad line. Raises CommandFailed where the file cannot be read.
    """
    outcomes = (_expected(number, line) for number, line in read_records(file, RatedAnswer, bar))
    return [asked for _, asked in errors.good_lines(outcomes)]


def _expected(number: int, line: RatedAnswer | BadLine) -> Outcome:
    if isinstance(line, BadLine):
        return number, line
    if line.expected_answer is None:
        return number, BadLine(
            number, "expected_answer: is missing, which this answer is to be compared with"
        )
    answer = line.answer
    case = Case(answer.question, answer.answer, ReferenceAnswer(line.expected_answer))
    return number, AnswerToJudge(AnswerKey.of(answer), case, ())


async def _with_context(
    lines: Iterable[Line], documents: Sequence[KnowledgeDocument], settings: Settings, bar: Progress
) -> list[Outcome]:
    given = StaticDocuments.of(documents)
    indexing = indexing_bar(None if bar.disable else bar)
    async with open_on_demand_retriever(documents, settings, indexing) as retriever:

        async def asked(line: Line) -> Outcome:
            number, rated = line
            if isinstance(rated, BadLine):
                return number, rated
            answer = rated.answer
            try:
                with map_failures(Stage.ENRICH):
                    context = await resolve_context(answer, given, 0, retriever, FILE_TIMEOUT_SECONDS)
            except BadAnswer as error:
                return number, BadLine(number, f"its documents cannot be found: {error.error_class}")
            case = Case.of(make_exchange(answer, context.scoring_passages))
            return number, AnswerToJudge(AnswerKey.of(answer), case, context.degraded)

        async with aclosing(map_in_order(lines, asked, _AT_ONCE)) as found:
            return [each async for each in found]


#: How the options are read that are more than a text.
_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "judges": lambda value: tuple(filter(None, value.split(","))),
    "examples": lambda value: read_examples_file(Path(value)),
}
_NAMES = tuple(field.name for field in fields(JudgeOptions))
_options = TypeAdapter(JudgeOptions)


def _known(method: str) -> str:
    if method not in METHODS:
        raise typer.BadParameter(f"{method} is none of {', '.join(METHODS)}")
    return method


MethodOption = Annotated[
    str,
    typer.Option("--method", "-m", metavar="METHOD", callback=_known, help="One of " + ", ".join(METHODS)),
]
JudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--judge-option",
        metavar="NAME=VALUE",
        help=f"A parameter of the method, may be repeated: {', '.join(_NAMES)}. Judges are separated by "
        "commas; examples is a JSONL file.",
    ),
]
ModelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="[JUDGE=]MODEL",
        help="The model of a judge, or of all judges; default: that of the endpoint which the settings call "
        "so, or the judge's name. May be repeated.",
    ),
]


class Reference(StrEnum):
    """What an answer is compared with."""

    DOCUMENTS = "documents"
    EXPECTED = "expected"


ReferenceOption = Annotated[
    Reference,
    typer.Option(
        "--reference",
        help="What answers are compared with: the documents that they rest on, or the expected_answer of "
        "their line, as a test set has it.",
    ),
]


def judge_options(given: Sequence[str]) -> JudgeOptions:
    """Give the parameters that the command line sets.

    Raises:
        UsageError: there is no such parameter, or it cannot have this value.
    """
    values: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or name not in _NAMES:
            raise UsageError(
                f"--judge-option {each}: should be NAME=VALUE, the name one of {', '.join(_NAMES)}"
            )
        try:
            values[name] = _READ.get(name, str)(value)
        except ExamplesError as error:
            raise UsageError(f"--judge-option examples: {error}") from error
    try:
        return _options.validate_python(values)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = f"--judge-option {first['loc'][0]}: " if first["loc"] else ""
        raise UsageError(f"{place}{first['msg'].removeprefix('Value error, ')}") from None


def judge_models(given: Sequence[str], options: JudgeOptions, settings: JudgeSettings) -> JudgeModels:
    """Give the models that the command line names, and those of the judges that the settings name.

    Raises:
        UsageError: two are given for all, or one for a judge that is not asked.
    """
    named = dict(each.split("=", 1) for each in given if "=" in each)
    for_all = [each for each in given if "=" not in each]
    if unknown := named.keys() - set(options.judges):
        raise UsageError(f"--model: {', '.join(sorted(unknown))} is none of the judges")
    if len(for_all) > 1 or not all((*for_all, *named.values())):
        raise UsageError("--model: name one for all judges, or JUDGE=MODEL for each")
    if not for_all:
        named = {name: each.model for name, each in settings.endpoints.items()} | named
    return JudgeModels(for_all[0] if for_all else None, named)
