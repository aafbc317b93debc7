"""The file in which a worker notes what it has spent, for its next start."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scoring.storage.whole_file import replace_file
from streams.judging.budget.amounts import Amount
from streams.judging.budget.windows import DAY_SECONDS, MINUTE_SECONDS, Spent, Window

_Count = Annotated[int, Field(ge=0)]


class Broken(Exception):
    """The file holds something else than what was spent."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _WindowForm(_Form):
    number: _Count
    requests: _Count
    tokens: _Count

    @classmethod
    def of(cls, window: Window) -> _WindowForm:
        return cls(number=window.number, requests=window.spent.requests, tokens=window.spent.tokens)

    def window(self, seconds: int) -> Window:
        return Window(seconds, self.number, Amount(self.requests, self.tokens))


class _SpentForm(_Form):
    version: Literal[1]
    minute: _WindowForm
    day: _WindowForm


def write_spent(path: Path, spent: Spent) -> None:
    """Replace the file by what was spent; raises OSError."""
    form = _SpentForm(version=1, minute=_WindowForm.of(spent.minute), day=_WindowForm.of(spent.day))
    replace_file(path, form.model_dump_json() + "\n")


def read_spent(path: Path) -> Spent | None:
    """Return what was spent, None where there is no file.

    Raises:
        Broken: it is not of the form that is written.
        OSError: it cannot be read.
    """
    try:
        form = _SpentForm.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        raise Broken from None
    return Spent(form.minute.window(MINUTE_SECONDS), form.day.window(DAY_SECONDS))


def set_aside(path: Path) -> None:
    """Rename the file, which may be somebody's own that a wrong setting named; raises OSError."""
    path.replace(path.with_name(f"{path.name}.set-aside"))
