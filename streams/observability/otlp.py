"""OTLP exporters over gRPC or HTTP, and the reasons of failed exports.

Only what cannot quote what was exported is taken from there: statuses, and errors of connections.

The SDK's own variables (``OTEL_EXPORTER_OTLP_...``) count for what the settings leave open.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

import structlog

from streams.observability.failures import loggable_reason
from streams.settings import InvalidSettings, TelemetrySettings

if TYPE_CHECKING:
    from opentelemetry.sdk._logs.export import LogRecordExporter
    from opentelemetry.sdk.metrics.export import MetricExporter
    from opentelemetry.sdk.trace.export import SpanExporter

#: They say again and again what is said once in their place.
_REPETITIVE: Final = "opentelemetry.exporter"
_SILENT: Final = "opentelemetry.sdk._shared_internal"
#: Statuses of gRPC that are given without anybody having read what was sent: the details are about the way.
_CONNECTION_STATUSES: Final = ("UNAVAILABLE", "DEADLINE_EXCEEDED")


class _ExportErrorHandler(logging.Handler):
    """Keeps the last reason that each thread was told."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = threading.local()

    def emit(self, record: logging.LogRecord) -> None:
        arguments = record.args if isinstance(record.args, tuple) else ()
        if reason := ", ".join(_reasons(arguments)):
            self.last.reason = reason


_EXPORT_ERRORS: Final = _ExportErrorHandler()


def capture_export_errors() -> None:
    """Take the exporters' lines in place of the log; may be called again."""
    exporters = logging.getLogger(_REPETITIVE)
    exporters.addHandler(_EXPORT_ERRORS)
    exporters.setLevel(logging.WARNING)
    exporters.propagate = False
    logging.getLogger(_SILENT).setLevel(logging.CRITICAL)


def clear_export_error() -> None:
    """Begin to listen to what this thread exports next."""
    _EXPORT_ERRORS.last.reason = None


def last_export_error() -> str | None:
    """Return why this thread's last export failed, as far as its exporter has said."""
    reason: str | None = getattr(_EXPORT_ERRORS.last, "reason", None)
    return reason


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
    """Return what the error of a connection comes from, such as a name that is not known."""
    while (deeper := error.__cause__ or error.__context__) is not None:
        error = deeper
    return error


log = structlog.get_logger(__name__)

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
#: What an exporter over HTTP calls the files that the settings name.
_CERTIFICATES = {
    "certificate_file": "otlp_cafile",
    "client_key_file": "otlp_keyfile",
    "client_certificate_file": "otlp_certfile",
}


def is_export_enabled(settings: TelemetrySettings) -> bool:
    """Whether anything is to be exported at all."""
    disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    return bool(settings.otlp_endpoint or os.environ.get(_ENDPOINT)) and not disabled


def span_exporter(settings: TelemetrySettings) -> SpanExporter:
    """Make what exports spans; raises InvalidSettings for a certificate that cannot be read."""
    return cast("SpanExporter", _exporter(settings, "traces", "trace_exporter", "OTLPSpanExporter"))


def log_exporter(settings: TelemetrySettings) -> LogRecordExporter:
    """Make what exports log records and events; raises InvalidSettings as :func:`span_exporter` does."""
    return cast("LogRecordExporter", _exporter(settings, "logs", "_log_exporter", "OTLPLogExporter"))


def metric_exporter(settings: TelemetrySettings) -> MetricExporter:
    """Make what exports metrics; raises InvalidSettings as :func:`span_exporter` does."""
    return cast("MetricExporter", _exporter(settings, "metrics", "metric_exporter", "OTLPMetricExporter"))


#: An exporter gives up without a word where its time is too short to try again.
_UNKNOWN_ERROR = "no success within the time for an export"


class ReportingExporter:
    """An exporter that says in the log when it begins to fail, and when it works again; not each time.

    Everything but ``export`` is that of the exporter itself.
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
        clear_export_error()
        try:
            result = self._exporter.export(*arguments, **named)
        except Exception as error:
            self._note(loggable_reason(error))
            raise
        self._note(None if result.name == "SUCCESS" else last_export_error() or _UNKNOWN_ERROR)
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
    arguments = _grpc_arguments(settings) if grpc else _http_arguments(settings, signal)
    # Imported where it is needed: the packages of gRPC and HTTP are slow.
    found = import_module(f"opentelemetry.exporter.otlp.proto.{'grpc' if grpc else 'http'}.{module}")
    return ReportingExporter(getattr(found, name)(**arguments), signal, _endpoint(settings, signal))


def _endpoint(settings: TelemetrySettings, signal: str) -> str:
    """Return where a signal goes; the SDK's own variables count where the settings do not say."""
    named = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT") or os.environ.get(_ENDPOINT)
    return settings.otlp_endpoint or named or ""


def _over_grpc(settings: TelemetrySettings) -> bool:
    named = os.environ.get(_PROTOCOL)
    if named and "otlp_protocol" not in settings.model_fields_set:
        return named == "grpc"
    return settings.otlp_protocol == "grpc"


def _arguments(settings: TelemetrySettings) -> dict[str, Any]:
    # gRPC takes names of headers in small letters only, and to HTTP it is all one.
    headers = {name.lower(): value.get_secret_value() for name, value in settings.otlp_headers.items()}
    timeout = settings.otlp_timeout_seconds if "otlp_timeout_seconds" in settings.model_fields_set else None
    return {"endpoint": settings.otlp_endpoint or None, "headers": headers or None, "timeout": timeout}


def _grpc_arguments(settings: TelemetrySettings) -> dict[str, Any]:
    arguments = _arguments(settings)
    if settings.otlp_cafile or settings.otlp_certfile:
        import grpc  # type: ignore[import-untyped] # noqa: PLC0415 - slow

        arguments["credentials"] = grpc.ssl_channel_credentials(
            root_certificates=_read(settings.otlp_cafile, "otlp_cafile"),
            private_key=_read(settings.otlp_keyfile, "otlp_keyfile"),
            certificate_chain=_read(settings.otlp_certfile, "otlp_certfile"),
        )
    return arguments


def _http_arguments(settings: TelemetrySettings, signal: str) -> dict[str, Any]:
    arguments = _arguments(settings)
    for argument, name in _CERTIFICATES.items():
        path = getattr(settings, name)
        _read(path, name)
        arguments[argument] = str(path) if path else None
    if endpoint := arguments["endpoint"]:
        arguments["endpoint"] = f"{endpoint.rstrip('/')}/v1/{signal}"
    return arguments


def _read(path: Path | None, setting: str) -> bytes | None:
    try:
        return path.read_bytes() if path else None
    except OSError as error:
        raise InvalidSettings(f"telemetry.{setting} {path} cannot be read: {error.strerror}") from error
