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
    """Follows answers on their way, beside the work: it neither fails nor waits.

    Args:
        settings: names of group and client, and whether texts may leave the worker.
        tracing: what makes spans and events; without it the way is only timed.
        observe: called with the name of each stage and the seconds that it took.
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
        """Continue the chatbot's trace, or begin one, while a record is in work.

        ``arrived`` is when the record was accepted, in nanoseconds since 1970: it may have waited for the
        others of its conversation. The span is current inside; where nothing is traced it is the
        chatbot's own, so that log lines can name its trace.
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
        """Continue the client's trace, or begin one, while a request is in work; as :meth:`process` does."""
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
        """Say on the span of a request what it was answered with; ``code`` names the problem, if any."""
        span.set_attributes(serving.response_attributes(status, code))
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:  # what a client does wrong is no error of a server
            span.set_status(StatusCode.ERROR)

    def decoding(self) -> StageTimer:
        """Time ``decode``, and show it where all parts are shown."""
        return self.stages.stage("decode", traced=self._parts)

    def record_failure(self, error: Exception) -> None:
        """Say of the current answer why it goes to the dead letters."""
        mark_failed(get_current_span(), error)

    def record_verdict(self, verdict: Verdict) -> None:
        """Describe the verdict on the current answer, and emit the event that tells of it."""
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
        except Exception as error:  # noqa: BLE001 - the answer is sent on, whatever becomes of its trace
            log.error("verdict_not_traced", error_type=type(error).__name__)  # noqa: TRY400 - it may quote

    def sending(self, topic: str, key: bytes | None) -> StageTimer:
        """Time ``publish``, of a verdict or a dead letter, and show it as ``send`` and the topic."""
        recorded = self._tracer is not None and get_current_span().is_recording()
        described = messaging.send_attributes(topic, key, self._client) if recorded else None
        return self.stages.stage(
            "publish", span=f"send {topic}", kind=SpanKind.PRODUCER, attributes=described
        )

    def with_trace_context(self, headers: Headers) -> Headers:
        """Return the headers of what is sent, in the current span's trace; without traces, as they are."""
        return headers if self._tracer is None else inject_context(headers)
