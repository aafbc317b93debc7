"""One endpoint with all its limits: of time, of calls at once, of tries, and of patience when it is down."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_result,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from scoring.cache.circuit_breaker import CircuitBreaker
from scoring.judges.requests import Failure, Finish, Outcome, Reply, Request
from streams.llm.endpoints.completion import reply_of
from streams.llm.endpoints.faults import OUTAGES, PASSING, Fault, NotAnswered
from streams.llm.endpoints.judge_metrics import Observer
from streams.llm.endpoints.parameters import Accepted, Learned, Output, chat_body
from streams.llm.endpoints.pause import Pause
from streams.settings import EndpointSettings

if TYPE_CHECKING:  # httpx2 takes a tenth of a second to import
    from streams.llm.endpoints.chat import Chat

_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.2, 5.0

#: A call that was given less time than this tells nothing of the endpoint when it does not end.
_TELLING_SECONDS = 1.0

_Attempt = Reply | NotAnswered


class Endpoint:
    """Gives one outcome for each request, in time, whatever the endpoint does.

    Args:
        name: what the settings call it.
        settings: its limits.
        chat: what sends.
        observer: hears of changes.
    """

    def __init__(self, name: str, settings: EndpointSettings, chat: Chat, observer: Observer) -> None:
        self._name = name
        self._settings = settings
        self._observer = observer
        self._chat = chat
        self._places = asyncio.Semaphore(settings.concurrency)
        self._pause = Pause()
        self._breaker = CircuitBreaker(
            settings.breaker_failures,
            settings.breaker_reset_seconds,
            lambda state: observer.breaker_became(name, state),
        )
        self._learned = Learned(_everything(settings), lambda accepted: observer.accepts_only(name, accepted))

    async def answer(self, request: Request, deadline: float) -> Outcome:
        """Return the reply, or what was at fault, at ``deadline`` by the event loop's clock at the latest."""
        began = _now()
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._settings.attempts) | stop_before_delay(deadline - began),
            wait=wait_random_exponential(_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS),
            retry=retry_if_result(lambda found: _may_pass(found) and self._pause.left < deadline - _now()),
            retry_error_callback=_last,
        )
        found: _Attempt = await retrying(self._attempt, request, deadline)
        seconds = _now() - began
        if isinstance(found, Reply):
            return replace(found, seconds=seconds)
        if found.fault is Fault.FILTERED:
            return Reply("", Finish.REFUSED, seconds=seconds)
        return Failure(found.fault.value, seconds)

    async def _attempt(self, request: Request, deadline: float) -> _Attempt:
        if self._breaker.refuses:
            return NotAnswered(Fault.BREAKER_OPEN)
        try:
            async with asyncio.timeout_at(deadline):
                await self._places.acquire()
        except TimeoutError:
            return NotAnswered(Fault.BUSY)
        try:
            return await self._in_place(request, deadline)
        finally:
            self._places.release()

    async def _in_place(self, request: Request, deadline: float) -> _Attempt:
        # All calls are held back, so the place that is kept meanwhile is of use to no other.
        if not await self._pause.over(deadline - _now()):
            return NotAnswered(Fault.RATE_LIMITED)
        if not self._breaker.admit():
            return NotAnswered(Fault.BREAKER_OPEN)
        seconds = min(self._settings.request_timeout_seconds, deadline - _now())
        try:
            async with asyncio.timeout(seconds):
                found = await self._exchange(request)
        except TimeoutError:
            if seconds >= min(self._settings.request_timeout_seconds, _TELLING_SECONDS):
                self._observer.failed(self._name, Fault.TIMEOUT)
                self._breaker.ran_out_of_time(seconds)
            return NotAnswered(Fault.TIMEOUT)
        self._report(found)
        return found

    async def _exchange(self, request: Request) -> _Attempt:
        """Send a request, with fewer parameters as long as the endpoint refuses some."""
        accepted: Accepted | None = self._learned.accepted
        found: _Attempt = NotAnswered(Fault.REJECTED)
        while accepted:
            body = await self._chat.complete(chat_body(request, self._settings.model, accepted))
            found = reply_of(body) if isinstance(body, bytes) else body
            if isinstance(found, Reply):
                self._learned.worked(accepted)
                break
            accepted = accepted.without(found.named) if found.fault is Fault.REJECTED else None
        return found

    def _report(self, found: _Attempt) -> None:
        fault = None
        if isinstance(found, NotAnswered):
            fault = found.fault
            self._observer.failed(self._name, fault)
            self._pause.begin(found.retry_after or 0)
        if fault in OUTAGES:
            self._breaker.failed()
        else:
            self._breaker.succeeded()


def _everything(settings: EndpointSettings) -> Accepted:
    output = settings.structured_output
    is_auto = output == "auto"
    return Accepted(
        Output.JSON_SCHEMA if is_auto else Output(output), falls_back=is_auto, logprobs=settings.logprobs
    )


def _may_pass(found: _Attempt) -> bool:
    return isinstance(found, NotAnswered) and found.fault in PASSING


def _last(state: RetryCallState) -> Any:
    assert state.outcome is not None
    return state.outcome.result()


def _now() -> float:
    return asyncio.get_running_loop().time()
