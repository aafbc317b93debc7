"""The trace of an answer, from the chatbot's context to the headers of its verdict."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from time import time_ns

import structlog
from opentelemetry._logs import SeverityNumber
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind, StatusCode, get_current_span, use_span

from schemas.records import Verdict
from streams.kafka.consumer_groups import client_id
from streams.kafka.kafka_records import Headers, ReceivedRecord
from streams.observability import span_attributes as messaging
from streams.observability import span_attributes as serving
from streams.observability.span_attributes import extract_context, inject_context
from streams.observability.stages import Observe, Stages, StageTimer, ignore_timing, managed_span, mark_failed
from streams.observability.tracing import Tracing
from streams.pipeline import attributes
from streams.settings import Settings

log = structlog.get_logger(__name__)

_UNTRACED = Tracing()


class AnswerTraces:
    """Traces answers without failing or delaying them.

    Args:
        settings: the consumer group and client, and whether texts may be exported.
        tracing: creates spans and events; without it stages are only timed.
        observe: called with the name and duration in seconds of each stage.
    """

    def __init__(
        self, settings: Settings, tracing: Tracing = _UNTRACED, observe: Observe = ignore_timing
    ) -> None:
        self._group = settings.kafka.consumer_group
        self._client = client_id(settings.kafka)
        self._texts = settings.telemetry.texts
        self._parts = settings.telemetry.parts
        self._tracer = tracing.tracer
        self._events = tracing.events
        self.stages = Stages(tracing.tracer, observe, tracing.add_finished)

    @contextmanager
    def process(self, received: ReceivedRecord, arrived: int) -> Iterator[Span]:
        """Continue the chatbot's trace, or start one, while a record is processed.

        ``arrived`` is when the record was accepted, in nanoseconds since 1970: it may have waited for earlier
        answers of its conversation. The span is current inside; without tracing the chatbot's span is, so
        that log lines have its trace id.
        """
        parent = extract_context(received.headers)
        if self._tracer is None:
            with use_span(get_current_span(parent)):
                yield INVALID_SPAN
            return
        described = messaging.process_attributes(received, self._group, self._client)
        span = self._tracer.start_span(
            f"process {received.topic}", parent or Context(), SpanKind.CONSUMER, described, start_time=arrived
        )
        with managed_span(span):
            yield span

    @contextmanager
    def serving(self, method: str, route: str, scheme: str, headers: Headers) -> Iterator[Span]:
        """Continue the client's trace, or start one, while a request is processed; see :meth:`process`."""
        parent = extract_context(headers)
        if self._tracer is None:
            with use_span(get_current_span(parent)):
                yield INVALID_SPAN
            return
        described = serving.request_attributes(method, route, scheme)
        span = self._tracer.start_span(f"{method} {route}", parent or Context(), SpanKind.SERVER, described)
        with managed_span(span):
            yield span

    def record_response(self, span: Span, status: int, code: str | None) -> None:
        """Set the response on the span of its request; ``code`` is that of the problem, if any."""
        span.set_attributes(serving.response_attributes(status, code))
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:  # a client's error is not the server's
            span.set_status(StatusCode.ERROR)

    def decoding(self) -> StageTimer:
        """Time ``decode``; it has a span if ``telemetry.parts`` is set."""
        return self.stages.stage("decode", traced=self._parts)

    def record_failure(self, error: Exception) -> None:
        """Record on the current span why the answer goes to the dead letters."""
        mark_failed(get_current_span(), error)

    def record_verdict(self, verdict: Verdict) -> None:
        """Set the attributes of the verdict on the current span, and emit its event."""
        if self._tracer is None or not (span := get_current_span()).is_recording():
            return
        try:
            span.set_attributes(attributes.verdict_attributes(verdict))
            if self._texts:
                span.set_attributes(attributes.message_attributes(verdict))
            if self._events is not None:
                self._events.emit(
                    timestamp=time_ns(),
                    event_name="gen_ai.evaluation.result",
                    severity_number=SeverityNumber.INFO,
                    attributes=attributes.evaluation_attributes(verdict),
                )
        except Exception as error:  # noqa: BLE001 - a trace must not keep the verdict from being sent
            log.error("verdict_not_traced", error_type=type(error).__name__)  # noqa: TRY400 - it may quote the answer

    def sending(self, topic: str, key: bytes | None) -> StageTimer:
        """Time ``publish`` of a verdict or a dead letter, with a span named ``send`` and the topic."""
        recorded = self._tracer is not None and get_current_span().is_recording()
        described = messaging.send_attributes(topic, key, self._client) if recorded else None
        return self.stages.stage(
            "publish", span=f"send {topic}", kind=SpanKind.PRODUCER, attributes=described
        )

    def with_trace_context(self, headers: Headers) -> Headers:
        """Return the headers with the current span's trace context; unchanged without tracing."""
        return headers if self._tracer is None else inject_context(headers)
