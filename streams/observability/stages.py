"""Stages of the pipeline: each is timed, and a span if the answer is traced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType
from typing import Any

from opentelemetry.context import attach, detach
from opentelemetry.trace import (
    INVALID_SPAN,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    get_current_span,
    set_span_in_context,
    use_span,
)
from opentelemetry.util.types import AttributeValue

from scoring.values.scored_answer import Timing
from streams.observability.failures import BadAnswer

Attributes = Mapping[str, AttributeValue]
Observe = Callable[[str, float], None]
AddFinished = Callable[[Span, Iterable[Timing]], None]


def ignore_timing(stage: str, seconds: float) -> None:
    """Ignore how long a stage took."""


class Stages:
    """Times stages, and creates a span for each below the current one, if that is recorded.

    It never starts a trace: without a sampled current span it only measures times.

    Args:
        tracer: creates the spans; None for none.
        observe: called with each stage's name and duration in seconds, also after a failure.
        add_finished: creates spans from timings of elsewhere, below the given span.
    """

    def __init__(
        self,
        tracer: Tracer | None = None,
        observe: Observe = ignore_timing,
        add_finished: AddFinished | None = None,
    ) -> None:
        self._tracer = tracer
        self._observe = observe
        self._add_finished = add_finished

    def stage(
        self,
        name: str,
        *,
        span: str | None = None,
        traced: bool = True,
        kind: SpanKind = SpanKind.INTERNAL,
        attributes: Attributes | None = None,
    ) -> StageTimer:
        """Time the body as the stage ``name``, and create a span of that name, or named ``span``.

        With ``traced`` False it is only timed.
        """
        return StageTimer(
            self._tracer if traced else None, span or name, kind, attributes, name, self._observe
        )

    def span(
        self, name: str, attributes: Attributes | None = None, kind: SpanKind = SpanKind.INTERNAL
    ) -> StageTimer:
        """Create a span for the body, as a part of a stage."""
        return StageTimer(self._tracer, name, kind, attributes, None, self._observe)

    def add_timings(self, timings: Iterable[Timing]) -> None:
        """Add parts of the current stage that were timed elsewhere, e.g. in a scoring process."""
        if self._add_finished is not None and (span := get_current_span()).is_recording():
            self._add_finished(span, timings)


@dataclass(slots=True)
class StageTimer:
    """A context manager for one use that times one stage or part; see :class:`Stages`."""

    _tracer: Tracer | None
    _name: str
    _kind: SpanKind
    _attributes: Attributes | None
    _stage: str | None
    _observe: Observe
    _began: float = field(default=0.0, init=False)
    _span: Span = field(default=INVALID_SPAN, init=False)
    _token: Any = field(default=None, init=False)

    def __enter__(self) -> Span:
        """Start; returns the span, which records nothing if the answer is not traced."""
        self._began = perf_counter()
        if self._tracer is None:
            return INVALID_SPAN
        self._span = get_current_span()
        if self._span.is_recording():
            self._span = self._tracer.start_span(self._name, kind=self._kind, attributes=self._attributes)
            self._token = attach(set_span_in_context(self._span))
        return self._span

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the span, and report the duration."""
        if self._token is not None:
            detach(self._token)
            if error is not None:
                mark_failed(self._span, error)
            self._span.end()
        if self._stage is not None:
            self._observe(self._stage, perf_counter() - self._began)


@contextmanager
def managed_span(span: Span) -> Iterator[None]:
    """Make a span the current one, mark it as failed if the body fails, and end it."""
    with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield
        except BaseException as error:
            mark_failed(span, error)
            raise


def mark_failed(span: Span, error: BaseException) -> None:
    """Mark a span as failed, without the error's text, which may quote the customer."""
    span.set_attribute("error.type", error_type(error))
    span.set_status(Status(StatusCode.ERROR))


def error_type(error: BaseException) -> str:
    """Return the code of a bad answer, otherwise the name of the exception's class."""
    return error.error_class if isinstance(error, BadAnswer) else type(error).__name__
