"""What the sections share: their base class, the error, and types and limits of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

DAY_SECONDS = 86_400
YEAR_HOURS = 24 * 365

# Beyond some size a number is a slip, and clients and timers fail on it long after the start.
Seconds = Annotated[float, Field(gt=0, le=DAY_SECONDS, allow_inf_nan=False)]


class WrongSettings(Exception):
    """A setting cannot be used; the message is one line that names it."""


class Section(BaseModel):
    """A part of the settings: it cannot be changed, and has no names but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def repeated(values: Iterable[T]) -> T | None:
    """Give the first of ``values`` that is there more than once, or None."""
    return next((value for value, times in Counter(values).items() if times > 1), None)


def one_line(text: str) -> str:
    """Give ``text`` with every stretch of white space as one space: messages are one line."""
    return " ".join(text.split())
