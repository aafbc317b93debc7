"""The answers that judges are asked about, and the options of the judge commands."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pydantic import TypeAdapter, ValidationError
from rich.progress import Progress

from schemas import KnowledgeDocument, RatedAnswer
from scoring.judges import METHODS, Case, ExamplesError, JudgeOptions, ReferenceAnswer, read_examples_file
from streams.cli.async_input import map_good_lines
from streams.cli.command_errors import InputErrors
from streams.cli.command_files import read_records
from streams.cli.command_output import UsageError, indexing_bar
from streams.llm.batches import AnswerKey, JudgeModels
from streams.observability.failures import Stage
from streams.pipeline.context import StaticDocuments, resolve_context
from streams.pipeline.pipeline import map_failures
from streams.pipeline.verdict import make_exchange
from streams.search.on_demand import open_on_demand_retriever
from streams.settings import JudgeSettings, Settings
from streams.translating.opening import FILE_TIMEOUT_SECONDS

# Only searches take time, and they share one model.
_CONCURRENT_SEARCHES = 8


@dataclass(frozen=True, slots=True)
class AnswerToJudge:
    """An answer as a judge sees it, without ratings; ``degraded`` is that of its context."""

    key: AnswerKey
    case: Case
    degraded: tuple[str, ...]


async def read_with_documents(
    file: Path,
    documents: Sequence[KnowledgeDocument],
    settings: Settings,
    errors: InputErrors,
    bar: Progress,
) -> list[AnswerToJudge]:
    """Read the answers of a file, retrieve their documents as `score` does, and advance the bar.

    Raises:
        CommandFailed: the file cannot be read.
        InfrastructureFailure: the documents cannot be searched.
        InvalidSettings: they cannot be searched with these settings.
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

        lines, failure = read_records(file, RatedAnswer, bar), "its documents cannot be retrieved"
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


class Reference(StrEnum):
    """What an answer is compared with."""

    DOCUMENTS = "documents"
    EXPECTED = "expected"


ReferenceOption = Annotated[
    Reference,
    typer.Option(
        "--reference",
        help="What answers are compared with: their documents, or the expected_answer of their line, as test "
        "sets have it.",
    ),
]


def judge_options(given: Sequence[str]) -> JudgeOptions:
    """Parse the values of --judge-option.

    Raises:
        UsageError: a parameter does not exist, or has an invalid value.
    """
    values: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or name not in _NAMES:
            raise UsageError(
                f"--judge-option {each}: expected NAME=VALUE, with NAME one of {', '.join(_NAMES)}"
            )
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

    Raises:
        UsageError: two models are for all judges, or one is for a judge that is not asked.
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
