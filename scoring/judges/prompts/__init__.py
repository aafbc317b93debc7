"""The prompts: files of this folder, each a part of a system message, put together here.

A system message is made of these files and of numbers from the options, and of nothing that comes with a
case. Data is in the user message only, so that the system message of a method is always the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, Generic, TypeVar

from scoring.judges.forms import ReplyForm, ScoredReply, render_form, reply_schema
from scoring.judges.texts import hash_of

F = TypeVar("F", bound=ReplyForm)

_VERSION_BYTES = 6
#: The files that a request of any method may have a part of.
_COMMON_FILES = (
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

    ``name`` is that of its file; ``extras`` are files that some of its requests add. ``needs_reference`` says
    whether the reference is needed to understand the task.
    """

    name: str
    form: type[F]
    needs_reference: bool = True
    extras: tuple[str, ...] = ()


@cache
def text(name: str) -> str:
    """Return the content of a prompt's file."""
    return (files(__package__) / f"{name}.md").read_text("utf-8").strip()


def fill_template(name: str, values: Mapping[str, object]) -> str:
    """Return the content of a prompt's file with values of ours in it; raises KeyError where one lacks."""
    return Template(text(name)).substitute(values)


def system_message(
    prompt: Prompt[Any], reference: str, values: Mapping[str, object], extras: Iterable[str] = ()
) -> str:
    """Return the whole system message: the rules, the reference, the task and the form of the reply.

    ``reference`` is ``documents`` or ``expected``, and ``extras`` are those of ``prompt.extras`` that apply,
    or ``examples``.
    """
    parts = [text("rules")]
    parts += [text(f"reference_{reference}")] if prompt.needs_reference else []
    parts += [fill_template(prompt.name, values), *map(text, extras)]
    parts += [text("scale"), text("mistakes")] if issubclass(prompt.form, ScoredReply) else []
    form: type[ReplyForm] = prompt.form
    parts += [f"Reply with one JSON object of this form and nothing else:\n{render_form(form)}"]
    return "\n\n".join(parts)


def version_of(prompts: Sequence[Prompt[Any]]) -> str:
    """Return the hash, short enough to be read, of all that messages with these prompts are made of."""
    names = (*_COMMON_FILES, *(each for prompt in prompts for each in (prompt.name, *prompt.extras)))
    forms: list[type[ReplyForm]] = [prompt.form for prompt in prompts]
    contents = (each for name in names for each in (name, text(name)))
    return hash_of((*contents, *(reply_schema(form).text for form in forms)), _VERSION_BYTES)
