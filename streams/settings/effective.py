"""The settings as they are in force: their values without secrets, and where each comes from."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr
from pydantic_core import to_jsonable_python
from pydantic_settings import EnvSettingsSource, TomlConfigSettingsSource

from streams.settings.addresses import HIDDEN, without_credentials
from streams.settings.base import Section, variable_name
from streams.settings.config_file import config_file
from streams.settings.described import section_of
from streams.settings.loading import load_settings
from streams.settings.whole import Settings

DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting in force: its ``value`` as JSON, without secrets, and the variable or file it comes from."""

    name: str
    value: str
    origin: str


def effective_settings(config: Path | None = None) -> tuple[Effective, ...]:
    """Read the settings as a worker does and tell all of them.

    Raises:
        WrongSettings: they cannot be used.
    """
    settings = load_settings(config)
    from_environment: Mapping[str, Any] = EnvSettingsSource(Settings)()
    path = config or config_file()
    from_file: Mapping[str, Any] = TomlConfigSettingsSource(Settings, path)() if path else {}
    return tuple(
        Effective(".".join(name), shown(value), _origin(name, from_environment, from_file, path))
        for name, value in _leaves((), settings)
    )


def shown(value: Any) -> str:
    """Give a value as JSON, with everything in it hidden that is a secret or may be one."""
    return json.dumps(_without_secrets(value), ensure_ascii=False)


def _leaves(path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Settings | Section):
        for name, each in value:
            annotation = type(value).model_fields[name].annotation
            if each is None and (part := section_of(annotation)):  # it is unset as a whole
                yield from (((*path, name, inner), None) for inner in part.model_fields)
            else:
                yield from _leaves((*path, name), each)
    elif isinstance(value, dict) and any(isinstance(each, Section) for each in value.values()):
        for name, each in value.items():
            yield from _leaves((*path, name), each)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield (*path, field.name), getattr(value, field.name)
    else:
        yield path, value


def _without_secrets(value: Any) -> Any:
    match value:
        case SecretStr():
            return HIDDEN
        case str():
            return without_credentials(value)
        case dict():
            return {str(key): _without_secrets(each) for key, each in value.items()}
        case tuple() | list():
            return [_without_secrets(each) for each in value]
        case Section():
            return {name: _without_secrets(each) for name, each in value if each is not None}
        case _:
            return to_jsonable_python(value, exclude_none=True)


def _origin(
    name: tuple[str, ...], environment: Mapping[str, Any], file: Mapping[str, Any], path: Path | None
) -> str:
    known = set(map(str.upper, os.environ))
    for given in (name, (*name[:-1], f"{name[-1]}_file")):  # a secret may stand in a file of its own
        if _has(environment, given):
            # One variable may hold a whole table as JSON.
            variables = (variable_name(*given[:length]) for length in range(len(given), 0, -1))
            return next(variable for variable in variables if variable in known)
    in_file = _has(file, name) or _has(file, (*name[:-1], f"{name[-1]}_file"))
    return str(path) if in_file else DEFAULT


def _has(values: Any, name: tuple[str, ...]) -> bool:
    for part in name:
        if not isinstance(values, dict) or part not in values:
            return False
        values = values[part]
    return True
