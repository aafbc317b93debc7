"""One endpoint with all that limits its calls: time, concurrency, retries, pauses and a circuit breaker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.trace import SpanKind, Status, StatusCode
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_result,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from scoring.cache.call_guards import BreakerState, CircuitBreaker
from scoring.judges.requests import Failure, Finish, Outcome, Reply, Request
from streams.llm.endpoints.chat_completion import AcceptedParameters, chat_body, parse_completion
from streams.llm.endpoints.faults import OUTAGES, RETRYABLE_FAULTS, EndpointFault, NoReply
from streams.llm.endpoints.judge_metrics import (
    OPERATION,
    EndpointObserver,
    outcome_attributes,
    request_attributes,
)
from streams.observability.stages import Stages
from streams.settings import EndpointSettings

if TYPE_CHECKING:  # httpx2 takes a tenth of a second to import
    from streams.llm.endpoints.chat_client import ChatClient

_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.2, 5.0
#: A timeout shorter than this says nothing about the endpoint.
_MIN_TELLING_SECONDS = 1.0
#: An endpoint may ask for hours, or for nonsense. Called again after this at the latest, it can repeat it.
_MAX_BACKOFF_SECONDS = 300.0
#: An endpoint may be upgraded, or have been misunderstood: after this long, all parameters are tried again.
_RELEARN_SECONDS = 3_600.0
_UNTRACED: Final = Stages()


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How often a failing call is retried, and which parameters are sent at first.

    Three attempts, so that a hiccup costs no opinion. After five failed calls in a row the endpoint is not
    called for as long as one call may take, or for ``breaker_reset_seconds``. Parameters that it rejects are
    left out, see :class:`ParameterLearner`.
    """

    attempts: int = 3
    breaker_failures: int = 5
    breaker_reset_seconds: float | None = None
    parameters: AcceptedParameters = field(default_factory=AcceptedParameters)


class Backoff:
    """Delays all calls to an endpoint until the time that it asked for is over."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock()

    @property
    def remaining(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._until - self._clock())

    def extend(self, seconds: float) -> None:
        """Delay calls by ``seconds`` from now, unless a longer delay is under way."""
        self._until = max(self._until, self._clock() + min(seconds, _MAX_BACKOFF_SECONDS))

    async def wait(self, max_seconds: float) -> bool:
        """Wait until the delay is over; return False at once if that takes ``max_seconds`` or more."""
        while left := self.remaining:
            if left >= max_seconds:
                return False
            await asyncio.sleep(left)
            max_seconds -= left
        return True


class ParameterLearner:
    """The parameters that an endpoint was found to accept, for an hour after it was found.

    Args:
        initial: what is tried first.
        on_change: called with what was found.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        initial: AcceptedParameters,
        on_change: Callable[[AcceptedParameters], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._initial = self._found = initial
        self._on_change = on_change
        self._clock = clock
        self._since = clock()

    @property
    def accepted(self) -> AcceptedParameters:
        """What to send a request with."""
        if self._clock() - self._since > _RELEARN_SECONDS:
            self._found, self._since = self._initial, self._clock()
        return self._found

    def note_success(self, accepted: AcceptedParameters) -> None:
        """Remember that the endpoint replied to a request with these parameters."""
        if accepted != self._found:
            self._found, self._since = accepted, self._clock()
            self._on_change(accepted)


class Endpoint:
    """Returns one outcome for each request, in time, whatever the endpoint does.

    Args:
        name: the name of the judge in the settings.
        settings: address, model and limits.
        client: sends the requests.
        observer: called with every outcome, fault and change of state.
        stages: opens a span for each request.
        options: retries, circuit breaker and parameters.
    """

    def __init__(
        self,
        name: str,
        settings: EndpointSettings,
        client: ChatClient,
        observer: EndpointObserver | None = None,
        stages: Stages = _UNTRACED,
        options: CallOptions = CallOptions(),
    ) -> None:
        self.settings = settings
        self._name = name
        self._client = client
        self._observer = observer or EndpointObserver()
        self._stages = stages
        self._options = options
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._backoff = Backoff()
        self._breaker = CircuitBreaker(
            options.breaker_failures,
            options.breaker_reset_seconds or settings.request_timeout_seconds,
            self._on_breaker_change,
        )
        self._parameters = ParameterLearner(options.parameters, self._on_parameter_change)

    async def complete(self, request: Request, deadline: float) -> Outcome:
        """Return the reply or the fault, at ``deadline`` by the event loop's clock at the latest."""
        with self._stages.span(
            f"{OPERATION} {self.settings.model}",
            request_attributes(self._name, self.settings, request),
            SpanKind.CLIENT,
        ) as span:
            began = _now()
            retrying = AsyncRetrying(
                stop=stop_after_attempt(self._options.attempts) | stop_before_delay(deadline - began),
                wait=wait_random_exponential(_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS),
                retry=retry_if_result(
                    lambda found: (
                        isinstance(found, NoReply)
                        and found.fault in RETRYABLE_FAULTS
                        and self._backoff.remaining < deadline - _now()
                    )
                ),
                retry_error_callback=_last_result,
            )
            found: Reply | NoReply = await retrying(self._attempt, request, deadline)
            outcome = _outcome(found, _now() - began)
            self._observer.completed(self.settings, outcome)
            if span.is_recording():
                span.set_attributes(outcome_attributes(outcome))
                if isinstance(outcome, Failure):
                    span.set_status(Status(StatusCode.ERROR))
            return outcome

    async def _attempt(self, request: Request, deadline: float) -> Reply | NoReply:
        """Call the endpoint once, as soon as its limits allow it."""
        if self._breaker.is_rejecting:
            return NoReply(EndpointFault.BREAKER_OPEN)
        try:
            async with asyncio.timeout_at(deadline):
                await self._slots.acquire()
        except TimeoutError:
            return NoReply(EndpointFault.BUSY)
        try:
            # The backoff delays all calls, so no other call could use the slot meanwhile.
            if not await self._backoff.wait(deadline - _now()):
                return NoReply(EndpointFault.RATE_LIMITED)
            if not self._breaker.allow_call():
                return NoReply(EndpointFault.BREAKER_OPEN)
            seconds = min(self.settings.request_timeout_seconds, deadline - _now())
            try:
                async with asyncio.timeout(seconds):
                    found = await self._send(request)
            except TimeoutError:
                found = NoReply(EndpointFault.TIMEOUT)
                self._report_timeout(seconds)
            else:
                self._report(found)
            return found
        finally:
            self._slots.release()

    async def _send(self, request: Request) -> Reply | NoReply:
        """Send a request, with fewer parameters as long as the endpoint rejects some."""
        accepted: AcceptedParameters | None = self._parameters.accepted
        found: Reply | NoReply = NoReply(EndpointFault.REJECTED)
        while accepted:
            body = await self._client.complete(chat_body(request, self.settings.model, accepted))
            found = parse_completion(body) if isinstance(body, bytes) else body
            if isinstance(found, Reply):
                self._parameters.note_success(accepted)
                break
            accepted = (
                accepted.without(found.rejected_parameters) if found.fault is EndpointFault.REJECTED else None
            )
        return found

    def _report_timeout(self, seconds: float) -> None:
        if seconds >= min(self.settings.request_timeout_seconds, _MIN_TELLING_SECONDS):
            self._observer.failed(self._name, EndpointFault.TIMEOUT)
            self._breaker.record_timeout(seconds)

    def _report(self, found: Reply | NoReply) -> None:
        fault = None
        if isinstance(found, NoReply):
            fault = found.fault
            self._observer.failed(self._name, fault)
            self._backoff.extend(found.retry_after or 0)
        if fault in OUTAGES:
            self._breaker.record_failure()
        else:
            self._breaker.record_success()

    def _on_breaker_change(self, state: BreakerState) -> None:
        self._observer.breaker_changed(self._name, state)

    def _on_parameter_change(self, accepted: AcceptedParameters) -> None:
        self._observer.parameters_reduced(self._name, accepted)


def _outcome(found: Reply | NoReply, seconds: float) -> Outcome:
    if isinstance(found, Reply):
        return replace(found, seconds=seconds)
    if found.fault is EndpointFault.FILTERED:  # a retry would be filtered too
        return Reply("", Finish.REFUSED, seconds=seconds)
    return Failure(found.fault.value, seconds)


def _last_result(state: RetryCallState) -> Any:
    assert state.outcome is not None
    return state.outcome.result()


def _now() -> float:
    return asyncio.get_running_loop().time()
