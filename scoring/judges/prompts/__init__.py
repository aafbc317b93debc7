"""The prompts: files of this folder, each a part of a system message, put together here.

A system message is made of these files and of numbers from the options, and of nothing that comes with a
case. Data stand in the user message alone, so that the system message of a method is always the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, Generic, TypeVar

from scoring.judges.forms import Form, Scored, described, reply_schema
from scoring.judges.texts import hash_of

F = TypeVar("F", bound=Form)

_VERSION_BYTES = 6
#: The files that a request of any method may have a part of.
_COMMON = (
    "rules",
    "reference_documents",
    "reference_expected",
    "scale",
    "mistakes",
    "examples",
    "closing",
    "repair",
)


@dataclass(frozen=True, slots=True)
class Prompt(Generic[F]):
    """A task for a model, and the form of its reply.

    ``name`` is that of its file; ``also`` are files that some of its requests add. ``compares`` says
    whether the reference is needed to understand the task.
    """

    name: str
    form: type[F]
    compares: bool = True
    also: tuple[str, ...] = ()


@cache
def text(name: str) -> str:
    """Return the content of a prompt's file."""
    return (files(__package__) / f"{name}.md").read_text("utf-8").strip()


def filled(name: str, values: Mapping[str, object]) -> str:
    """Return the content of a prompt's file with values of ours in it; raises KeyError where one lacks."""
    return Template(text(name)).substitute(values)


def system_message(
    prompt: Prompt[Any], reference: str, values: Mapping[str, object], added: Iterable[str] = ()
) -> str:
    """Return the whole system message: the rules, the reference, the task and the form of the reply.

    ``reference`` is ``documents`` or ``expected``, and ``added`` are those of ``prompt.also`` that apply, or
    ``examples``.
    """
    parts = [text("rules")]
    parts += [text(f"reference_{reference}")] if prompt.compares else []
    parts += [filled(prompt.name, values), *map(text, added)]
    parts += [text("scale"), text("mistakes")] if issubclass(prompt.form, Scored) else []
    form: type[Form] = prompt.form
    parts += [f"Reply with one JSON object of this form and nothing else:\n{described(form)}"]
    return "\n\n".join(parts)


def version_of(prompts: Sequence[Prompt[Any]]) -> str:
    """Return the hash, short enough to be read, of all that messages with these prompts are made of."""
    names = (*_COMMON, *(each for prompt in prompts for each in (prompt.name, *prompt.also)))
    forms: list[type[Form]] = [prompt.form for prompt in prompts]
    contents = (each for name in names for each in (name, text(name)))
    return hash_of((*contents, *(reply_schema(form).text for form in forms)), _VERSION_BYTES)
