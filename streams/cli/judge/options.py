"""The options of judging: the method, its parameters, and the models to ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from pydantic import TypeAdapter, ValidationError

from scoring.judges import METHODS, ExamplesError, JudgeOptions, read_examples_file
from streams.cli.exits import WrongUsage
from streams.judging.batches.requests import Models
from streams.settings import JudgeSettings

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
        WrongUsage: there is no such parameter, or it cannot have this value.
    """
    values: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or name not in _NAMES:
            raise WrongUsage(
                f"--judge-option {each}: should be NAME=VALUE, the name one of {', '.join(_NAMES)}"
            )
        try:
            values[name] = _READ.get(name, str)(value)
        except ExamplesError as error:
            raise WrongUsage(f"--judge-option examples: {error}") from error
    try:
        return _options.validate_python(values)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = f"--judge-option {first['loc'][0]}: " if first["loc"] else ""
        raise WrongUsage(f"{place}{first['msg'].removeprefix('Value error, ')}") from None


def models(given: Sequence[str], options: JudgeOptions, settings: JudgeSettings) -> Models:
    """Give the models that the command line names, and those of the judges that the settings name.

    Raises:
        WrongUsage: two are given for all, or one for a judge that is not asked.
    """
    named = dict(each.split("=", 1) for each in given if "=" in each)
    for_all = [each for each in given if "=" not in each]
    if unknown := named.keys() - set(options.judges):
        raise WrongUsage(f"--model: {', '.join(sorted(unknown))} is none of the judges")
    if len(for_all) > 1 or not all((*for_all, *named.values())):
        raise WrongUsage("--model: name one for all judges, or JUDGE=MODEL for each")
    if not for_all:
        named = {name: each.model for name, each in settings.endpoints.items()} | named
    return Models(for_all[0] if for_all else None, named)
