"""Instruments shown alike by `/metrics` and OTLP, each with one definition; process metrics.

An OpenTelemetry metric ``truthgate.x`` is ``truthgate_x`` in Prometheus, with unit and ``_total`` as these
conventions require; a label ``error.type`` is ``error_type``.

Counters are kept here and read on demand: a counter of the SDK costs some ten times as much, since it
processes its labels each time. Histograms are the SDK's own.
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

from scoring.text.language_detection import UNDETERMINED
from scoring.values.scored_answer import SCORER_VERSION

log = structlog.get_logger(__name__)

#: The label of an unknown value, as in OpenTelemetry.
OTHER = "_OTHER"

#: More label combinations are a mistake or an attack: further ones count as OTHER.
_MAX_LABEL_SETS = 1_000

#: Prometheus' suffixes of the units used here; a unit in braces is an annotation.
_UNITS = {"s": "_seconds", "By": "_bytes"}

LabelValues = tuple[str, ...]

#: Labels of a language that is not named, and of an unknown one. A chatbot may send any code.
OTHER_LANGUAGE = "other"
#: The languages of the lexicons in the package.
SHIPPED_LANGUAGES = ("en", "nl")


def language_label(language: str | None, named: Collection[str]) -> str:
    """Return the label of a language: its code if it is among the named ones.

    >>> language_label("nl", ("en", "nl")), language_label("xx", ("en", "nl")), language_label(None, ())
    ('nl', 'other', 'und')
    """
    if not language:
        return UNDETERMINED
    return language if language in named else OTHER_LANGUAGE


@dataclass(frozen=True, slots=True)
class MetricLabel:
    """A label by its OTLP name, and its values; empty if they are not a fixed set."""

    name: str
    values: tuple[str, ...] = ()

    @property
    def prometheus(self) -> str:
        """Its name at ``/metrics``."""
        return self.name.replace(".", "_")


ERROR_TYPE = MetricLabel("error.type")


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """A metric's OTLP name, unit (UCUM), labels, meaning, and what to check when it changes.

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
        """Return the labels with these values, in the order of the definition; empty values are omitted."""
        return {label.name: value for label, value in zip(self.labels, values, strict=True) if value}


class Counter:
    """A monotonic counter. Thread-safe."""

    def __init__(self, definition: MetricDefinition, at_zero: Collection[LabelValues]) -> None:
        self._definition = definition
        self._totals: dict[LabelValues, float] = dict.fromkeys(at_zero, 0)
        self._lock = threading.Lock()

    def add(self, *labels: str, number: float = 1) -> None:
        """Add ``number``; ``labels`` are the values in the order of the definition."""
        self._add(labels, number)

    def add_and_check_first(self, *labels: str) -> bool:
        """Add one; return whether it is the first with these labels, e.g. to log each kind once."""
        return not self._add(labels, 1)

    def _add(self, labels: LabelValues, number: float) -> float:
        """Return the previous total."""
        with self._lock:
            if labels not in self._totals and len(self._totals) >= _MAX_LABEL_SETS:
                labels = (OTHER,) * len(labels)
            before = self._totals.get(labels, 0)
            self._totals[labels] = before + number
        return before

    def observations(self, _: CallbackOptions) -> Iterable[Observation]:
        """Return all totals."""
        return _observations(self._definition, dict(self._totals))


class Gauge:
    """A gauge of current values: labels that are no longer set disappear.

    Read from any thread; changed by one at a time.
    """

    def __init__(self, definition: MetricDefinition) -> None:
        self._definition = definition
        self._read: Callable[[], Mapping[LabelValues, float]] = dict

    def set(self, value: float, *labels: str) -> None:
        """Set the value of these labels, and keep those of others."""
        self.replace({**self._read(), labels: value})

    def replace(self, values: Mapping[LabelValues, float]) -> None:
        """Replace all values, by their labels."""
        self._read = lambda: values

    def set_function(self, read: Callable[[], float | None]) -> None:
        """Read the value from a function on demand, from any thread; None and NaN are not shown."""

        def known() -> Mapping[LabelValues, float]:
            value = read()
            return {} if value is None or math.isnan(value) else {(): value}

        self._read = known

    def set_labelled_function(self, read: Callable[[], Mapping[LabelValues, float]]) -> None:
        """Read the values by labels from a function on demand, from any thread."""
        self._read = read

    def observations(self, _: CallbackOptions) -> Iterable[Observation]:
        """Return the current values."""
        return _observations(self._definition, self._read())


class Histogram:
    """A histogram. Thread-safe."""

    def __init__(
        self, definition: MetricDefinition, record: Callable[[float, Mapping[str, str]], None]
    ) -> None:
        self._definition = definition
        self._record = record

    def record(self, value: float, *labels: str) -> None:
        """Record one value; ``labels`` are in the order of the definition."""
        self._record(value, self._definition.attributes(labels))


class Instruments:
    """Creates the instruments of one worker, independent of others in the process.

    Args:
        resource: the resource of all metrics.
        readers: metric readers in addition to ``registry``, e.g. an OTLP exporter.
    """

    def __init__(self, resource: Resource | None = None, readers: Sequence[MetricReader] = ()) -> None:
        self.registry = CollectorRegistry()
        self.sections: dict[str, list[MetricDefinition]] = {}
        # There is one scope, so its name in every sample would be redundant.
        page = PrometheusMetricReader(scope_info_enabled=False, registry=self.registry)
        self._provider = MeterProvider([page, *readers], resource, shutdown_on_exit=False)
        self._meter = self._provider.get_meter("truthgate", SCORER_VERSION)

    def begin_section(self, section: str) -> None:
        """Start a section of the reference for the following instruments."""
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
        """Create a counter; ``at_zero`` are the labels shown before anything is counted.

        The default is all combinations of known values, since a rate that begins with the first event
        misses it.
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
        """Create a counter read from a function on demand; None is not shown."""
        self._defined(MetricDefinition("counter", name, unit, (), description, look_at))

        def observations(_: CallbackOptions) -> Iterable[Observation]:
            return [] if (value := read()) is None else [Observation(value)]

        self._meter.create_observable_counter(name, [observations], unit, description)

    def gauge(self, name: str, description: str, look_at: str, *labels: MetricLabel, unit: str = "") -> Gauge:
        """Create a gauge."""
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
        """Create a histogram with these upper bounds of its buckets; without values it is not shown."""
        buckets = tuple(map(float, bounds))
        definition = self._defined(
            MetricDefinition("histogram", name, unit, labels, description, look_at, buckets)
        )
        made = self._meter.create_histogram(
            name, unit, description, explicit_bucket_boundaries_advisory=buckets
        )
        return Histogram(definition, made.record)

    def close(self, seconds: float) -> None:
        """Flush the readers, for about ``seconds`` at most."""
        try:
            self._provider.shutdown(timeout_millis=seconds * 1000)
        except Exception as error:  # noqa: BLE001 - any error of the SDK: the work is done
            log.warning("metrics_not_closed", error_type=type(error).__name__)

    def _defined(self, definition: MetricDefinition) -> MetricDefinition:
        next(reversed(self.sections.values())).append(definition)
        return definition


def _observations(definition: MetricDefinition, values: Mapping[LabelValues, float]) -> list[Observation]:
    return [Observation(float(value), definition.attributes(labels)) for labels, value in values.items()]


_LOOK_AT_MEMORY = "`flow.max_in_flight`; scoring processes are not counted here."
_LOOK_AT_START = "The last log lines before the start."
_LOOK_AT_FILES = "Leaked files and connections, if it keeps growing."


class ProcessMetrics:
    """Metrics of the worker's main process; on systems without ``/proc`` only the build."""

    def __init__(self, instruments: Instruments) -> None:
        self._collector = ProcessCollector(registry=None)
        self.ready = instruments.gauge(
            "truthgate.ready",
            "Whether the worker can judge answers (1), as `/readyz` reports.",
            "The reason in `/readyz`; the log.",
        )
        self._build = instruments.gauge(
            "truthgate.build_info",
            "1, with the running versions as labels.",
            "More than one version: a deployment in progress.",
            MetricLabel("version"),
            MetricLabel("python"),
        )
        self._build.set(1, SCORER_VERSION, platform.python_version())
        instruments.observable_counter(
            "process.cpu",
            "CPU time of the process, without scoring processes.",
            "Near 1 per second: the event loop is the bottleneck; add workers.",
            self._reading("process_cpu_seconds"),
            unit="s",
        )
        for name, unit, meaning, look_at in (
            ("process.resident_memory", "By", "Resident memory of the process.", _LOOK_AT_MEMORY),
            ("process.virtual_memory", "By", "Virtual memory of the process.", _LOOK_AT_MEMORY),
            ("process.start_time", "s", "Start time of the process, since 1970.", _LOOK_AT_START),
            ("process.open_fds", "", "Open file descriptors.", _LOOK_AT_FILES),
            ("process.max_fds", "", "Maximum number of open file descriptors.", "The system's limit."),
        ):
            family = name.replace(".", "_") + _UNITS.get(unit, "")
            instruments.gauge(name, meaning, look_at, unit=unit).set_function(self._reading(family))

    def _reading(self, family: str) -> Callable[[], float | None]:
        def read() -> float | None:
            found = (metric for metric in self._collector.collect() if metric.name == family)
            return next((metric.samples[0].value for metric in found), None)

        return read
