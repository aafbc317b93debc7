"""Keeps the company's terms up to date in the background."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from typing import Self

import structlog

from scoring.company_terms import CompanyTerms, CompanyTermsError
from streams.documents.company_terms import TermsFile
from streams.failures import as_logged

log = structlog.get_logger(__name__)

#: A refresh that takes longer than this to finish meets a store that is closed, and ends by that.
_FINISH_SECONDS = 5.0


@dataclass(eq=False)
class TermsUpkeep:
    """Refreshes the terms now and then, in a thread, for as long as it is entered.

    The terms are one signal among several and decide nothing alone. So a refresh that fails is
    logged (once for the same reason), counted, and tried again after the interval; meanwhile the
    last good terms are in use.

    Args:
        source: where the terms come from.
        interval: seconds between two refreshes, at least.
        after: begin when this is set.
        on_terms: called with the terms after each refresh.
        on_failure: called after each refresh that failed.
        clock: seconds that only go forward.

    Attributes:
        ready: set once there are terms to judge by: those of an earlier life, which a minute more or less
            makes no worse, or those of the first refresh, with or without success.
        failure: why the terms could not be built or read the last time; None when they could.
    """

    source: TermsFile
    interval: float
    after: asyncio.Event
    _: KW_ONLY
    on_terms: Callable[[CompanyTerms], None]
    on_failure: Callable[[], None]
    clock: Callable[[], float] = time.monotonic
    ready: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    failure: str | None = field(default=None, init=False)
    _agreed_at: float | None = field(default=None, init=False)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _task: asyncio.Task[None] | None = field(default=None, init=False)

    async def __aenter__(self) -> Self:
        """Begin, in the background."""
        self._task = asyncio.create_task(self._run(), name="company-terms")
        return self

    async def __aexit__(self, *_: object) -> None:
        """End, and a refresh that has begun too, so that nobody closes the store under it."""
        self._stopping.set()
        self.source.end()
        if self._task:
            await asyncio.wait([self._task], timeout=_FINISH_SECONDS if self.after.is_set() else 0)
            self._task.cancel()

    @property
    def age(self) -> float:
        """Seconds since the terms were last known to agree with their source; NaN before that."""
        return float("nan") if self._agreed_at is None else self.clock() - self._agreed_at

    async def _run(self) -> None:
        await self.after.wait()
        if await asyncio.to_thread(lambda: self.source.there):
            self.ready.set()
        await self._refresh()
        self.ready.set()
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self.interval)
            if not self._stopping.is_set():
                await self._refresh_if_due()

    async def _refresh_if_due(self) -> None:
        if self.failure or self.source.due():
            await self._refresh()
        else:
            self._agreed_at = self.clock()

    async def _refresh(self) -> None:
        try:
            terms = await asyncio.to_thread(self.source.refresh)
        except Exception as error:  # noqa: BLE001 - whatever it is, answers are judged without it
            if not self._stopping.is_set():
                self._fail(_described(error))
            return
        if self.failure:
            log.info("company_terms_work_again")
        self.failure, self._agreed_at = None, self.clock()
        self.on_terms(terms)

    def _fail(self, reason: str) -> None:
        if reason != self.failure:
            log.error("company_terms_failed", reason=reason)
        self.failure = reason
        self.on_failure()


def _described(error: Exception) -> str:
    return str(error) if isinstance(error, CompanyTermsError) else as_logged(error)
