"""What is told of asking judges follows the conventions for generative AI, and holds no text."""

import asyncio
import json
from dataclasses import replace

import pytest
import structlog
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from prometheus_client import generate_latest

from scoring.cache.call_guards import BreakerState
from scoring.judges.requests import Failure, Reply
from streams.llm.endpoints.chat_completion import AcceptedParameters, OutputMode
from streams.llm.endpoints.endpoint import Endpoint
from streams.llm.endpoints.faults import EndpointFault
from streams.llm.endpoints.opening import open_judges
from streams.observability.stages import Stages
from streams.settings import EndpointSettings, JudgeSettings
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.judges import KEY, SECRET, asked_once, complete_all, request
from tests.support.llm_endpoint import LlmEndpoint
from tests.support.virtual_time import run_virtually

ENDPOINT = EndpointSettings(base_url="https://llm.example/v1", model="gpt-small", api_key=KEY)
REPLY = Reply(f'{{"reason": "{SECRET}"}}', model="gpt-small-0613", tokens_in=120, tokens_out=4, seconds=0.3)
LABELS = (
    'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-small"'
    ',{}server_address="llm.example",server_port="443"'
)


class Client:
    """Sends REPLY after 0.3 seconds, or nothing."""

    def __init__(self, *, is_silent: bool) -> None:
        self._is_silent = is_silent

    async def complete(self, _body: bytes) -> bytes:
        await asyncio.sleep(1e6 if self._is_silent else REPLY.seconds)
        usage = {"prompt_tokens": REPLY.tokens_in, "completion_tokens": REPLY.tokens_out}
        choice = {"message": {"content": REPLY.text}, "finish_reason": "stop"}
        return json.dumps({"choices": [choice], "model": REPLY.model, "usage": usage}).encode()


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


def told(exporter: InMemorySpanExporter, *, is_silent: bool = False) -> tuple[str, ReadableSpan]:
    """Return the metrics and the span of one request, which has 2.5 seconds."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer, metrics = provider.get_tracer("test"), WorkerMetrics()

    async def ask() -> None:
        judge = Endpoint("small", ENDPOINT, Client(is_silent=is_silent), metrics.judges, Stages(tracer))
        with tracer.start_as_current_span("process"):
            await judge.complete(request(temperature=0.5), asyncio.get_running_loop().time() + 2.5)

    run_virtually(ask())
    return generate_latest(metrics.registry).decode(), exporter.get_finished_spans()[0]


def test_a_reply_is_measured_and_shown_without_its_text(exporter: InMemorySpanExporter) -> None:
    metrics, span = told(exporter)
    assert f"gen_ai_client_operation_duration_seconds_sum{{{LABELS.format('')}}} 0.3" in metrics
    for kind, tokens in (("input", 120.0), ("output", 4.0)):
        labels = LABELS.format(f'gen_ai_token_type="{kind}",')
        assert f"gen_ai_client_token_usage_sum{{{labels}}} {tokens}" in metrics
    assert (span.name, span.kind) == ("chat gpt-small", SpanKind.CLIENT)
    assert span.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-small",
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.output.type": "json",
        "server.address": "llm.example",
        "server.port": 443,
        "truthgate.judge": "small",
        "gen_ai.response.model": "gpt-small-0613",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 4,
    }
    for private in (SECRET, KEY):
        assert private not in metrics + span.to_json()


def test_a_failure_is_measured_by_its_code(exporter: InMemorySpanExporter) -> None:
    metrics, span = told(exporter, is_silent=True)
    labels = 'error_type="timeout",' + LABELS.format("")
    assert f"gen_ai_client_operation_duration_seconds_sum{{{labels}}} 2.5" in metrics
    assert "gen_ai_client_token_usage" not in metrics
    assert span.attributes
    assert span.attributes["error.type"] == "timeout"
    assert not span.status.is_ok


async def test_replies_and_failures_stand_beside_each_other() -> None:
    metrics = WorkerMetrics()
    for outcome in (REPLY, Failure("timeout", 1), replace(REPLY, seconds=0.1)):
        metrics.judges.completed(ENDPOINT, outcome)
    text = generate_latest(metrics.registry).decode()
    counts = [
        line
        for line in text.splitlines()
        if line.startswith("gen_ai_client_operation_duration_seconds_count")
    ]
    assert sorted((line.rpartition(" ")[2], 'error_type="timeout"' in line) for line in counts) == [
        ("1.0", True),
        ("2.0", False),
    ]


async def test_tokens_that_an_endpoint_does_not_tell_are_not_measured() -> None:
    metrics = WorkerMetrics()
    metrics.judges.completed(ENDPOINT, Reply("{}"))
    assert "gen_ai_client_token_usage" not in generate_latest(metrics.registry).decode()


def test_every_breaker_is_shown_and_its_changes_are_logged() -> None:
    metrics = WorkerMetrics()
    metrics.judges.watch(["small", "large"], lambda: 3)
    with structlog.testing.capture_logs() as logs:
        metrics.judges.failed("small", EndpointFault.UNAUTHORIZED)
        metrics.judges.breaker_changed("small", BreakerState.OPEN)
        metrics.judges.parameters_reduced("large", AcceptedParameters(OutputMode.PLAIN, logprobs=False))
    text = generate_latest(metrics.registry).decode()
    assert 'truthgate_judge_breaker{judge="small",state="open"} 1.0' in text
    assert 'truthgate_judge_breaker{judge="small",state="closed"} 0.0' in text
    assert 'truthgate_judge_breaker{judge="large",state="closed"} 1.0' in text
    assert [(line["event"], line["log_level"], line["judge"], line.get("reason")) for line in logs] == [
        ("judge_failing", "warning", "small", "unauthorized"),
        ("judge_breaker", "warning", "small", "unauthorized"),
        ("judge_parameters", "info", "large", None),
    ]


async def test_why_a_judge_does_not_reply_is_logged_once_a_reason_and_again_after_it_was_well() -> None:
    metrics = WorkerMetrics()
    metrics.judges.watch(["small"], lambda: 0)
    with LlmEndpoint() as endpoint, structlog.testing.capture_logs() as logs:
        for behaviour in ({"status": 401, "body": SECRET.encode()}, {"status": 404}, {"status": 401}):
            endpoint.behave(**behaviour)
            await asked_once(endpoint, observer=metrics.judges)
        metrics.judges.breaker_changed("small", BreakerState.CLOSED)
        await asked_once(endpoint, observer=metrics.judges)
        url = endpoint.url
    reasons = [(line["judge"], line["reason"]) for line in logs if line["event"] == "judge_failing"]
    assert reasons == [("small", "unauthorized"), ("small", "not_found"), ("small", "unauthorized")]
    assert all(private not in str(logs) for private in (SECRET, KEY, url))


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("http://a/v1", 'server_address="a",server_port="80"'),
        ("http://[2001:db8::1]:8000/v1", 'server_address="2001:db8::1",server_port="8000"'),
    ],
)
def test_the_port_is_that_of_the_scheme_where_none_is_named(url: str, server: str) -> None:
    metrics = WorkerMetrics()
    metrics.judges.completed(EndpointSettings(base_url=url, model="m"), REPLY)
    assert server in generate_latest(metrics.registry).decode()


async def test_judges_are_watched_from_where_they_are_opened() -> None:
    metrics = WorkerMetrics()
    with LlmEndpoint() as endpoint:
        settings = JudgeSettings.model_validate(
            {"endpoints": {"small": {"base_url": endpoint.url, "model": "gpt-small"}}}
        )
        async with open_judges(settings, metrics.judges) as judges:
            assert judges
            await complete_all(judges, 30, [request()])
    assert "gen_ai_client_token_usage_count" in generate_latest(metrics.registry).decode()
