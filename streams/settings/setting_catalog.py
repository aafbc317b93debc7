"""The catalogue of settings: name, type, default and meaning, from the settings model."""

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
    "version": "name of this policy in verdicts; a hash is appended if it differs from the default policy",
    "auto_send_at": "scores of at least this are sent; 5: none, not even 5; only rules send",
    "block_below": "scores below this are blocked; 1: none; only rules block",
    "unscored": "decision on message types that the profile does not score",
    "refusal": "decision on an answer that says that it has none: never blocked",
    "declined": "decision on an answer that says that it has none, if a judge agrees: never blocked",
    "overrides": "other values for a message type, a language, or both; the last match applies",
    "ask": "decisions or reasons about which judges are asked",
    "ask_never": "reasons about which judges are never asked",
    "send_confidence": "minimum confidence of an opinion that an answer is true, to send it",
    "block_confidence": "minimum confidence of an opinion that an answer is untrue, to block it",
    "known_answers": "on: what a person sent or rejected decides about the same answer to the same question "
    "with the same documents",
    "pause": "on: nothing is sent automatically; answers go to review instead",
}

#: Placeholders in names: a freely chosen key, and any entry of a list.
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
        name: e.g. ``web.port``; in lists and tables ``rates.windows[].size_seconds``.
        type: in words, with its limits.
        default: as JSON; None if there is none, or if it depends on the machine.
        description: its effect, in a phrase.
        required: whether it must be set wherever its table is.
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
        """Its environment variable; None in a list, which one variable sets as a whole."""
        return None if ANY_ENTRY in self.name else variable_name(*self.name.split("."))


def all_settings() -> Iterator[Setting]:
    """Yield every setting, grouped by section, in the order of the model."""
    for section, field in Settings.model_fields.items():
        model = section_type(field.annotation)
        yield from _of_model(section, model) if model else _of_policy(section)


def section_description(section: str) -> str:
    """Return the first line of a section's docstring."""
    about = Settings.model_fields[section].annotation
    return (getattr(about, "__doc__", None) or "").strip().partition("\n")[0].rstrip(".").replace("``", "`")


def section_type(annotation: Any) -> type[BaseModel] | None:
    """Return the section in a field, even an optional one; None for a plain value."""
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
    kind = f"{_words(field.annotation)}{_limits(field.metadata)}"
    description = field.description or ""
    # A validator fills in a field whose description says what unset means.
    required = field.is_required() and "unset:" not in description
    yield Setting(name, kind, _default(field), description, required)
    placeholder = ANY_ENTRY if get_origin(inner) is tuple else f".{ANY_KEY}"
    for part in filter(None, map(section_type, get_args(inner))):
        yield from _of_model(f"{name}{placeholder}", part)


def _of_policy(section: str) -> Iterator[Setting]:
    types_of = get_type_hints(Policy)
    for field in dataclasses.fields(Policy):
        kind = _words(types_of[field.name])
        yield Setting(f"{section}.{field.name}", kind, _json(field.default), POLICY_DESCRIPTIONS[field.name])


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
    if isinstance(inner, type) and issubclass(inner, StrEnum):
        return "texts"
    return {str: "texts", SecretStr: "secrets", int: "whole numbers", float: "numbers"}.get(inner, "tables")


def strip_optional(annotation: Any) -> Any:
    """Strip ``Optional`` and validators from a type."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) in (Union, types.UnionType):
            (annotation,) = (each for each in get_args(annotation) if each is not type(None))
        else:
            return annotation


def _limits(metadata: Any) -> str:
    words = {Ge: ("from", "ge"), Gt: ("above", "gt"), Le: ("to", "le"), Lt: ("below", "lt")}
    limits = [
        f"{word} {_number(getattr(each, attribute))}"
        for kind, (word, attribute) in words.items()
        for each in metadata
        if isinstance(each, kind)
    ]
    return f", {' '.join(limits)}" if limits else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _default(field: FieldInfo) -> str | None:
    if field.default is PydanticUndefined:
        return "{}" if field.default_factory is dict else None
    return None if field.default is None else _json(field.default)


def _json(value: Any) -> str:
    return json.dumps(to_jsonable_python(value, exclude_none=True), ensure_ascii=False)
