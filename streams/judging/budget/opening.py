"""Opens the budget that the settings ask for, and keeps what is spent of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from errno import errorcode
from pathlib import Path

import structlog

from streams.documents.directory_lock import lock_directory
from streams.judging.budget.amounts import EVERYTHING, Limit, Limits
from streams.judging.budget.budget import Budget
from streams.judging.budget.observer import Observer
from streams.judging.budget.spent_file import Broken, read_spent, set_aside, write_spent
from streams.judging.budget.windows import Spent, steady_clock
from streams.settings import WrongSettings
from streams.settings.judge_budget import BudgetSettings

log = structlog.get_logger(__name__)

#: The name of the file beside the documents, where the settings name none.
SPENT_NAME = "judge-budget.json"
#: A worker that is killed forgets what it reserved since it last wrote: this long, and one write.
WRITE_SECONDS = 1.0

_SETTING = "judges.budget.file"


@asynccontextmanager
async def open_budget(
    settings: BudgetSettings,
    directory: Path,
    observer: Observer | None = None,
    wall: Callable[[], float] = time.time,
    write_seconds: float = WRITE_SECONDS,
) -> AsyncIterator[Budget]:
    """Give the budget with what was spent of it before; nothing may be spent until it is assigned a share.

    What is spent is written in the background, each second and at the end. A file that is broken is set
    aside, and all of the day's budget counts as spent: asking is given up for a day sooner than paid twice.
    Where there is no file, nothing was spent.

    Args:
        settings: the limits, and perhaps the file.
        directory: where the file is if the settings name none; one worker's own.
        observer: hears of what is used and refused, and of failures to write.
        wall: seconds since 1970, looked at once.
        write_seconds: how often it is written.

    Raises:
        WrongSettings: the file cannot be read or written, or another worker uses it.
    """
    path = settings.file or directory / SPENT_NAME
    with lock_directory(path.parent, f"{path.name}.lock", _SETTING):
        clock = steady_clock(wall)
        budget = Budget(limits_of(settings), clock, _resumed(path, clock()), observer)
        keeper = SpentKeeper(path, budget, observer or Observer())
        stopping = asyncio.Event()
        task = asyncio.create_task(keeper.run(stopping, write_seconds), name="judge-budget")
        try:
            yield budget
        finally:
            stopping.set()
            await task


def limits_of(settings: BudgetSettings) -> Limits:
    """Return the limits of the whole deployment."""
    return Limits(
        Limit(settings.requests_per_minute, settings.tokens_per_minute),
        Limit(settings.requests_per_day, settings.tokens_per_day),
    )


class SpentKeeper:
    """Writes what was spent, where it is not written yet; a failure is told and tried again later."""

    def __init__(self, path: Path, budget: Budget, observer: Observer) -> None:
        self._path = path
        self._budget = budget
        self._observer = observer
        self._written = budget.spent

    async def run(self, stopping: asyncio.Event, seconds: float) -> None:
        """Write so often, until it is to stop, and then once more."""
        is_last = False
        while not is_last:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await stopping.wait()
            is_last = stopping.is_set()
            await self.write()

    async def write(self) -> None:
        """Write what was spent, if that has changed."""
        spent = self._budget.spent
        if spent == self._written:
            return
        try:
            await asyncio.to_thread(write_spent, self._path, spent)
        except OSError as error:
            self._observer.not_kept(errorcode.get(error.errno or 0, type(error).__name__))
        else:
            self._written = spent


def _resumed(path: Path, now: float) -> Spent:
    """Return what to go on with, and write it, so that a file that cannot be written is noticed now."""
    try:
        spent = _read(path, now).resumed(now)
        write_spent(path, spent)
    except OSError as error:
        raise WrongSettings(f"{_SETTING}: cannot use {path}: {error.strerror}") from error
    return spent


def _read(path: Path, now: float) -> Spent:
    try:
        return read_spent(path) or Spent.at_start(now)
    except Broken:
        set_aside(path)
        log.error("judge_budget_set_aside", path=str(path))  # noqa: TRY400 - a traceback would tell nothing more
        return Spent.at_start(now, EVERYTHING)  # as much may have been spent as there was
