"""The file of what was spent, which outlives the worker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from errno import errorcode
from pathlib import Path
from typing import Annotated, Literal

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scoring.cache.shared_database import write_atomically
from streams.llm.budget import (
    DAY_SECONDS,
    MAX_AMOUNT,
    MINUTE_SECONDS,
    Budget,
    BudgetAmount,
    BudgetObserver,
    BudgetSpending,
    BudgetWindow,
    Limits,
    steady_clock,
)
from streams.settings import InvalidSettings
from streams.settings.judge_settings import BudgetSettings
from streams.storage.directory import lock_directory

log = structlog.get_logger(__name__)

#: The name of the file, in the directory of the documents.
BUDGET_FILE_NAME = "judge-budget.json"
#: A worker that is killed loses what it reserved since its last write: this long, and one write.
WRITE_SECONDS = 1.0
_SETTING = "documents.store"

_Count = Annotated[int, Field(ge=0)]


class SpendingFileDamaged(Exception):
    """The file has another form than the one that is written."""


class _SpendingModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _WindowForm(_SpendingModel):
    number: _Count
    requests: _Count
    tokens: _Count

    @classmethod
    def of(cls, window: BudgetWindow) -> _WindowForm:
        return cls(number=window.number, requests=window.spent.requests, tokens=window.spent.tokens)

    def window(self, seconds: int) -> BudgetWindow:
        return BudgetWindow(seconds, self.number, BudgetAmount(self.requests, self.tokens))


class _SpendingForm(_SpendingModel):
    version: Literal[1]
    minute: _WindowForm
    day: _WindowForm


def write_spending(path: Path, spending: BudgetSpending) -> None:
    """Replace the file; raises OSError."""
    minute, day = _WindowForm.of(spending.minute), _WindowForm.of(spending.day)
    write_atomically(path, _SpendingForm(version=1, minute=minute, day=day).model_dump_json() + "\n")


def read_spending(path: Path) -> BudgetSpending | None:
    """Return what was spent, or None if there is no file.

    Raises:
        SpendingFileDamaged: the file has another form.
        OSError: it cannot be read.
    """
    try:
        form = _SpendingForm.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        raise SpendingFileDamaged from None
    return BudgetSpending(form.minute.window(MINUTE_SECONDS), form.day.window(DAY_SECONDS))


@asynccontextmanager
async def open_budget(
    settings: BudgetSettings,
    directory: Path,
    observer: BudgetObserver | None = None,
    wall: Callable[[], float] = time.time,
    write_seconds: float = WRITE_SECONDS,
) -> AsyncIterator[Budget]:
    """Open the budget with what was spent before; nothing may be spent until it is assigned partitions.

    The spending is written in the background, every second and at the end. A damaged file is renamed, and the
    whole day's budget counts as spent: better no opinions for a day than paying twice. Without a file,
    nothing was spent.

    Args:
        settings: the limits.
        directory: where the file is; one worker's own.
        observer: called with what is used and refused, and with failures to write.
        wall: seconds since 1970; read once.
        write_seconds: how often the file is written.

    Raises:
        InvalidSettings: the file cannot be read or written, or another worker uses it.
    """
    path = directory / BUDGET_FILE_NAME
    with lock_directory(path.parent, f"{path.name}.lock", _SETTING):
        clock = steady_clock(wall)
        budget = Budget(Limits.from_settings(settings), clock, _resume(path, clock()), observer)
        writer = SpendingWriter(path, budget, observer or BudgetObserver())
        stopping = asyncio.Event()
        task = asyncio.create_task(writer.run(stopping, write_seconds), name="judge-budget")
        try:
            yield budget
        finally:
            stopping.set()
            await task


def _resume(path: Path, now: float) -> BudgetSpending:
    """Return the spending to continue with, and write it, so that an unwritable file is noticed now."""
    try:
        try:
            spending = (read_spending(path) or BudgetSpending.at_start(now)).resumed(now)
        except SpendingFileDamaged:
            path.replace(path.with_name(f"{path.name}.set-aside"))
            log.error("judge_budget_set_aside", path=str(path))  # noqa: TRY400 - a traceback adds nothing
            spending = BudgetSpending.at_start(now, MAX_AMOUNT)  # the whole budget may have been spent
        write_spending(path, spending)
    except OSError as error:
        raise InvalidSettings(f"{_SETTING}: cannot use {path}: {error.strerror}") from error
    return spending


class SpendingWriter:
    """Writes the spending of a budget when it has changed; reports a failure, and tries again later."""

    def __init__(self, path: Path, budget: Budget, observer: BudgetObserver) -> None:
        self._path = path
        self._budget = budget
        self._observer = observer
        self._written = budget.spending

    async def run(self, stopping: asyncio.Event, seconds: float) -> None:
        """Write every ``seconds`` until ``stopping`` is set, and then once more."""
        is_last = False
        while not is_last:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await stopping.wait()
            is_last = stopping.is_set()
            await self.write()

    async def write(self) -> None:
        """Write the spending if it has changed."""
        spending = self._budget.spending
        if spending == self._written:
            return
        try:
            await asyncio.to_thread(write_spending, self._path, spending)
        except OSError as error:
            self._observer.write_failed(errorcode.get(error.errno or 0, type(error).__name__))
        else:
            self._written = spending
