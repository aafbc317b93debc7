"""What is exported, by which protocol, with which headers; a collector that fails is no more than a line."""

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import get_tracer_provider
from pydantic import SecretStr, ValidationError

from streams.observability import tracing
from streams.observability.otlp import ReportingExporter, span_exporter
from streams.observability.tracing import Tracing, open_tracing, otel_setup_errors
from streams.settings import InvalidSettings, Settings, TelemetrySettings
from tests.support.local_http import QuietHandler, served
from tests.support.otlp import OtlpReceiver, attributes, hanging_collector
from tests.support.ports import NOBODY
from tests.support.records import eventually

#: How long an export to a collector that hangs takes; whoever waited for one would take longer.
_EXPORT_SECONDS = 8


@pytest.fixture
def collector() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as receiver:
        yield receiver


def _events(log: pytest.LogCaptureFixture) -> list[str]:
    return [record.msg["event"] for record in log.records if isinstance(record.msg, dict)]


def _settings(**telemetry: Any) -> Settings:
    return Settings(telemetry=TelemetrySettings(**telemetry))


async def _trace(settings: Settings) -> None:
    async with open_tracing(settings) as opened:
        assert opened.tracer is not None
        assert opened.events is not None
        with opened.tracer.start_as_current_span("work"):
            opened.events.emit(event_name="done", severity_number=SeverityNumber.INFO, attributes={"a": 1})


def _by(monkeypatch: pytest.MonkeyPatch, protocol: str, timeout_seconds: float) -> None:
    """Have exporters use a protocol, and give up an export after so long, as the SDK's variables say."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", str(timeout_seconds))


@pytest.mark.parametrize("protocol", ["grpc", "http"])
async def test_spans_and_events_arrive_with_headers_and_resource(protocol, collector, monkeypatch):
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    before = get_tracer_provider()
    headers = {"Authorization": SecretStr("Bearer abc")}
    endpoint = getattr(collector, protocol)
    await _trace(_settings(otlp_endpoint=endpoint, otlp_headers=headers))
    (span,) = collector.spans
    (event,) = collector.logs
    assert span.name == "work"
    assert (event.event_name, attributes(event.attributes)) == ("done", {"a": 1})
    assert (event.trace_id.hex(), event.span_id.hex()) == (span.trace_id, span.span_id)
    assert span.resource["service.name"] == "truthgate"
    assert span.resource["service.version"]
    assert span.resource["service.instance.id"]
    assert span.resource["deployment.environment.name"] == "test"
    assert {sent["authorization"] for sent in collector.headers} == {"Bearer abc"}
    assert get_tracer_provider() is before


async def test_the_sdks_own_variables_count_for_what_is_left_open(collector, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.http)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "gate-of-the-test")
    await _trace(_settings())
    assert [span.resource["service.name"] for span in collector.spans] == ["gate-of-the-test"]


@pytest.mark.parametrize(
    ("telemetry", "variables"),
    [
        ({}, {}),
        ({"otlp_endpoint": f"http://{NOBODY}", "sampling_ratio": 0}, {}),
        ({"otlp_endpoint": f"http://{NOBODY}"}, {"OTEL_SDK_DISABLED": "true"}),
    ],
)
async def test_without_an_endpoint_or_a_share_nothing_is_traced(telemetry, variables, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    async with open_tracing(_settings(**telemetry)) as opened:
        assert opened == Tracing()


@pytest.mark.parametrize("protocol", ["grpc", "http"])
async def test_a_collector_that_never_answers_delays_no_span_and_the_end_by_little(protocol, monkeypatch):
    monkeypatch.setattr(tracing, "_END_SECONDS", 0.5)
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "512")
    with hanging_collector() as endpoint:
        _by(monkeypatch, protocol, _EXPORT_SECONDS)
        settings = _settings(otlp_endpoint=endpoint)
        async with open_tracing(settings) as opened:
            assert opened.tracer is not None
            began = time.perf_counter()
            for _ in range(3_000):  # more than are kept
                opened.tracer.start_span("work").end()
            assert time.perf_counter() - began < _EXPORT_SECONDS / 2
            ending = time.perf_counter()
        assert time.perf_counter() - ending < _EXPORT_SECONDS / 2
    # Nobody waits for them but this test: what they log and draw from `random` would disturb others.
    await eventually(lambda: not _exporting(), "the threads that export have given up")


def _exporting() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith(("OtelBatch", "telemetry-end"))]


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_a_collector_that_refuses_is_one_line(protocol, capsys, worker_log, monkeypatch):
    _by(monkeypatch, protocol, 0.1)
    exporter = span_exporter(TelemetrySettings(otlp_endpoint=f"http://{NOBODY}"))
    for _ in range(3):
        exporter.export(())
    exporter.shutdown()
    assert _events(worker_log) == ["telemetry_not_exported"]
    # pytest's own handler hears what reaches no handler of a worker.
    assert '"logger": "opentelemetry' not in capsys.readouterr().err


class _Refusing(QuietHandler):
    def do_POST(self) -> None:
        self.read_body()
        self.send_error(401, "the customer wrote: secret")


@pytest.mark.parametrize(("protocol", "why"), [("http", "HTTP 401"), ("grpc", "UNAVAILABLE, ")])
def test_a_collector_that_refuses_is_reported_with_its_address_and_why_and_with_nothing_that_it_says(
    protocol, why, worker_log, monkeypatch
):
    _by(monkeypatch, protocol, 3)
    with served(_Refusing) as address:
        where = address.removeprefix("http://")
        # What is no HTTP/2 is to gRPC as a port where nobody listens.
        exporter = span_exporter(TelemetrySettings(otlp_endpoint=f"http://user:secret@{where}"))
        exporter.export(())
        exporter.shutdown()
    (message,) = [record.msg for record in worker_log.records if isinstance(record.msg, dict)]
    assert message["endpoint"] == f"http://{where}"
    assert message["reason"].startswith(why)
    assert "secret" not in str(message)


def test_a_host_that_is_not_known_is_reported_as_that(worker_log, monkeypatch):
    _by(monkeypatch, "http", 2)
    exporter = span_exporter(TelemetrySettings(otlp_endpoint="http://nowhere.invalid:4318"))
    exporter.export(())
    exporter.shutdown()
    (message,) = [record.msg for record in worker_log.records if isinstance(record.msg, dict)]
    assert message["reason"].startswith(("gaierror (", "EAI_"))


def test_a_failing_exporter_is_reported_of_when_that_changes(worker_log):
    results = iter(["FAILURE", "FAILURE", "SUCCESS", "SUCCESS", "FAILURE"])
    exporter = ReportingExporter(
        SimpleNamespace(export=lambda _: SpanExportResult[next(results)], name="x"), "traces", ""
    )
    for _ in range(5):
        exporter.export(())
    assert _events(worker_log) == [
        "telemetry_not_exported",
        "telemetry_exported_again",
        "telemetry_not_exported",
    ]
    assert exporter.name == "x"


def test_an_exporter_that_raises_is_reported_of_too(worker_log):
    exporter = ReportingExporter(SimpleNamespace(), "traces", "")
    for _ in range(2):
        with pytest.raises(AttributeError):
            exporter.export(())
    assert _events(worker_log) == ["telemetry_not_exported"]


@pytest.mark.parametrize(
    ("endpoint", "module"),
    [
        ("http://collector:4317", "grpc"),
        ("https://collector", "grpc"),
        ("http://collector:4318", "http"),
        ("https://otlp.example.com/otlp", "http"),
    ],
)
def test_an_address_states_the_protocol_unless_the_sdks_variable_does(endpoint, module, monkeypatch):
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_PROTOCOL", raising=False)
    for named, expected in ((None, module), ("grpc", "grpc"), ("http/protobuf", "http")):
        if named:
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", named)
        exporter = span_exporter(TelemetrySettings(otlp_endpoint=endpoint))
        assert f".proto.{expected}." in type(exporter._exporter).__module__
        exporter.shutdown()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "abc"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zz"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "100000"),
        ("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "100000"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "-1"),
    ],
)
async def test_a_variable_that_the_sdk_refuses_is_a_wrong_setting(variable, value, monkeypatch):
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidSettings, match=rf"^telemetry: .*{variable}\)$"):
        async with open_tracing(_settings(otlp_endpoint=f"http://{NOBODY}")):
            pass


@pytest.mark.parametrize("text", ["no key 'a\nsecret' here", 'no key "secret" here', "no key 'it's secret'"])
def test_a_refusal_is_one_line_without_values(text):
    with pytest.raises(InvalidSettings, match="no key \\.\\.\\.") as caught, otel_setup_errors():
        raise ValueError(text)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_refusal_without_words_states_its_kind():
    with pytest.raises(InvalidSettings, match="KeyError"), otel_setup_errors():
        raise KeyError


@pytest.mark.parametrize(
    "value", ["secret\n", "sec\r\nX-Other: ret", "sec\x00ret", "sec\tret", " secret", "sécret"]
)
def test_a_header_that_cannot_be_sent_is_refused_and_its_value_not_reported(value):
    with pytest.raises(ValidationError, match="otlp_headers") as caught:
        TelemetrySettings(otlp_headers={"authorization": SecretStr(value)})
    (problem,) = caught.value.errors(include_input=False)
    assert "authorization" in problem["msg"]
    assert value not in problem["msg"]
    assert "\n" not in problem["msg"]


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a\nb", "é"])
def test_a_name_of_a_header_that_cannot_be_sent_is_refused(name):
    with pytest.raises(ValidationError, match="characters that HTTP header names must not contain"):
        TelemetrySettings(otlp_headers={name: SecretStr("x")})


@pytest.mark.parametrize("value", ["", "x", "Bearer a.b-c_d~e+f/g==", "Basic dXNlcjpwYXNz"])
def test_usual_headers_are_accepted(value):
    headers = TelemetrySettings(otlp_headers={"X-Scope-OrgID": SecretStr(value)}).otlp_headers
    assert headers["X-Scope-OrgID"].get_secret_value() == value
