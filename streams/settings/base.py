"""The base of all sections, the error, names of variables, and types and limits of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from streams.settings.secret_files import with_secrets_read

T = TypeVar("T")

PREFIX = "TRUTHGATE_"
DELIMITER = "__"

DAY_SECONDS = 86_400
YEAR_SECONDS = 365 * DAY_SECONDS

# Beyond some size a number is a slip, and clients and timers fail on it long after the start.
Seconds = Annotated[float, Field(gt=0, le=DAY_SECONDS)]


class WrongSettings(Exception):
    """A setting cannot be used; the message is one line that names it, and ``more`` are further lines."""

    def __init__(self, message: str, *more: str) -> None:
        super().__init__(message)
        self.more = more


class Section(BaseModel):
    """A part of the settings: it cannot be changed, has no names but its own, and only finite numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _secrets_may_stand_in_files(cls, values: Any) -> Any:
        return with_secrets_read(cls.model_fields, values) if isinstance(values, Mapping) else values

    @field_validator("*", mode="before")
    @classmethod
    def _choices_in_any_case(cls, value: Any, info: ValidationInfo) -> Any:
        # Other programs want INFO or sasl_ssl: what is meant is clear.
        if not (isinstance(value, str) and info.field_name):
            return value
        choices = _choices(cls.model_fields[info.field_name].annotation)
        return {each.casefold(): each for each in choices}.get(value.casefold(), value)


def _choices(annotation: Any) -> tuple[str, ...]:
    """Give the words that a field takes, in a union too; none where it takes any text."""
    if get_origin(annotation) is Literal:
        return tuple(each for each in get_args(annotation) if isinstance(each, str))
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return tuple(annotation)
    return tuple(word for part in get_args(annotation) for word in _choices(part))


def repeated(values: Iterable[T]) -> T | None:
    """Give the first of ``values`` that is there more than once, or None."""
    return next((value for value, times in Counter(values).items() if times > 1), None)


def one_line(text: str) -> str:
    """Give ``text`` with every stretch of white space as one space: messages are one line."""
    return " ".join(text.split())


def variable_name(*path: str | int) -> str:
    """Name the environment variable of a setting: ``("web", "port")`` is ``TRUTHGATE_WEB__PORT``."""
    return PREFIX + DELIMITER.join(str(part) for part in path).upper()
