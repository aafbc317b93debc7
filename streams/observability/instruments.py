"""Instruments that `/metrics` and OTLP show alike, each from one definition; those of the process.

A metric ``truthgate.x`` of OpenTelemetry is ``truthgate_x`` in Prometheus, with the unit and ``_total``
behind it where these conventions ask for them; a label ``error.type`` is ``error_type``.

What is counted is kept here and shown when it is asked for: a count of the SDK costs some ten times as
much, since it looks at its labels anew each time. Distributions are the SDK's own.
"""

import math
import platform
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import structlog
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry
from prometheus_client.process_collector import ProcessCollector

from scoring.values.scored_answer import SCORER_VERSION

log = structlog.get_logger(__name__)

#: What stands in a label for a value that is none of the known ones, as OpenTelemetry has it.
OTHER = "_OTHER"

#: More combinations of labels than this are a mistake or an attack: what is new counts as OTHER.
_MAX_LABEL_SETS = 1_000

#: How Prometheus writes the units that occur here; what stands in braces is a remark.
_UNITS = {"s": "_seconds", "By": "_bytes"}

LabelValues = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricLabel:
    """A label by its name in OTLP, and the values that it can have; none where they are not a fixed set."""

    name: str
    values: tuple[str, ...] = ()

    @property
    def prometheus(self) -> str:
        """Its name at ``/metrics``."""
        return self.name.replace(".", "_")


ERROR_TYPE = MetricLabel("error.type")


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """What a metric is: its name in OTLP, unit (UCUM), labels, meaning, and what to look at when it moves.

    A histogram has the upper bounds of its buckets.
    """

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    unit: str
    labels: tuple[MetricLabel, ...]
    description: str
    look_at: str
    bounds: tuple[float, ...] = ()

    @property
    def prometheus(self) -> str:
        """Its name at ``/metrics``; of a histogram without ``_bucket``, ``_sum`` and ``_count``."""
        name = self.name.replace(".", "_") + _UNITS.get(self.unit, "")
        return f"{name}_total" if self.kind == "counter" else name

    def attributes(self, values: LabelValues) -> dict[str, str]:
        """Give the labels with these values, which stand in their order; one without a value is left out."""
        return {label.name: value for label, value in zip(self.labels, values, strict=True) if value}


class Counter:
    """Counts, for ever upwards. May be used from any thread."""

    def __init__(self, definition: MetricDefinition, at_zero: Collection[LabelValues]) -> None:
        self._definition = definition
        self._totals: dict[LabelValues, float] = dict.fromkeys(at_zero, 0)
        self._lock = threading.Lock()

    def add(self, *labels: str, number: float = 1) -> None:
        """Count ``number`` more; ``labels`` are the values in the order of the definition."""
        self._add(labels, number)

    def add_and_check_first(self, *labels: str) -> bool:
        """Count one more; say whether it is the first with these labels, such as to log each kind once."""
        return not self._add(labels, 1)

    def _add(self, labels: LabelValues, number: float) -> float:
        """Return the total before."""
        with self._lock:
            if labels not in self._totals and len(self._totals) >= _MAX_LABEL_SETS:
                labels = (OTHER,) * len(labels)
            before = self._totals.get(labels, 0)
            self._totals[labels] = before + number
        return before

    def observations(self, _: CallbackOptions) -> Iterable[Observation]:
        """Give all totals."""
        return _observations(self._definition, dict(self._totals))


class Gauge:
    """Shows what is, not what was: labels that are not given any more are gone.

    Read from any thread; to be changed from one at a time.
    """

    def __init__(self, definition: MetricDefinition) -> None:
        self._definition = definition
        self._read: Callable[[], Mapping[LabelValues, float]] = dict

    def set(self, value: float, *labels: str) -> None:
        """Show ``value`` for these labels, beside what is shown for others."""
        self.replace({**self._read(), labels: value})

    def replace(self, values: Mapping[LabelValues, float]) -> None:
        """Show these values by their labels, and nothing else."""
        self._read = lambda: values

    def set_function(self, read: Callable[[], float | None]) -> None:
        """Show what ``read`` gives whenever it is asked, from any thread; nothing for None and NaN."""

        def known() -> Mapping[LabelValues, float]:
            value = read()
            return {} if value is None or math.isnan(value) else {(): value}

        self._read = known

    def set_labelled_function(self, read: Callable[[], Mapping[LabelValues, float]]) -> None:
        """Show what ``read`` gives by its labels, whenever it is asked, from any thread."""
        self._read = read

    def observations(self, _: CallbackOptions) -> Iterable[Observation]:
        """Give what there is now."""
        return _observations(self._definition, self._read())


class Histogram:
    """Measures a distribution. May be used from any thread."""

    def __init__(
        self, definition: MetricDefinition, record: Callable[[float, Mapping[str, str]], None]
    ) -> None:
        self._definition = definition
        self._record = record

    def record(self, value: float, *labels: str) -> None:
        """Take in one value; ``labels`` stand in the order of the definition."""
        self._record(value, self._definition.attributes(labels))


class Instruments:
    """Makes the instruments of one worker; nothing of it is shared with others in the process.

    Args:
        resource: what all of it is said of.
        readers: who reads the metrics beside ``registry``, such as an OTLP exporter.
    """

    def __init__(self, resource: Resource | None = None, readers: Sequence[MetricReader] = ()) -> None:
        self.registry = CollectorRegistry()
        self.sections: dict[str, list[MetricDefinition]] = {}
        # One scope, so its name beside every sample would say nothing.
        page = PrometheusMetricReader(scope_info_enabled=False, registry=self.registry)
        self._provider = MeterProvider([page, *readers], resource, shutdown_on_exit=False)
        self._meter = self._provider.get_meter("truthgate", SCORER_VERSION)

    def begin_section(self, section: str) -> None:
        """Put what is made from now on under this heading of the reference."""
        self.sections[section] = []

    def counter(
        self,
        name: str,
        description: str,
        look_at: str,
        *labels: MetricLabel,
        unit: str = "",
        at_zero: Collection[LabelValues] | None = None,
    ) -> Counter:
        """Make a counter; ``at_zero`` are the labels that are shown before anything is counted.

        Left out, these are all combinations where all values are known, since a rate that begins with
        the first event misses it.
        """
        definition = self._defined(MetricDefinition("counter", name, unit, labels, description, look_at))
        if at_zero is None:
            at_zero = list(product(*(label.values for label in labels)))
        counter = Counter(definition, at_zero)
        self._meter.create_observable_counter(name, [counter.observations], unit, description)
        return counter

    def observable_counter(
        self, name: str, description: str, look_at: str, read: Callable[[], float | None], *, unit: str = ""
    ) -> None:
        """Make a counter of what is counted elsewhere; shows what ``read`` gives, nothing for None."""
        self._defined(MetricDefinition("counter", name, unit, (), description, look_at))

        def observations(_: CallbackOptions) -> Iterable[Observation]:
            return [] if (value := read()) is None else [Observation(value)]

        self._meter.create_observable_counter(name, [observations], unit, description)

    def gauge(self, name: str, description: str, look_at: str, *labels: MetricLabel, unit: str = "") -> Gauge:
        """Make a gauge."""
        definition = self._defined(MetricDefinition("gauge", name, unit, labels, description, look_at))
        gauge = Gauge(definition)
        self._meter.create_observable_gauge(name, [gauge.observations], unit, description)
        return gauge

    def histogram(
        self,
        name: str,
        description: str,
        look_at: str,
        *labels: MetricLabel,
        bounds: Iterable[float],
        unit: str = "",
    ) -> Histogram:
        """Make a histogram with these upper bounds of its buckets; one without any value is not shown."""
        buckets = tuple(map(float, bounds))
        definition = self._defined(
            MetricDefinition("histogram", name, unit, labels, description, look_at, buckets)
        )
        made = self._meter.create_histogram(
            name, unit, description, explicit_bucket_boundaries_advisory=buckets
        )
        return Histogram(definition, made.record)

    def close(self, seconds: float) -> None:
        """Let the readers show what is left, for about that long at most."""
        try:
            self._provider.shutdown(timeout_millis=seconds * 1000)
        except Exception as error:  # noqa: BLE001 - the SDK's; the work is done, and must not end badly for this
            log.warning("metrics_not_closed", error_type=type(error).__name__)

    def _defined(self, definition: MetricDefinition) -> MetricDefinition:
        next(reversed(self.sections.values())).append(definition)
        return definition


def _observations(definition: MetricDefinition, values: Mapping[LabelValues, float]) -> list[Observation]:
    return [Observation(float(value), definition.attributes(labels)) for labels, value in values.items()]


_SUFFIXES = {"By": "_bytes", "s": "_seconds", "": ""}
_LOOK_AT_MEMORY = "`flow.max_in_flight`; what judges are processes of their own, not counted here."
_LOOK_AT_START = "The last log lines before it."
_LOOK_AT_FILES = "What grows among the open files and connections of the process."


class ProcessMetrics:
    """The instruments of the worker's main process; on systems without ``/proc`` only the build is shown."""

    def __init__(self, instruments: Instruments) -> None:
        self._collector = ProcessCollector(registry=None)
        self.ready = instruments.gauge(
            "truthgate.ready",
            "Whether the worker can judge answers (1), as `/readyz` says.",
            "What `/readyz` says it waits for; the log.",
        )
        self._build = instruments.gauge(
            "truthgate.build_info",
            "What runs: always 1.",
            "More than one version: a deployment under way.",
            MetricLabel("version"),
            MetricLabel("python"),
        )
        self._build.set(1, SCORER_VERSION, platform.python_version())
        instruments.observable_counter(
            "process.cpu",
            "CPU time that the process has used, without the processes that judge.",
            "Near 1 a second: the event loop is the bottleneck; more workers.",
            self._reading("process_cpu_seconds"),
            unit="s",
        )
        for name, unit, meaning, look_at in (
            ("process.resident_memory", "By", "Resident memory of the process.", _LOOK_AT_MEMORY),
            ("process.virtual_memory", "By", "Virtual memory of the process.", _LOOK_AT_MEMORY),
            ("process.start_time", "s", "When the process began, since 1970.", _LOOK_AT_START),
            ("process.open_fds", "", "Open file descriptors.", _LOOK_AT_FILES),
            ("process.max_fds", "", "How many file descriptors may be open.", "The limit of the system."),
        ):
            family = name.replace(".", "_") + _SUFFIXES[unit]
            instruments.gauge(name, meaning, look_at, unit=unit).set_function(self._reading(family))

    def _reading(self, family: str) -> Callable[[], float | None]:
        def read() -> float | None:
            found = (metric for metric in self._collector.collect() if metric.name == family)
            return next((metric.samples[0].value for metric in found), None)

        return read
