"""Metrics and span attributes of judges, by OpenTelemetry's conventions for generative AI."""

from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

import structlog

from scoring.cache.call_guards import BreakerState
from scoring.judges.requests import Outcome, Reply, Request
from streams.llm.endpoints.chat_completion import AcceptedParameters
from streams.llm.endpoints.faults import EndpointFault
from streams.observability.instruments import ERROR_TYPE, Instruments, MetricLabel
from streams.observability.stages import Attributes
from streams.settings import EndpointSettings

log = structlog.get_logger(__name__)

OPERATION = "chat"
#: The conventions name the provider by the protocol if nothing better is known.
PROVIDER = "openai"
_PORTS = {"http": 80, "https": 443}

# Both are the conventions' own.
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = tuple(4**power for power in range(14))

_OF_ENDPOINT = (
    MetricLabel("gen_ai.operation.name", (OPERATION,)),
    MetricLabel("gen_ai.provider.name", (PROVIDER,)),
    MetricLabel("gen_ai.request.model"),
    MetricLabel("server.address"),
    MetricLabel("server.port"),
)


class EndpointObserver:
    """Callbacks of an endpoint, which do nothing unless a subclass overrides them; they must not block.

    ``judge`` is the name of the endpoint in the settings.
    """

    def completed(self, endpoint: EndpointSettings, outcome: Outcome) -> None:
        """A request has its outcome, after all attempts."""

    def failed(self, judge: str, fault: EndpointFault) -> None:
        """A call brought no reply."""

    def breaker_changed(self, judge: str, state: BreakerState) -> None:
        """The circuit breaker changed its state."""

    def parameters_reduced(self, judge: str, accepted: AcceptedParameters) -> None:
        """The endpoint rejects parameters, and accepts these."""


class JudgeMetrics(EndpointObserver):
    """The instruments of judges."""

    def __init__(self, instruments: Instruments) -> None:
        self._duration = instruments.histogram(
            "gen_ai.client.operation.duration",
            "Time from a request to a judge to its outcome, with all attempts; `error_type` is set if there "
            "is no reply.",
            "The endpoint's load; `truthgate_judge_breaker`; `judges.endpoints`: `request_timeout_seconds`, "
            "`concurrency`.",
            *_OF_ENDPOINT,
            MetricLabel(ERROR_TYPE.name, tuple(EndpointFault)),
            bounds=_SECONDS,
            unit="s",
        )
        self._tokens = instruments.histogram(
            "gen_ai.client.token.usage",
            "Tokens of one request to a judge and of its reply, as the endpoint counts them.",
            "Long documents; the method; `prices` of `judges.endpoints`.",
            *_OF_ENDPOINT,
            MetricLabel("gen_ai.token.type", ("input", "output")),
            bounds=_TOKENS,
            unit="{token}",
        )
        self._breaker = instruments.gauge(
            "truthgate.judge_breaker",
            "State of the circuit breaker of each judge: 1 for the current one.",
            "open: the judge is not asked; whether its endpoint responds; "
            "`gen_ai_client_operation_duration_seconds` by `error_type`.",
            MetricLabel("judge"),
            MetricLabel("state", tuple(BreakerState)),
        )
        self._in_flight = instruments.gauge(
            "truthgate.judge_in_flight",
            "Answers that wait for an opinion.",
            "At a quarter of `flow.max_in_flight`: further answers go to review, degraded judge_unavailable; "
            "`concurrency` of `judges.endpoints`.",
            unit="{answer}",
        )
        self._in_flight.set(0)
        self._states: dict[str, BreakerState] = {}
        self._logged: set[tuple[str, EndpointFault]] = set()
        self._last_faults: dict[str, EndpointFault] = {}

    def watch(self, judges: Iterable[str], in_flight: Callable[[], int]) -> None:
        """Export the breakers of these judges, all closed, and how many answers wait."""
        self._in_flight.set_function(in_flight)
        self._states = dict.fromkeys(judges, BreakerState.CLOSED)
        self._export_states()

    def completed(self, endpoint: EndpointSettings, outcome: Outcome) -> None:
        """Measure one request."""
        labels = (OPERATION, PROVIDER, endpoint.model, *map(str, server_address(endpoint)))
        if not isinstance(outcome, Reply):
            self._duration.record(outcome.seconds, *labels, outcome.code)
            return
        self._duration.record(outcome.seconds, *labels, "")
        for kind, tokens in (("input", outcome.tokens_in), ("output", outcome.tokens_out)):
            if tokens:  # 0 if the endpoint does not report them
                self._tokens.record(tokens, *labels, kind)

    def failed(self, judge: str, fault: EndpointFault) -> None:
        """Log why a judge does not reply: each reason once until its breaker closes again."""
        self._last_faults[judge] = fault
        if (judge, fault) not in self._logged:
            self._logged.add((judge, fault))
            log.warning("judge_failing", judge=judge, reason=fault.value, meaning=fault.description)

    def breaker_changed(self, judge: str, state: BreakerState) -> None:
        """Export the new state, and log it."""
        self._states[judge] = state
        if state is BreakerState.CLOSED:
            self._logged = {each for each in self._logged if each[0] != judge}
        self._export_states()
        if state is BreakerState.OPEN:
            fault = self._last_faults.get(judge)
            log.warning("judge_breaker", judge=judge, state=state.value, reason=fault and fault.value)
        else:
            log.info("judge_breaker", judge=judge, state=state.value, reason=None)

    def parameters_reduced(self, judge: str, accepted: AcceptedParameters) -> None:
        """Log it: more replies may be malformed, and labels may have no probability."""
        log.info(
            "judge_parameters",
            judge=judge,
            output=accepted.output.value,
            logprobs=accepted.logprobs,
            temperature=accepted.temperature,
        )

    def _export_states(self) -> None:
        self._breaker.replace(
            {
                (judge, known.value): known is state
                for judge, state in self._states.items()
                for known in BreakerState
            }
        )


def server_address(endpoint: EndpointSettings) -> tuple[str, int]:
    """Return host and port of an endpoint."""
    parts = urlsplit(endpoint.base_url)
    return parts.hostname or "", parts.port or _PORTS[parts.scheme]


def request_attributes(judge: str, endpoint: EndpointSettings, request: Request) -> Attributes:
    """Return the span attributes of a request to a judge."""
    host, port = server_address(endpoint)
    return {
        "gen_ai.operation.name": OPERATION,
        "gen_ai.provider.name": PROVIDER,
        "gen_ai.request.model": endpoint.model,
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.request.temperature": request.temperature,
        "gen_ai.output.type": "json",
        "server.address": host,
        "server.port": port,
        "truthgate.judge": judge,
    }


def outcome_attributes(outcome: Outcome) -> Attributes:
    """Return the span attributes of an outcome; none of them is a text."""
    if not isinstance(outcome, Reply):
        return {"error.type": outcome.code}
    return {
        "gen_ai.response.model": outcome.model,
        "gen_ai.response.finish_reasons": (outcome.finish.value,),
        "gen_ai.usage.input_tokens": outcome.tokens_in,
        "gen_ai.usage.output_tokens": outcome.tokens_out,
    }
