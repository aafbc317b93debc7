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

from scoring.cache.files import replace_file
from scoring.judges import Asking, Outcome, Reply, Request, drive_async
from scoring.values.opinion import Opinion
from streams.documents.store_file import lock_directory
from streams.llm.budget import (
    DAY_SECONDS,
    EVERYTHING,
    MINUTE_SECONDS,
    NOTHING,
    Amount,
    Budget,
    Limit,
    Limits,
    Observer,
    Priority,
    Reservation,
    Spent,
    Window,
    steady_clock,
)
from streams.settings import WrongSettings
from streams.settings.judges import BudgetSettings

AnswerAll = Callable[[tuple[Request, ...]], Awaitable[Sequence[Outcome]]]

# A token of prose in Latin script is some 4 bytes, of Dutch 3; of Chinese a character, which has 3.
_BYTES_OF_A_TOKEN = 3


class _Spent(Exception):
    """Too little of the budget is left."""


async def ask_within(
    budget: Budget,
    priority: Priority,
    asking: Asking,
    most_requests: int,
    answer_all: AnswerAll,
    unsent: Collection[str] = (),
) -> Opinion | None:
    """Ask for an opinion, or return None where too little of the budget is left for it.

    Reserved is the estimate of the first round for as many requests as the method may make; an asking that
    makes none costs nothing. Settled is what the endpoint counted, or the estimate where it counted nothing,
    did not reply, or the asking was given up meanwhile. Tries of the same request count once.

    Args:
        budget: what it is taken from.
        priority: see :class:`Priority`.
        asking: what :func:`scoring.judges.ask` returns.
        most_requests: the most requests of the method, repairs not counted.
        answer_all: sends the requests of a round; see :func:`scoring.judges.drive_async`.
        unsent: codes of failures that say that nothing was sent, which cost nothing.
    """
    account = _Account(budget, priority, most_requests, answer_all, unsent)
    try:
        return await drive_async(asking, account.answer_all)
    except _Spent:
        return None
    finally:
        account.settle()


@dataclass(slots=True)
class _Account:
    """What one opinion has cost so far."""

    budget: Budget
    priority: Priority
    most_requests: int
    send: AnswerAll
    unsent: Collection[str]
    reservation: Reservation | None = None
    used: Amount = NOTHING
    under_way: Amount = NOTHING

    async def answer_all(self, requests: tuple[Request, ...]) -> Sequence[Outcome]:
        """Have the requests of a round answered; raises _Spent before the first one where it is refused."""
        if self.reservation is None:
            number = max(len(requests), self.most_requests)
            tokens = sum(estimated(request).tokens for request in requests)
            need = Amount(number, ceil(tokens * number / len(requests)))
            self.reservation = self.budget.reserve(need, self.priority)
        if self.reservation is None:
            raise _Spent
        self.under_way = sum(map(estimated, requests), NOTHING)
        outcomes = await self.send(requests)
        self.used = sum(map(self._cost, requests, outcomes), self.used)
        self.under_way = NOTHING
        return outcomes

    def settle(self) -> None:
        """Count what was used."""
        if self.reservation is not None:
            self.reservation.settle(self.used + self.under_way)

    def _cost(self, request: Request, outcome: Outcome) -> Amount:
        if isinstance(outcome, Reply) and outcome.tokens_in:
            return Amount(1, outcome.tokens_in + outcome.tokens_out)
        if not isinstance(outcome, Reply) and outcome.code in self.unsent:
            return NOTHING
        return estimated(request)


def estimated(request: Request) -> Amount:
    """Return what a request takes, about: its text, its form, and the longest reply that it may have."""
    texts = (request.schema.text, *(message.content for message in request.messages))
    length = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return Amount(1, ceil(length / _BYTES_OF_A_TOKEN) + request.max_tokens)


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
