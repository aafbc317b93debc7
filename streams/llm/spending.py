"""Asks within a budget, and keeps what was spent across restarts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from errno import errorcode
from math import ceil
from pathlib import Path
from typing import Annotated, Literal

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scoring.cache.shared_files import write_atomically
from scoring.judges import OpinionRounds, Outcome, Reply, Request, drive_async
from scoring.values.opinion import Opinion
from streams.documents.store_file import lock_directory
from streams.llm.budget import (
    DAY_SECONDS,
    MAX_AMOUNT,
    MINUTE_SECONDS,
    NO_AMOUNT,
    Budget,
    BudgetAmount,
    BudgetObserver,
    BudgetSpending,
    BudgetWindow,
    Limit,
    Limits,
    Priority,
    Reservation,
    steady_clock,
)
from streams.settings import InvalidSettings
from streams.settings.judge_settings import BudgetSettings

CompleteAll = Callable[[tuple[Request, ...]], Awaitable[Sequence[Outcome]]]

# A token of prose in Latin script is some 4 bytes, of Dutch 3; of Chinese a character, which has 3.
_BYTES_PER_TOKEN = 3


class _BudgetExhausted(Exception):
    """Too little of the budget is left."""


async def ask_within_budget(
    budget: Budget,
    priority: Priority,
    rounds: OpinionRounds,
    max_requests: int,
    complete_all: CompleteAll,
    unsent_codes: Collection[str] = (),
) -> Opinion | None:
    """Ask for an opinion, or return None where too little of the budget is left for it.

    Reserved is the estimate of the first round for as many requests as the method may make; an asking that
    makes none costs nothing. Settled is what the endpoint counted, or the estimate where it counted nothing,
    did not reply, or the asking was given up meanwhile. Tries of the same request count once.

    Args:
        budget: what it is taken from.
        priority: see :class:`Priority`.
        rounds: what :func:`scoring.judges.compute` returns.
        max_requests: the most requests of the method, repairs not counted.
        complete_all: sends the requests of a round; see :func:`scoring.judges.drive_async`.
        unsent_codes: codes of failures that say that nothing was sent, which cost nothing.
    """
    account = _Account(budget, priority, max_requests, complete_all, unsent_codes)
    try:
        return await drive_async(rounds, account.complete_all)
    except _BudgetExhausted:
        return None
    finally:
        account.settle()


@dataclass(slots=True)
class _Account:
    """What one opinion has cost so far."""

    budget: Budget
    priority: Priority
    max_requests: int
    send: CompleteAll
    unsent_codes: Collection[str]
    reservation: Reservation | None = None
    used: BudgetAmount = NO_AMOUNT
    in_flight: BudgetAmount = NO_AMOUNT

    async def complete_all(self, requests: tuple[Request, ...]) -> Sequence[Outcome]:
        """Have the requests of a round answered; raises _Spent before the first one where it is refused."""
        if self.reservation is None:
            number = max(len(requests), self.max_requests)
            tokens = sum(estimate(request).tokens for request in requests)
            need = BudgetAmount(number, ceil(tokens * number / len(requests)))
            self.reservation = self.budget.reserve(need, self.priority)
        if self.reservation is None:
            raise _BudgetExhausted
        self.in_flight = sum(map(estimate, requests), NO_AMOUNT)
        outcomes = await self.send(requests)
        self.used = sum(map(self._cost, requests, outcomes), self.used)
        self.in_flight = NO_AMOUNT
        return outcomes

    def settle(self) -> None:
        """Count what was used."""
        if self.reservation is not None:
            self.reservation.settle(self.used + self.in_flight)

    def _cost(self, request: Request, outcome: Outcome) -> BudgetAmount:
        if isinstance(outcome, Reply) and outcome.tokens_in:
            return BudgetAmount(1, outcome.tokens_in + outcome.tokens_out)
        if not isinstance(outcome, Reply) and outcome.code in self.unsent_codes:
            return NO_AMOUNT
        return estimate(request)


def estimate(request: Request) -> BudgetAmount:
    """Return what a request takes, about: its text, its form, and the longest reply that it may have."""
    texts = (request.schema.text, *(message.content for message in request.messages))
    length = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return BudgetAmount(1, ceil(length / _BYTES_PER_TOKEN) + request.max_tokens)


_Count = Annotated[int, Field(ge=0)]


class SpendingFileDamaged(Exception):
    """The file holds something else than what was spent."""


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


def write_spending(path: Path, spent: BudgetSpending) -> None:
    """Replace the file by what was spent; raises OSError."""
    form = _SpendingForm(version=1, minute=_WindowForm.of(spent.minute), day=_WindowForm.of(spent.day))
    write_atomically(path, form.model_dump_json() + "\n")


def read_spending(path: Path) -> BudgetSpending | None:
    """Return what was spent, None where there is no file.

    Raises:
        Broken: it is not of the form that is written.
        OSError: it cannot be read.
    """
    try:
        form = _SpendingForm.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        raise SpendingFileDamaged from None
    return BudgetSpending(form.minute.window(MINUTE_SECONDS), form.day.window(DAY_SECONDS))


def set_aside(path: Path) -> None:
    """Rename the file, so that somebody can look at it; raises OSError."""
    path.replace(path.with_name(f"{path.name}.set-aside"))


log = structlog.get_logger(__name__)

#: The name of the file beside the documents.
SPENT_NAME = "judge-budget.json"
#: A worker that is killed forgets what it reserved since it last wrote: this long, and one write.
WRITE_SECONDS = 1.0

_SETTING = "documents.store"


@asynccontextmanager
async def open_budget(
    settings: BudgetSettings,
    directory: Path,
    observer: BudgetObserver | None = None,
    wall: Callable[[], float] = time.time,
    write_seconds: float = WRITE_SECONDS,
) -> AsyncIterator[Budget]:
    """Give the budget with what was spent of it before; nothing may be spent until it is assigned a share.

    What is spent is written in the background, each second and at the end. A file that is broken is set
    aside, and all of the day's budget counts as spent: asking is given up for a day sooner than paid twice.
    Where there is no file, nothing was spent.

    Args:
        settings: the limits.
        directory: where the file is; one worker's own.
        observer: hears of what is used and refused, and of failures to write.
        wall: seconds since 1970, looked at once.
        write_seconds: how often it is written.

    Raises:
        InvalidSettings: the file cannot be read or written, or another worker uses it.
    """
    path = directory / SPENT_NAME
    with lock_directory(path.parent, f"{path.name}.lock", _SETTING):
        clock = steady_clock(wall)
        budget = Budget(limits_from_settings(settings), clock, _resume(path, clock()), observer)
        keeper = SpendingWriter(path, budget, observer or BudgetObserver())
        stopping = asyncio.Event()
        task = asyncio.create_task(keeper.run(stopping, write_seconds), name="judge-budget")
        try:
            yield budget
        finally:
            stopping.set()
            await task


def limits_from_settings(settings: BudgetSettings) -> Limits:
    """Return the limits of the whole deployment."""
    return Limits(
        Limit(settings.requests_per_minute, settings.tokens_per_minute),
        Limit(settings.requests_per_day, settings.tokens_per_day),
    )


class SpendingWriter:
    """Writes what was spent, where it is not written yet; a failure is told and tried again later."""

    def __init__(self, path: Path, budget: Budget, observer: BudgetObserver) -> None:
        self._path = path
        self._budget = budget
        self._observer = observer
        self._written = budget.spending

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
        spent = self._budget.spending
        if spent == self._written:
            return
        try:
            await asyncio.to_thread(write_spending, self._path, spent)
        except OSError as error:
            self._observer.write_failed(errorcode.get(error.errno or 0, type(error).__name__))
        else:
            self._written = spent


def _resume(path: Path, now: float) -> BudgetSpending:
    """Return what to go on with, and write it, so that a file that cannot be written is noticed now."""
    try:
        spent = _read_or_start(path, now).resumed(now)
        write_spending(path, spent)
    except OSError as error:
        raise InvalidSettings(f"{_SETTING}: cannot use {path}: {error.strerror}") from error
    return spent


def _read_or_start(path: Path, now: float) -> BudgetSpending:
    try:
        return read_spending(path) or BudgetSpending.at_start(now)
    except SpendingFileDamaged:
        set_aside(path)
        log.error("judge_budget_set_aside", path=str(path))  # noqa: TRY400 - a traceback would tell nothing more
        return BudgetSpending.at_start(now, MAX_AMOUNT)  # as much may have been spent as there was
