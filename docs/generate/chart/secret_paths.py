"""The paths in the values of all settings that may be secret, and may therefore be in Secrets."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from streams.settings import Settings
from streams.settings.settings_base import may_be_secret

#: The placeholder in a path for a name that the deployment chooses.
NAME_PLACEHOLDER: Final = "<name>"


def secret_settings() -> tuple[str, ...]:
    """Return the paths of all secrets, and of all addresses, since those may contain credentials."""
    return tuple(_within(Settings.model_fields, ""))


def pattern() -> str:
    """Return a regular expression that matches these paths."""
    paths = (re.escape(path).replace(NAME_PLACEHOLDER, "[a-zA-Z0-9_-]+") for path in secret_settings())
    return f"^({'|'.join(paths)})$"


def secret_fields() -> dict[str, set[str]]:
    """Return the settings that may be secret, by the name of their section's model."""
    return {model.__name__: _secret_names(model) for model in _models(Settings)}


def _secret_names(model: type[BaseModel]) -> set[str]:
    return {name for name, field in model.model_fields.items() if may_be_secret(field)}


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield a model and the models of its settings."""
    yield model
    for field in model.model_fields.values():
        for kind in _kinds(field.annotation):
            yield from _models(kind)


def _kinds(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _kinds(inner)


def _within(fields: Mapping[str, FieldInfo], before: str) -> Iterator[str]:
    for name, field in fields.items():
        path = f"{before}{name}"
        if may_be_secret(field):
            yield path
        yield from _below(field.annotation, path)


def _below(annotation: Any, path: str) -> Iterator[str]:
    if get_origin(annotation) is dict:
        _, value = get_args(annotation)
        yield from (
            [f"{path}.{NAME_PLACEHOLDER}"]
            if value is SecretStr
            else _below(value, f"{path}.{NAME_PLACEHOLDER}")
        )
        return
    for kind in (annotation, *get_args(annotation)):  # an optional setting has two types
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _within(kind.model_fields, f"{path}.")
