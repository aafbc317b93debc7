"""The page of metrics, from the definitions that the worker itself uses.

They stand before the log lines, which are written by hand there: each event with its fields in the order of
the call.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from docs.generate.site.site_pages import ROOT
from streams.observability.instruments import MetricDefinition, MetricLabel

PAGE: Final = ROOT / "streams" / "observability" / "README.md"

_BEGINNING = """\
# What a worker tells

The metrics are made from the code (`python -m docs.generate`), the log lines are written here;
tests compare both with what a worker exports and logs.

## Metrics

Every worker serves its metrics to Prometheus at `/metrics`, and sends the same by OTLP every
15 seconds (`OTEL_METRIC_EXPORT_INTERVAL`) where `telemetry.otlp_endpoint` is set. Both
come from one definition:
`truthgate.x` in OTLP is `truthgate_x` in Prometheus, followed by its unit (`_seconds`, `_bytes`) and, of a
counter, by `_total`; the label `error.type` is `error_type` there. What OTLP says of the resource
(`service.name`, `service.instance.id` ...) is `target_info` in Prometheus. A histogram appears with its first
value, a gauge with labels when there is something to show; counters begin at 0 wherever their labels are
known beforehand. `_OTHER` is a value that is none of the known ones. Gauges about rates and alerts are those
of one worker of a deployment, its leader. `OTEL_SDK_DISABLED=true` switches all metrics off, those at
`/metrics` too; `OTEL_METRICS_EXPORTER=none` those by OTLP.
"""

_LOG_LINES = "## Log lines\n"


def render(sections: Mapping[str, Sequence[MetricDefinition]], page: str) -> str:
    """Give the page, in Markdown, with these metrics and its log lines as they are."""
    return "\n".join([_BEGINNING, *_metrics(sections), page[page.index(_LOG_LINES) :]])


def _metrics(sections: Mapping[str, Sequence[MetricDefinition]]) -> Iterator[str]:
    for heading, definitions in sections.items():
        yield f"### {heading}\n"
        yield "| Prometheus | OTLP | Type | Unit | Labels | Meaning | When it moves, look at |"
        yield "|---|---|---|---|---|---|---|"
        yield from map(_row, definitions)
        yield ""


def _row(one: MetricDefinition) -> str:
    unit = f"`{one.unit}`" if one.unit else ""
    bounds = [f"`le`: {', '.join(f'{bound:g}' for bound in one.bounds)}"] if one.bounds else []
    labels = "; ".join([*map(_label, one.labels), *bounds])
    names = f"`{one.prometheus}` | `{one.name}`"
    return f"| {names} | {one.kind} | {unit} | {labels} | {one.description} | {one.look_at} |"


def _label(label: MetricLabel) -> str:
    return f"`{label.prometheus}`: {', '.join(label.values)}" if label.values else f"`{label.prometheus}`"
