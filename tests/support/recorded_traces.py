"""Traces and events that are kept in memory, to be looked at."""

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from streams.observability.tracing import tracing_from_providers


class Recorded:
    """Tracing into memory."""

    def __init__(self) -> None:
        self.exporter, self.events = InMemorySpanExporter(), InMemoryLogRecordExporter()
        tracers = TracerProvider(shutdown_on_exit=False)
        processor = SimpleSpanProcessor(self.exporter)
        tracers.add_span_processor(processor)
        loggers = LoggerProvider(shutdown_on_exit=False)
        loggers.add_log_record_processor(SimpleLogRecordProcessor(self.events))
        self.tracing = tracing_from_providers(tracers, processor, loggers)

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.exporter.get_finished_spans()}
