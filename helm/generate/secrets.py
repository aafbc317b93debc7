"""The settings that may be secret, and so stand in Secrets: their paths, as the values have them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from streams.settings import Settings
from streams.settings.secret_files import may_be_secret

#: Stands in a path for a name that the deployment chooses.
NAMED: Final = "<name>"


def secret_settings() -> tuple[str, ...]:
    """Give the path of every secret, and of every address, since it may hold credentials."""
    return tuple(_within(Settings.model_fields, ""))


def pattern() -> str:
    """Write the regular expression of these paths."""
    paths = (re.escape(path).replace(NAMED, "[a-zA-Z0-9_-]+") for path in secret_settings())
    return f"^({'|'.join(paths)})$"


def _within(fields: Mapping[str, FieldInfo], before: str) -> Iterator[str]:
    for name, field in fields.items():
        path = f"{before}{name}"
        if may_be_secret(field):
            yield path
        yield from _below(field.annotation, path)


def _below(annotation: Any, path: str) -> Iterator[str]:
    if get_origin(annotation) is dict:
        _, value = get_args(annotation)
        yield from [f"{path}.{NAMED}"] if value is SecretStr else _below(value, f"{path}.{NAMED}")
        return
    for kind in (annotation, *get_args(annotation)):  # where it may be None there are two
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _within(kind.model_fields, f"{path}.")
