"""Tracing: the providers of spans and events. Without an endpoint there are none."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opentelemetry._logs import Logger
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.trace import Span, SpanContext, Tracer

from scoring.values.scored_answer import SCORER_VERSION, Timing
from streams.kafka.consumer_groups import instance_id
from streams.observability.otlp import is_export_enabled, log_exporter, span_exporter
from streams.settings import InvalidSettings, Settings, TelemetrySettings
from streams.settings.settings_base import one_line

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.sampling import Sampler

_VARIABLE = re.compile(r"OTEL_\w+")
#: From the first to the last quote: the SDK quotes values, which may be secrets.
_QUOTED = re.compile(r"'.*'|\".*\"")


@contextmanager
def otel_setup_errors() -> Iterator[None]:
    """Convert any error in the creation of the SDK's providers and exporters to InvalidSettings.

    Its line has the reason without values, and the names of the ``OTEL_*`` variables that are set: the
    SDK rarely names the one at fault.
    """
    try:
        yield
    except InvalidSettings:
        raise
    except Exception as error:
        reason = _QUOTED.sub("...", one_line(str(error))) or type(error).__name__
        variables = sorted(name for name in os.environ if _VARIABLE.fullmatch(name))
        hint = f" (variables that are set: {', '.join(variables)})" if variables else ""
        raise InvalidSettings(f"telemetry: OpenTelemetry cannot be set up: {reason}{hint}") from error


def otel_resource(settings: Settings) -> Resource:
    """Return this worker's resource; the variables ``OTEL_SERVICE_NAME`` and so on take precedence.

    A shadow is a service of its own, so that nobody adds its verdicts to those that count.
    """
    shadow = settings.shadow.name
    own = {
        "service.name": f"truthgate-shadow-{shadow}" if shadow else "truthgate",
        "service.version": SCORER_VERSION,
        "service.instance.id": instance_id(settings.kafka),
    }
    return Resource.create().merge(Resource(own)).merge(OTELResourceDetector().detect())


_SCOPE = "truthgate"
#: The semantic conventions of the names of spans and attributes.
_SCHEMA = "https://opentelemetry.io/schemas/1.44.0"
#: The timeout for exporting the rest at the end.
_END_SECONDS = 5.0
#: A trace has some fifteen spans: this is a burst of five hundred answers.
_QUEUED_SPANS = 8192


@dataclass(frozen=True, slots=True)
class Tracing:
    """The tracer of spans and the logger of events; all None if nothing is traced.

    ``add_finished`` creates spans from timings of elsewhere, below the given span.
    """

    tracer: Tracer | None = None
    events: Logger | None = None
    add_finished: Callable[[Span, Iterable[Timing]], None] | None = None


@asynccontextmanager
async def open_tracing(settings: Settings) -> AsyncIterator[Tracing]:
    """Trace as configured in ``telemetry`` while the context is open.

    Spans that cannot be exported are dropped from a bounded queue: nothing waits for a collector, except
    the end, for a few seconds. The providers belong to this worker, not to the process. Raises
    InvalidSettings for an unreadable certificate and for anything that the SDK refuses.
    """
    telemetry = settings.telemetry
    if telemetry.sampling_ratio == 0 or not is_export_enabled(telemetry):
        yield Tracing()
        return
    tracers, processor, loggers = _providers(settings)
    try:
        yield tracing_from_providers(tracers, processor, loggers)
    finally:
        await _within(_END_SECONDS, (tracers.shutdown, loggers.shutdown))


def tracing_from_providers(
    tracers: TracerProvider, processor: SpanProcessor, loggers: LoggerProvider
) -> Tracing:
    """Return the tracing of these providers; ``processor`` is that of ``tracers``."""
    from opentelemetry.sdk.trace import ReadableSpan  # noqa: PLC0415 - only where it is needed
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope  # noqa: PLC0415

    scope = InstrumentationScope(_SCOPE, SCORER_VERSION, _SCHEMA)
    resource, ids = tracers.resource, tracers.id_generator

    def add_finished(parent: Span, timings: Iterable[Timing]) -> None:
        # A tracer's live span costs five times as much.
        above = parent.get_span_context()
        for timing in timings:
            own = SpanContext(
                above.trace_id, ids.generate_span_id(), False, above.trace_flags, above.trace_state
            )
            span = ReadableSpan(
                timing.name,
                own,
                above,
                resource,
                start_time=timing.start_ns,
                end_time=timing.end_ns,
                instrumentation_scope=scope,
            )
            processor.on_end(span)

    tracer = tracers.get_tracer(_SCOPE, SCORER_VERSION, _SCHEMA)
    return Tracing(tracer, loggers.get_logger(_SCOPE, SCORER_VERSION, _SCHEMA), add_finished)


@otel_setup_errors()
def _providers(settings: Settings) -> tuple[TracerProvider, SpanProcessor, LoggerProvider]:
    from opentelemetry.sdk._logs import LoggerProvider  # noqa: PLC0415 - only where it is needed
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    telemetry, resource = settings.telemetry, otel_resource(settings)
    spans, logs = span_exporter(telemetry), log_exporter(telemetry)
    tracers = TracerProvider(_sampler(telemetry), resource, shutdown_on_exit=False)
    queued = None if "OTEL_BSP_MAX_QUEUE_SIZE" in os.environ else _QUEUED_SPANS
    processor = BatchSpanProcessor(spans, queued)
    tracers.add_span_processor(processor)
    loggers = LoggerProvider(resource, shutdown_on_exit=False)
    loggers.add_log_record_processor(BatchLogRecordProcessor(logs))
    return tracers, processor, loggers


def _sampler(settings: TelemetrySettings) -> Sampler | None:
    from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio  # noqa: PLC0415

    if "OTEL_TRACES_SAMPLER" in os.environ and "sampling_ratio" not in settings.model_fields_set:
        return None  # the SDK reads it
    return ParentBasedTraceIdRatio(settings.sampling_ratio)


async def _within(seconds: float, jobs: Sequence[Callable[[], None]]) -> None:
    """Run blocking jobs concurrently, and wait for them up to a timeout."""
    # Daemon threads: the event loop would wait for an executor's at its end.
    threads = [threading.Thread(target=job, name="telemetry-end", daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    for thread in threads:
        await asyncio.to_thread(thread.join, max(0.0, deadline - loop.time()))
