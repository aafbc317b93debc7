"""One endpoint with all its limits: time, concurrent calls, attempts, and pauses while it is down."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
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
from streams.llm.endpoints.completion import parse_completion
from streams.llm.endpoints.faults import OUTAGES, RETRYABLE_FAULTS, EndpointFault, NoReply
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.llm.endpoints.parameters import AcceptedParameters, ParameterLearner, chat_body
from streams.llm.endpoints.pause import Backoff
from streams.settings import EndpointSettings

if TYPE_CHECKING:  # httpx2 takes a tenth of a second to import
    from streams.llm.endpoints.chat import ChatClient

_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.2, 5.0

#: A call that was given less time than this tells nothing of the endpoint when it does not end.
_MIN_TELLING_SECONDS = 1.0

_Attempt = Reply | NoReply


@dataclass(frozen=True, slots=True)
class Persistence:
    """How long an endpoint that fails is tried, and with which parameters it is asked at first.

    A call is tried three times, so that a hiccup costs no opinion. After five failed calls in a row the
    endpoint is left alone for as long as one call may take, unless ``breaker_reset_seconds`` says how long.
    What it refuses is left out, see :class:`ParameterLearner`.
    """

    attempts: int = 3
    breaker_failures: int = 5
    breaker_reset_seconds: float | None = None
    parameters: AcceptedParameters = field(default_factory=AcceptedParameters)


class Endpoint:
    """Gives one outcome for each request, in time, whatever the endpoint does.

    Args:
        name: what the settings call it.
        settings: its limits.
        chat: what sends.
        observer: hears of changes.
        persistence: how long it is tried.
    """

    def __init__(
        self,
        name: str,
        settings: EndpointSettings,
        chat: ChatClient,
        observer: EndpointObserver,
        persistence: Persistence = Persistence(),
    ) -> None:
        self._name = name
        self._settings = settings
        self._persistence = persistence
        self._observer = observer
        self._chat = chat
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._backoff = Backoff()
        self._breaker = CircuitBreaker(
            persistence.breaker_failures,
            persistence.breaker_reset_seconds or settings.request_timeout_seconds,
            lambda state: observer.breaker_changed(name, state),
        )
        self._parameters = ParameterLearner(
            persistence.parameters, lambda accepted: observer.parameters_reduced(name, accepted)
        )

    async def complete(self, request: Request, deadline: float) -> Outcome:
        """Return the reply, or what was at fault, at ``deadline`` by the event loop's clock at the latest."""
        began = _now()
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._persistence.attempts) | stop_before_delay(deadline - began),
            wait=wait_random_exponential(_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS),
            retry=retry_if_result(
                lambda found: _is_retryable(found) and self._backoff.remaining < deadline - _now()
            ),
            retry_error_callback=_last_result,
        )
        found: _Attempt = await retrying(self._attempt, request, deadline)
        seconds = _now() - began
        if isinstance(found, Reply):
            return replace(found, seconds=seconds)
        if found.fault is EndpointFault.FILTERED:
            return Reply("", Finish.REFUSED, seconds=seconds)
        return Failure(found.fault.value, seconds)

    async def _attempt(self, request: Request, deadline: float) -> _Attempt:
        if self._breaker.is_rejecting:
            return NoReply(EndpointFault.BREAKER_OPEN)
        try:
            async with asyncio.timeout_at(deadline):
                await self._slots.acquire()
        except TimeoutError:
            return NoReply(EndpointFault.BUSY)
        try:
            return await self._call(request, deadline)
        finally:
            self._slots.release()

    async def _call(self, request: Request, deadline: float) -> _Attempt:
        # All calls are held back, so the place that is kept meanwhile is of use to no other.
        if not await self._backoff.wait(deadline - _now()):
            return NoReply(EndpointFault.RATE_LIMITED)
        if not self._breaker.allow_call():
            return NoReply(EndpointFault.BREAKER_OPEN)
        seconds = min(self._settings.request_timeout_seconds, deadline - _now())
        try:
            async with asyncio.timeout(seconds):
                found = await self._exchange(request)
        except TimeoutError:
            if seconds >= min(self._settings.request_timeout_seconds, _MIN_TELLING_SECONDS):
                self._observer.failed(self._name, EndpointFault.TIMEOUT)
                self._breaker.record_timeout(seconds)
            return NoReply(EndpointFault.TIMEOUT)
        self._report(found)
        return found

    async def _exchange(self, request: Request) -> _Attempt:
        """Send a request, with fewer parameters as long as the endpoint refuses some."""
        accepted: AcceptedParameters | None = self._parameters.accepted
        found: _Attempt = NoReply(EndpointFault.REJECTED)
        while accepted:
            body = await self._chat.complete(chat_body(request, self._settings.model, accepted))
            found = parse_completion(body) if isinstance(body, bytes) else body
            if isinstance(found, Reply):
                self._parameters.note_success(accepted)
                break
            accepted = (
                accepted.without(found.rejected_parameters) if found.fault is EndpointFault.REJECTED else None
            )
        return found

    def _report(self, found: _Attempt) -> None:
        fault = None
        if isinstance(found, NoReply):
            fault = found.fault
            self._observer.failed(self._name, fault)
            self._backoff.extend(found.retry_after or 0)
        if fault in OUTAGES:
            self._breaker.record_failure()
        else:
            self._breaker.record_success()


def _is_retryable(found: _Attempt) -> bool:
    return isinstance(found, NoReply) and found.fault in RETRYABLE_FAULTS


def _last_result(state: RetryCallState) -> Any:
    assert state.outcome is not None
    return state.outcome.result()


def _now() -> float:
    return asyncio.get_running_loop().time()
