"""What is exported, by which protocol, with which headers; a collector that fails is no more than a line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import get_tracer_provider
from pydantic import SecretStr

from streams.settings import Settings, TelemetrySettings, WrongSettings
from streams.telemetry import tracing
from streams.telemetry.otlp import Reported, span_exporter
from streams.telemetry.tracing import Tracing, open_tracing
from tests.support.otlp import OtlpReceiver, attributes, hanging_collector

#: How long an export to a collector that hangs takes; whoever waited for one would take longer.
_EXPORT_SECONDS = 60


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


@pytest.mark.parametrize("protocol", ["grpc", "http"])
async def test_spans_and_events_arrive_with_headers_and_resource(
    protocol: str, collector: OtlpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    before = get_tracer_provider()
    headers = {"Authorization": SecretStr("Bearer abc")}
    endpoint = getattr(collector, protocol)
    await _trace(_settings(otlp_endpoint=endpoint, otlp_protocol=protocol, otlp_headers=headers))
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


async def test_the_sdks_own_variables_count_for_what_is_left_open(
    collector: OtlpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.http)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "gate-of-the-test")
    await _trace(_settings())
    assert [span.resource["service.name"] for span in collector.spans] == ["gate-of-the-test"]


@pytest.mark.parametrize(
    ("telemetry", "variables"),
    [
        ({}, {}),
        ({"otlp_endpoint": "http://localhost:1", "sampling_ratio": 0}, {}),
        ({"otlp_endpoint": "http://localhost:1"}, {"OTEL_SDK_DISABLED": "true"}),
    ],
)
async def test_without_an_endpoint_or_a_share_nothing_is_traced(
    telemetry: dict[str, Any], variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    async with open_tracing(_settings(**telemetry)) as opened:
        assert opened == Tracing()


@pytest.mark.parametrize("protocol", ["grpc", "http"])
async def test_a_collector_that_never_answers_delays_no_span_and_the_end_by_little(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "_END_SECONDS", 0.5)
    with hanging_collector() as endpoint:
        settings = _settings(otlp_endpoint=endpoint, otlp_protocol=protocol, otlp_timeout=_EXPORT_SECONDS)
        async with open_tracing(settings) as opened:
            assert opened.tracer is not None
            began = time.perf_counter()
            for _ in range(10_000):  # more than are kept
                opened.tracer.start_span("work").end()
            assert time.perf_counter() - began < _EXPORT_SECONDS / 2
            ending = time.perf_counter()
        assert time.perf_counter() - ending < _EXPORT_SECONDS / 2


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_a_collector_that_refuses_is_one_line(protocol: str, worker_log: pytest.LogCaptureFixture) -> None:
    nowhere = TelemetrySettings(otlp_endpoint="http://127.0.0.1:1", otlp_protocol=protocol, otlp_timeout=0.1)
    exporter = span_exporter(nowhere)
    for _ in range(3):
        exporter.export(())
    exporter.shutdown()
    assert _events(worker_log) == ["telemetry_not_exported"]
    assert not [record for record in worker_log.records if record.name.startswith("opentelemetry")]


def test_a_failing_exporter_is_told_of_when_that_changes(worker_log: pytest.LogCaptureFixture) -> None:
    results = iter(["FAILURE", "FAILURE", "SUCCESS", "SUCCESS", "FAILURE"])
    exporter = Reported(SimpleNamespace(export=lambda _: SpanExportResult[next(results)], name="x"), "traces")
    for _ in range(5):
        exporter.export(())
    assert _events(worker_log) == [
        "telemetry_not_exported",
        "telemetry_exported_again",
        "telemetry_not_exported",
    ]
    assert exporter.name == "x"


def test_an_exporter_that_raises_is_told_of_too(worker_log: pytest.LogCaptureFixture) -> None:
    exporter = Reported(SimpleNamespace(), "traces")
    for _ in range(2):
        with pytest.raises(AttributeError):
            exporter.export(())
    assert _events(worker_log) == ["telemetry_not_exported"]


def test_a_certificate_that_cannot_be_read_is_a_wrong_setting(tmp_path: Path) -> None:
    for protocol in ("grpc", "http"):
        settings = TelemetrySettings(
            otlp_endpoint="https://collector:4317", otlp_protocol=protocol, otlp_cafile=tmp_path / "none.pem"
        )
        with pytest.raises(WrongSettings, match="otlp_cafile"):
            span_exporter(settings)
