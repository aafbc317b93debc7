"""Every setting with its name, type, default and meaning, read from the model of the settings."""

import dataclasses
import json
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from scoring.policy import Policy
from streams.settings.root_settings import Settings
from streams.settings.settings_base import variable_name

POLICY_DESCRIPTIONS: Final = {
    "version": "what verdicts call this policy; a hash follows where it is not as shipped",
    "auto_send_at": "a score from this on is sent; 5: none is, not even 5, only what a rule sends",
    "block_below": "a score below this is blocked; 1: none is, only what a rule blocks",
    "unscored": "what becomes of message types that the profile does not score",
    "refusal": "what becomes of an answer that says that it has none: never blocked",
    "declined": "what becomes of an answer of which a judge says that it rightly has none: never blocked",
    "overrides": "other values for a message type, a language, or a type in a language; of several the last",
    "ask": "which decisions, or reasons, are in doubt: judges are asked about these",
    "ask_never": "reasons that are never in doubt",
    "send_confidence": "how sure an opinion must be that an answer is true, to send it",
    "block_confidence": "how sure an opinion must be that an answer is untrue, to block it",
    "pause": "on: nothing is sent by itself; what would be goes to review",
}

#: What stands in a name for a key of one's own choice, and for any entry of a list.
ANY_KEY: Final = "<name>"
ANY_ENTRY: Final = "[]"

_PLAIN: Final[Mapping[Any, str]] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    SecretStr: "secret",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        name: such as ``web.port``; within lists and tables ``rates.windows[].size_seconds``.
        type: in words, with its limits.
        default: as JSON; None where there is none, or where it depends on the machine.
        meaning: what it does, in a phrase.
        required: whether it must be given wherever what it is part of is.
    """

    name: str
    type: str
    default: str | None
    description: str
    required: bool = False

    @property
    def section(self) -> str:
        """The first part of its name."""
        return self.name.partition(".")[0]

    @property
    def variable(self) -> str | None:
        """Its environment variable, or None within a list, which one variable holds as a whole."""
        return None if ANY_ENTRY in self.name else variable_name(*self.name.split("."))


def all_settings() -> Iterator[Setting]:
    """Give every setting, those of one section together, in the order of the model."""
    for section, field in Settings.model_fields.items():
        model = section_type(field.annotation)
        yield from _of_model(section, model) if model else _of_policy(section)


def section_description(section: str) -> str:
    """Return what a section is about: the first line of its class's docstring."""
    about = Settings.model_fields[section].annotation
    return (getattr(about, "__doc__", None) or "").strip().partition("\n")[0].rstrip(".").replace("``", "`")


def section_type(annotation: Any) -> type[BaseModel] | None:
    """Return the section that a field holds, set or not, or None where it holds a plain value."""
    inner = strip_optional(annotation)
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def _of_model(path: str, model: type[BaseModel]) -> Iterator[Setting]:
    for name, field in model.model_fields.items():
        yield from _of_field(f"{path}.{name}", field)


def _of_field(name: str, field: FieldInfo) -> Iterator[Setting]:
    if section := section_type(field.annotation):
        yield from _of_model(name, section)
        return
    inner = strip_optional(field.annotation)
    told = f"{_words(field.annotation)}{_limits(field.metadata)}"
    yield Setting(name, told, _default(field), field.description or "", field.is_required())
    place = ANY_ENTRY if get_origin(inner) is tuple else f".{ANY_KEY}"
    for part in filter(None, map(section_type, get_args(inner))):
        yield from _of_model(f"{name}{place}", part)


def _of_policy(section: str) -> Iterator[Setting]:
    types_of = get_type_hints(Policy)
    for field in dataclasses.fields(Policy):
        told = _words(types_of[field.name])
        yield Setting(f"{section}.{field.name}", told, _json(field.default), POLICY_DESCRIPTIONS[field.name])


def _words(annotation: Any) -> str:
    inner = strip_optional(annotation)
    limits = _limits(get_args(annotation)[1:]) if get_origin(annotation) is Annotated else ""
    if inner in _PLAIN:
        return f"{_PLAIN[inner]}{limits}"
    if isinstance(inner, type) and issubclass(inner, StrEnum):
        return " or ".join(inner)
    origin, arguments = get_origin(inner), get_args(inner)
    if origin is Literal:
        return " or ".join(map(str, arguments))
    if origin is tuple:
        return f"list of {_plural(arguments[0])}"
    if origin is dict:
        return f"table of {_plural(arguments[1])}"
    return "table"


def _plural(annotation: Any) -> str:
    inner = strip_optional(annotation)
    return {str: "texts", SecretStr: "secrets", int: "whole numbers"}.get(inner, "tables")


def strip_optional(annotation: Any) -> Any:
    """Take away that something may be unset, and what it is checked by."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) in (Union, types.UnionType):
            (annotation,) = (each for each in get_args(annotation) if each is not type(None))
        else:
            return annotation


def _limits(metadata: Any) -> str:
    words = {Ge: ("from", "ge"), Gt: ("above", "gt"), Le: ("to", "le"), Lt: ("below", "lt")}
    told = [
        f"{word} {_number(getattr(each, attribute))}"
        for kind, (word, attribute) in words.items()
        for each in metadata
        if isinstance(each, kind)
    ]
    return f", {' '.join(told)}" if told else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _default(field: FieldInfo) -> str | None:
    if field.default is PydanticUndefined:
        return "{}" if field.default_factory is dict else None
    return None if field.default is None else _json(field.default)


def _json(value: Any) -> str:
    return json.dumps(to_jsonable_python(value, exclude_none=True), ensure_ascii=False)
