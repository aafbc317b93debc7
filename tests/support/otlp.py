"""A collector in the process of the test: real gRPC and HTTP servers that take what is exported by OTLP.

``with OtlpReceiver() as received:`` and set ``telemetry={"otlp_endpoint": received.grpc}``, or
``received.http``, whose path tells that it is HTTP. What has come is in ``spans``, ``logs`` and ``metrics``;
``raw`` has every byte.
"""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import grpc
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2, logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.local_http import QuietHandler

#: Of the endpoint for HTTP.
_PATH = "/otlp"
_REQUESTS = {
    "/v1/traces": trace_service_pb2.ExportTraceServiceRequest,
    "/v1/logs": logs_service_pb2.ExportLogsServiceRequest,
    "/v1/metrics": metrics_service_pb2.ExportMetricsServiceRequest,
}


def plain(value: AnyValue) -> Any:
    """Give a value of an attribute as Python has it."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(each) for each in value.array_value.values]
    return getattr(value, kind) if kind else None


def attributes(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    """Give attributes by their names."""
    return {pair.key: plain(pair.value) for pair in pairs}


@dataclass(frozen=True)
class ReceivedSpan:
    """A span and the attributes of whoever sent it."""

    span: Span
    resource: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.span.name

    @property
    def trace_id(self) -> str:
        return self.span.trace_id.hex()

    @property
    def span_id(self) -> str:
        return self.span.span_id.hex()

    @property
    def parent_id(self) -> str:
        return self.span.parent_span_id.hex()

    @property
    def kind(self) -> str:
        return Span.SpanKind.Name(self.span.kind).removeprefix("SPAN_KIND_").lower()

    @property
    def attributes(self) -> dict[str, Any]:
        return attributes(self.span.attributes)

    @property
    def links(self) -> list[tuple[str, str]]:
        return [(link.trace_id.hex(), link.span_id.hex()) for link in self.span.links]

    @property
    def failed(self) -> bool:
        return self.span.status.code == 2


@dataclass
class OtlpReceiver:
    """Takes what is exported to it over either protocol, at the same time."""

    delay: float = 0.0
    raw: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    _requests: list[Any] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        self._pool = ThreadPoolExecutor(8)
        self._grpc = grpc.server(self._pool)
        self._grpc_port = self._grpc.add_insecure_port("127.0.0.1:0")
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(
            _servicer(self, trace_service_pb2.ExportTraceServiceResponse), self._grpc
        )
        logs_service_pb2_grpc.add_LogsServiceServicer_to_server(
            _servicer(self, logs_service_pb2.ExportLogsServiceResponse), self._grpc
        )
        metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(
            _servicer(self, metrics_service_pb2.ExportMetricsServiceResponse), self._grpc
        )
        self._grpc.start()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._grpc.stop(None).wait(5)
        self._pool.shutdown(wait=False)
        self._http.shutdown()
        self._http.server_close()

    @property
    def grpc(self) -> str:
        """The endpoint for gRPC."""
        return f"http://127.0.0.1:{self._grpc_port}"

    @property
    def http(self) -> str:
        """The endpoint for HTTP."""
        return f"http://127.0.0.1:{self._http.server_port}{_PATH}"

    def take(self, request: Any, headers: Mapping[str, str]) -> None:
        """Take one export."""
        time.sleep(self.delay)
        with self._lock:
            self._requests.append(request)
            self.raw.append(request.SerializeToString())
            self.headers.append({name.lower(): value for name, value in headers.items()})

    @property
    def spans(self) -> list[ReceivedSpan]:
        """All spans so far."""
        return [
            ReceivedSpan(span, attributes(group.resource.attributes))
            for group in self._groups("resource_spans")
            for scope in group.scope_spans
            for span in scope.spans
        ]

    @property
    def logs(self) -> list[LogRecord]:
        """All log records and events so far."""
        groups = self._groups("resource_logs")
        return [record for group in groups for scope in group.scope_logs for record in scope.log_records]

    @property
    def metrics(self) -> list[Metric]:
        """All metrics so far, those of each export after those of the one before."""
        groups = self._groups("resource_metrics")
        return [metric for group in groups for scope in group.scope_metrics for metric in scope.metrics]

    def named(self, name: str) -> list[ReceivedSpan]:
        """All spans of that name so far."""
        return [span for span in self.spans if span.name == name]

    def _groups(self, field_name: str) -> list[Any]:
        with self._lock:
            requests = list(self._requests)
        return [group for request in requests for group in getattr(request, field_name, ())]


def _servicer(receiver: OtlpReceiver, response: Callable[[], Any]) -> Any:
    class Servicer:
        def Export(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802 - gRPC's name
            receiver.take(request, dict(context.invocation_metadata()))
            return response()

    return Servicer()


def _handler(receiver: OtlpReceiver) -> type[BaseHTTPRequestHandler]:
    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.read_body()
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            receiver.take(
                _REQUESTS[self.path.removeprefix(_PATH)].FromString(body), dict(self.headers.items())
            )
            self.respond(content_type="application/x-protobuf")

    return Handler


@contextmanager
def hanging_collector() -> Iterator[str]:
    """Give the endpoint of a collector that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
