"""The page of metrics, from the definitions that the worker itself uses.

The log lines after them are written by hand: each event with its fields in the order of the call.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from docs.generate.site.site_pages import ROOT
from streams.desk.desk_metrics import DeskMetrics
from streams.observability.instruments import MetricDefinition, MetricLabel
from streams.worker.worker_metrics import WorkerMetrics

PAGE: Final = ROOT / "streams" / "observability" / "README.md"

_BEGINNING = """\
# Metrics and log lines

The metrics are generated from the code (`python -m docs.generate`), the log lines are written here;
tests compare both with a worker's exports and logs.

## Metrics

Every worker serves its metrics to Prometheus at `/metrics`, and exports the same metrics by OTLP every
15 seconds (`OTEL_METRIC_EXPORT_INTERVAL`) if `telemetry.otlp_endpoint` is set. `truthgate.x` in OTLP is
`truthgate_x` in Prometheus, followed by its unit (`_seconds`, `_bytes`) and, for a counter, by `_total`; the
label `error.type` is `error_type` there. Attributes of the OTLP resource (`service.name`,
`service.instance.id` ...) are in `target_info` in Prometheus. A histogram appears with its first value, and a
gauge with labels only while it has values; counters start at 0 for labels that are known in advance. `_OTHER`
is any unknown value. Only one worker of a deployment, the leader, exports gauges about rates and alerts.
`OTEL_SDK_DISABLED=true` turns all metrics off, including `/metrics`; `OTEL_METRICS_EXPORTER=none` only those
by OTLP.
"""

_LOG_LINES = "## Log lines\n"


def metric_sections() -> dict[str, Sequence[MetricDefinition]]:
    """Return the metrics of a worker and of a desk, by section; both have those of the process."""
    of_worker = WorkerMetrics().sections
    process = {"Process": of_worker.pop("Process")}
    return {**of_worker, **DeskMetrics().sections, **process}


def render(sections: Mapping[str, Sequence[MetricDefinition]], page: str) -> str:
    """Return the page, in Markdown, with these metrics and its log lines unchanged."""
    return "\n".join([_BEGINNING, *_metrics(sections), page[page.index(_LOG_LINES) :]])


def _metrics(sections: Mapping[str, Sequence[MetricDefinition]]) -> Iterator[str]:
    for heading, definitions in sections.items():
        yield f"### {heading}\n"
        yield "| Prometheus | OTLP | Type | Unit | Labels | Meaning | When it changes, check |"
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
