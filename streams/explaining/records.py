"""A verdict as its record has it: with its place, its time, and the trace it belongs to."""

from __future__ import annotations

from datetime import UTC, datetime

from aiokafka import ConsumerRecord
from opentelemetry.trace import get_current_span

from schemas.records import Verdict
from streams.explaining.explanation import Found, Place
from streams.kafka.received import Headers
from streams.telemetry.propagation import context_of


def found_in(record: ConsumerRecord, verdict: Verdict) -> Found:
    """Give the verdict of a record with where and when it was written."""
    written_at = datetime.fromtimestamp(record.timestamp / 1000, UTC) if record.timestamp > 0 else None
    place = Place(record.topic, record.partition, record.offset)
    return Found(verdict, place, written_at, trace_id(tuple(record.headers)))


def trace_id(headers: Headers) -> str | None:
    """Give the id of the trace that a record belongs to, as 32 hexadecimal digits, or None."""
    if (context := context_of(headers)) is None:
        return None
    return f"{get_current_span(context).get_span_context().trace_id:032x}"
