"""Opens and closes the metrics of a worker: at ``/metrics`` always, and by OTLP where that is configured."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.sdk.metrics.export import MetricReader

from streams.settings import Settings, TelemetrySettings
from streams.telemetry.otlp import exports, metric_exporter
from streams.telemetry.refusals import refusals
from streams.telemetry.resource import resource
from streams.worker.metrics import Metrics

#: What is left at the end has so long to leave.
_END_SECONDS = 2.0
#: "none" for a collector that takes traces alone.
_EXPORTER_VARIABLE = "OTEL_METRICS_EXPORTER"
_INTERVAL_VARIABLE = "OTEL_METRIC_EXPORT_INTERVAL"


@contextmanager
def open_metrics(settings: Settings) -> Iterator[Metrics]:
    """Give the instruments, and export them while the context lasts.

    Exports are made by a thread of their own: a collector that is away or slow holds up nothing but the
    end, for two seconds. Raises WrongSettings for a certificate that cannot be read and for what the SDK
    refuses.
    """
    with refusals():
        metrics = Metrics(
            settings.objectives.verdict_within_seconds, resource(settings.kafka), _readers(settings.telemetry)
        )
    try:
        yield metrics
    finally:
        metrics.close(_END_SECONDS)


def _readers(settings: TelemetrySettings) -> list[MetricReader]:
    if not exports(settings) or os.environ.get(_EXPORTER_VARIABLE) == "none":
        return []
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415

    return [
        PeriodicExportingMetricReader(
            metric_exporter(settings), _interval(settings), settings.otlp_timeout_seconds * 1000
        )
    ]


def _interval(settings: TelemetrySettings) -> float | None:
    """Give the milliseconds between two exports, None for what the SDK's variable says."""
    if _INTERVAL_VARIABLE in os.environ and "metrics_interval_seconds" not in settings.model_fields_set:
        return None
    return settings.metrics_interval_seconds * 1000
