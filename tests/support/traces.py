"""Neighbours of the worker in a trace, each with an SDK of its own: a chatbot, and who takes the verdicts."""

from collections.abc import Iterable
from dataclasses import replace

from aiokafka import ConsumerRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON
from opentelemetry.trace import SpanContext, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from tests.support.otlp import ReceivedSpan
from tests.support.records import Outgoing

_PROPAGATOR = TraceContextTextMapPropagator()


class Service:
    """A service that publishes records and takes records, each within a span.

    Args:
        name: its ``service.name``.
        sampled: whether its own traces are.
    """

    def __init__(self, name: str, *, sampled: bool = True) -> None:
        sampler = ALWAYS_ON if sampled else ALWAYS_OFF
        provider = TracerProvider(sampler, Resource({"service.name": name}), shutdown_on_exit=False)
        self._exporter = InMemorySpanExporter()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._tracer = provider.get_tracer(name)

    def publish(self, record: Outgoing, *more: tuple[str, bytes]) -> tuple[Outgoing, SpanContext]:
        """Give a record with the context of a span that it is sent in, and that context."""
        carrier: dict[str, str] = {}
        with self._tracer.start_as_current_span("publish", kind=SpanKind.PRODUCER) as span:
            _PROPAGATOR.inject(carrier)
        headers = tuple((name, value.encode()) for name, value in carrier.items())
        return replace(record, headers=(*record.headers, *headers, *more)), span.get_span_context()

    def take(self, record: ConsumerRecord) -> tuple[SpanContext, SpanContext | None]:
        """Process a record within a span; give its context and that of its parent."""
        carrier = {name: value.decode() for name, value in record.headers}
        parent = _PROPAGATOR.extract(carrier)
        with self._tracer.start_as_current_span("take", parent, SpanKind.CONSUMER):
            pass
        span = self._exporter.get_finished_spans()[-1]
        assert span.context is not None
        return span.context, span.parent


def hexadecimal(context: SpanContext) -> tuple[str, str]:
    """Give the ids of a trace and a span as W3C Trace Context writes them."""
    return f"{context.trace_id:032x}", f"{context.span_id:016x}"


def children(spans: Iterable[ReceivedSpan], parent: ReceivedSpan) -> dict[str, ReceivedSpan]:
    """Give the spans right below one, by their names."""
    return {span.name: span for span in spans if span.parent_id == parent.span_id}
