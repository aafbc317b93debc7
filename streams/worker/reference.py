"""Writes the reference of metrics and log lines, from the definitions that the worker itself uses.

``python -m streams.worker.reference`` writes it into ``streams/telemetry/README.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from streams.telemetry.instruments import Definition, Label
from streams.worker.log_events import LOG_EVENTS, LogEvent
from streams.worker.metrics import Metrics

PAGE = Path(__file__).parents[1] / "telemetry" / "README.md"

_BEGINNING = """\
# What a worker tells

This page is made from the code (`python -m streams.worker.reference`); a test compares it with what a
worker exports.

## Metrics

Every worker serves its metrics to Prometheus at `/metrics`, and sends the same by OTLP every
`telemetry.metrics_interval_seconds` where `telemetry.otlp_endpoint` is set. Both come from one definition:
`truthgate.x` in OTLP is `truthgate_x` in Prometheus, followed by its unit (`_seconds`, `_bytes`) and, of a
counter, by `_total`; the label `error.type` is `error_type` there. What OTLP says of the resource
(`service.name`, `service.instance.id` ...) is `target_info` in Prometheus. A histogram appears with its first
value, a gauge with labels when there is something to show; counters begin at 0 wherever their labels are
known beforehand. `_OTHER` is a value that is none of the known ones. Gauges about rates and alerts are those
of one worker of a deployment, its leader. `OTEL_SDK_DISABLED=true` switches all metrics off, those at
`/metrics` too; `OTEL_METRICS_EXPORTER=none` those by OTLP.
"""

_LOG_LINES = """\
## Log lines

One line each on standard error: JSON, or readable where that is a terminal (`log.format` says otherwise).
Every line has `event`, `level`, `logger` and `timestamp`, and `trace_id` and `span_id` where it belongs to a
trace. `error_type` is a stable code or the class of an exception, `reason` a sentence. Questions, answers and
documents are in none of them; of what libraries log, the values of records and the texts of exceptions
are left out, and `opentelemetry` and `grpc` get a line a minute each.
"""


def render(sections: Mapping[str, Sequence[Definition]], events: Iterable[LogEvent]) -> str:
    """Give the reference page, in Markdown."""
    return "\n".join([_BEGINNING, *_metrics(sections), _LOG_LINES, *_events(events), ""])


def _metrics(sections: Mapping[str, Sequence[Definition]]) -> Iterator[str]:
    for heading, definitions in sections.items():
        yield f"### {heading}\n"
        yield "| Prometheus | OTLP | Type | Unit | Labels | Meaning | When it moves, look at |"
        yield "|---|---|---|---|---|---|---|"
        yield from map(_row, definitions)
        yield ""


def _row(one: Definition) -> str:
    unit = f"`{one.unit}`" if one.unit else ""
    labels = "; ".join(map(_label, one.labels))
    names = f"`{one.prometheus}` | `{one.name}`"
    return f"| {names} | {one.kind} | {unit} | {labels} | {one.meaning} | {one.look_at} |"


def _label(label: Label) -> str:
    return f"`{label.prometheus}`: {', '.join(label.values)}" if label.values else f"`{label.prometheus}`"


def _events(events: Iterable[LogEvent]) -> Iterator[str]:
    yield "| Event | Fields | Meaning |"
    yield "|---|---|---|"
    for event in events:
        fields = ", ".join(f"`{field}`" for field in event.fields)
        yield f"| `{event.name}` | {fields} | {event.meaning} |"


if __name__ == "__main__":
    PAGE.write_text(render(Metrics().sections, LOG_EVENTS), encoding="utf-8")
