"""OTLP exporters over gRPC or HTTP, and the reasons of failed exports.

Reasons contain only what cannot quote exported data: status codes, and errors of connections. The SDK's own
variables (``OTEL_EXPORTER_OTLP_...``) apply to unset settings.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import structlog

from streams.observability.failures import loggable_reason
from streams.settings import TelemetrySettings

if TYPE_CHECKING:
    from opentelemetry.sdk._logs.export import LogRecordExporter
    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace.export import SpanExporter

#: These loggers repeat what is reported once here.
_REPETITIVE: Final = "opentelemetry.exporter"
_SILENT: Final = "opentelemetry.sdk._shared_internal"
#: gRPC statuses set without reading the data: their details are about the connection.
_CONNECTION_STATUSES: Final = ("UNAVAILABLE", "DEADLINE_EXCEEDED")


class _ExportErrorHandler(logging.Handler):
    """Stores the last reason per thread."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = threading.local()

    def emit(self, record: logging.LogRecord) -> None:
        arguments = record.args if isinstance(record.args, tuple) else ()
        if reason := ", ".join(_reasons(arguments)):
            self.last.reason = reason


_EXPORT_ERRORS: Final = _ExportErrorHandler()


def capture_export_errors() -> None:
    """Handle the exporters' lines here instead of in the log; idempotent."""
    exporters = logging.getLogger(_REPETITIVE)
    exporters.addHandler(_EXPORT_ERRORS)
    exporters.setLevel(logging.WARNING)
    exporters.propagate = False
    logging.getLogger(_SILENT).setLevel(logging.CRITICAL)


def _reasons(arguments: tuple[Any, ...]) -> Iterator[str]:
    for value in arguments:
        if isinstance(value, Enum):  # a status of gRPC
            yield value.name
            if value.name in _CONNECTION_STATUSES:
                yield " ".join(str(arguments[-1]).split())
        elif isinstance(value, BaseException):
            yield loggable_reason(_cause(value))
        elif isinstance(value, int):
            yield f"HTTP {value}"


def _cause(error: BaseException) -> BaseException:
    """Return the root cause of a connection error, e.g. an unknown host name."""
    while (deeper := error.__cause__ or error.__context__) is not None:
        error = deeper
    return error


log = structlog.get_logger(__name__)

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
#: The OTLP port for HTTP, by the specification; 4317 is for gRPC.
_HTTP_PORT = 4318


def is_export_enabled(settings: TelemetrySettings) -> bool:
    """Return whether any export is configured."""
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return bool(settings.otlp_endpoint or os.environ.get(_ENDPOINT)) and not disabled


def span_exporter(settings: TelemetrySettings) -> SpanExporter:
    """Return the exporter of spans."""
    return cast("SpanExporter", _exporter(settings, "traces", "trace_exporter", "OTLPSpanExporter"))


def log_exporter(settings: TelemetrySettings) -> LogRecordExporter:
    """Return the exporter of log records and events."""
    return cast("LogRecordExporter", _exporter(settings, "logs", "_log_exporter", "OTLPLogExporter"))


def metric_exporter(settings: TelemetrySettings) -> MetricExporter:
    """Return the exporter of metrics."""
    return cast("MetricExporter", _exporter(settings, "metrics", "metric_exporter", "OTLPMetricExporter"))


#: An exporter gives up silently if no time is left for a retry.
_UNKNOWN_ERROR = "no success within the time for an export"


class ReportingExporter:
    """An exporter that logs when it begins to fail, and when it recovers; not each time.

    Everything except ``export`` is delegated.
    """

    def __init__(self, exporter: Any, signal: str, endpoint: str) -> None:
        capture_export_errors()
        self._exporter = exporter
        self._signal = signal
        parts = urlsplit(endpoint)
        credentials, at, host = parts.netloc.rpartition("@")
        self._endpoint = f"{parts.scheme}://{host}"
        self._secret = credentials + at
        self._failing = False
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._exporter, name)

    def export(self, *arguments: Any, **named: Any) -> Any:
        """Export a batch; one that fails is lost."""
        _EXPORT_ERRORS.last.reason = None
        try:
            result = self._exporter.export(*arguments, **named)
        except Exception as error:
            self._note(loggable_reason(error))
            raise
        self._note(
            None
            if result.name == "SUCCESS"
            else getattr(_EXPORT_ERRORS.last, "reason", None) or _UNKNOWN_ERROR
        )
        return result

    def _note(self, failure: str | None) -> None:
        with self._lock:
            changed, self._failing = bool(failure) != self._failing, bool(failure)
        if changed and failure:
            reason = failure.replace(self._secret, "") if self._secret else failure
            log.warning("telemetry_not_exported", signal=self._signal, endpoint=self._endpoint, reason=reason)
        elif changed:
            log.info("telemetry_exported_again", signal=self._signal)


def _exporter(settings: TelemetrySettings, signal: str, module: str, name: str) -> ReportingExporter:
    grpc = _over_grpc(settings)
    arguments = _arguments(settings) if grpc else _http_arguments(settings, signal)
    # Imported on demand: the packages of gRPC and HTTP load slowly.
    found = import_module(f"opentelemetry.exporter.otlp.proto.{'grpc' if grpc else 'http'}.{module}")
    return ReportingExporter(getattr(found, name)(**arguments), signal, _endpoint(settings, signal))


def _endpoint(settings: TelemetrySettings, signal: str) -> str:
    """Return a signal's endpoint; the SDK's own variables apply if the setting is unset."""
    variable = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT") or os.environ.get(_ENDPOINT)
    return settings.otlp_endpoint or variable or ""


def _over_grpc(settings: TelemetrySettings) -> bool:
    if protocol := os.environ.get(_PROTOCOL):
        return protocol == "grpc"
    parts = urlsplit(settings.otlp_endpoint or os.environ.get(_ENDPOINT, ""))
    return parts.port != _HTTP_PORT and parts.path in {"", "/"}


def _arguments(settings: TelemetrySettings) -> dict[str, Any]:
    """Return arguments from the settings; certificates and timeout are the SDK's own variables (OTEL_...)."""
    # gRPC accepts only lower-case header names, and HTTP ignores case.
    headers = {name.lower(): value.get_secret_value() for name, value in settings.otlp_headers.items()}
    return {"endpoint": settings.otlp_endpoint or None, "headers": headers or None}


def _http_arguments(settings: TelemetrySettings, signal: str) -> dict[str, Any]:
    arguments = _arguments(settings)
    if endpoint := arguments["endpoint"]:
        arguments["endpoint"] = f"{endpoint.rstrip('/')}/v1/{signal}"
    return arguments
