"""Metrics of the rates."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

from streams.observability.instruments import (
    ERROR_TYPE,
    OTHER,
    SHIPPED_LANGUAGES,
    Gauge,
    Instruments,
    LabelValues,
    MetricLabel,
    language_label,
)
from streams.rates.alert_thresholds import ThresholdState
from streams.rates.rate_aggregator import AddResult
from streams.rates.verdict_counts import ClosedWindow
from streams.rates.windows import Tally, WindowSpec

UNREADABLE = "unreadable"
STEPPED_DOWN = "unreadable_verdict"
_ALL = "all"
_MS = 1_000
_MESSAGE_TYPE, _LANGUAGE, _WINDOW = (
    MetricLabel("message_type"),
    MetricLabel("language"),
    MetricLabel("window"),
)
_OF_RATE = (_MESSAGE_TYPE, _LANGUAGE, _WINDOW)
_OF_ALERT = (MetricLabel("alert"), *_OF_RATE, MetricLabel("severity", ("info", "warning", "critical")))

#: Gauges with the function that reads the value from a tally or threshold.
_OfRates = tuple[tuple[Gauge, Callable[[Tally], float | None]], ...]
_OfAlerts = tuple[tuple[Gauge, Callable[[ThresholdState], float]], ...]


class RateMetrics:
    """The metrics of rates and alerts.

    Attributes:
        leader: whether this worker is the leader.
        verdicts: by :class:`AddResult`, or UNREADABLE.
        failures: by the class of the exception, or STEPPED_DOWN.
    """

    def __init__(self, instruments: Instruments, languages: Collection[str] = SHIPPED_LANGUAGES) -> None:
        self._languages = languages
        self.leader = instruments.gauge(
            "truthgate.rates_leader",
            "Whether this worker computes the rates of the deployment (1) or another one does (0).",
            "The sum over all workers is 1, except briefly when the leader changes; the log of the worker "
            "with partition 0 of the answers.",
        )
        self.verdicts = instruments.counter(
            "truthgate.rates_verdicts",
            "Verdicts that the leader read, by outcome: counted; already known (duplicate); counted in a "
            "final window (late); too old for any window (expired); not a verdict (unreadable).",
            "late: `rates.allowed_lateness_seconds`; expired: the chatbot's clock, "
            "`rates.retention_seconds`, a long outage.",
            MetricLabel("outcome", (*(taken.value for taken in AddResult), UNREADABLE)),
        )
        self.failures = instruments.counter(
            "truthgate.rates_failures",
            "Failures of counting the rates; each resumes from the last committed progress. "
            f"`{STEPPED_DOWN}`: the leader stepped down at a verdict whose schema it does not know.",
            "The log lines `rates_failed` and `rates_stepped_down`; the state of Kafka's transactions and "
            "the topics of rates; the topic `schemas`.",
            ERROR_TYPE,
            at_zero=[(OTHER,), (STEPPED_DOWN,)],
        )
        self._watermark_age = instruments.gauge(
            "truthgate.rates_watermark_age",
            "How far the watermark of the rates is behind the clock.",
            "`truthgate_rates_lag`; verdicts with an old produced_at; `truthgate_rates_failures_total`.",
            unit="s",
        )
        self._lag = instruments.gauge(
            "truthgate.rates_lag",
            "Verdicts that the leader has not read yet.",
            "CPU of the leader; `truthgate_rates_failures_total`.",
            unit="{verdict}",
        )
        self._of_rates = _gauges_of_rates(instruments)
        self._of_alerts = _gauges_of_alerts(instruments)

    def watch(self, watermark_age: Callable[[], float | None], lag: Callable[[], int | None]) -> None:
        """Report what these functions return, called from any thread; None reports nothing."""
        self._watermark_age.set_function(watermark_age)
        self._lag.set_function(lag)

    def set_rates(self, closed: Iterable[ClosedWindow]) -> None:
        """Report these windows and no others.

        Without scored answers there is no rate, and its bounds are 0 and 1.
        """
        shown: defaultdict[LabelValues, Tally] = defaultdict(Tally)
        for window in closed:
            for group, tally in window.tallies.items():
                language = language_label(group.language, self._languages)
                shown[group.message_type, language, window.spec.label] += tally
        for gauge, read in self._of_rates:
            values = {labels: read(tally) for labels, tally in shown.items()}
            gauge.replace({labels: value for labels, value in values.items() if value is not None})

    def set_alerts(self, states: Iterable[ThresholdState]) -> None:
        """Report these thresholds and no others, with the lower bound of their newest closed window."""
        shown = {_labels(state): state for state in states}
        for gauge, read in self._of_alerts:
            gauge.replace({labels: read(state) for labels, state in shown.items()})

    def step_down(self) -> None:
        """Report only that this worker is not the leader."""
        self.leader.set(0)
        self.watch(lambda: None, lambda: None)
        self.set_rates(())
        self.set_alerts(())


def _gauges_of_rates(instruments: Instruments) -> _OfRates:
    verdicts = "The verdicts on `verdicts.blocked` of that type and language; what changed in the chatbot."
    claims = "The claims of verdicts of that type and language; documents that are missing or out of date."

    def of_window(name: str, meaning: str, look_at: str, unit: str) -> Gauge:
        meaning = f"{meaning} of the newest closed window."
        return instruments.gauge(f"truthgate.{name}", meaning, look_at, *_OF_RATE, unit=unit)

    def rate(name: str, meaning: str, unit: str = "{share}") -> Gauge:
        return of_window(f"hallucination_{name}", meaning, verdicts, unit)

    return (
        (rate("rate", "Untrue among the scored answers, if any,"), lambda tally: tally.rate),
        (rate("rate_lower_bound", "Lower Wilson 95% bound of the rate"), lambda tally: tally.bounds[0]),
        (rate("rate_upper_bound", "Upper Wilson 95% bound of the rate"), lambda tally: tally.bounds[1]),
        (rate("rate_scored_answers", "Scored answers", "{answer}"), lambda tally: tally.scored),
        (
            of_window("faithfulness", "Mean share of supported claims of the answers", claims, "{share}"),
            lambda tally: tally.faithfulness,
        ),
        (
            of_window(
                "faithfulness_answers", "Answers with claims that could be checked", claims, "{answer}"
            ),
            lambda tally: tally.faithfulness_answers,
        ),
    )


def _gauges_of_alerts(instruments: Instruments) -> _OfAlerts:
    def alert(name: str, meaning: str, look_at: str, unit: str = "{share}") -> Gauge:
        return instruments.gauge(f"truthgate.alert_{name}", meaning, look_at, *_OF_ALERT, unit=unit)

    threshold = alert("threshold", "The rate above which an alert fires.", "`alerts.thresholds`.")
    bound = alert(
        "rate_lower_bound",
        "The lower bound of the rate that an alert's threshold is compared with.",
        "`truthgate_hallucination_rate` by message type.",
    )
    scored = alert(
        "scored_answers",
        "Scored answers behind the lower bound that an alert's threshold is compared with.",
        "`truthgate_verdicts_total`.",
        "{answer}",
    )
    minimum = alert(
        "minimum_answers",
        "Scored answers that an alert needs to fire.",
        "`alerts.thresholds`.",
        "{answer}",
    )
    firing = alert(
        "firing",
        "Whether an alert fires (1).",
        "The records on `hallucination-alerts`; the runbook's section of that alert.",
        "",
    )
    return (
        (threshold, lambda state: state.threshold.rate),
        (bound, lambda state: state.tally.bounds[0]),
        (scored, lambda state: state.tally.scored),
        (minimum, lambda state: state.threshold.minimum_answers),
        (firing, lambda state: state.firing),
    )


def _labels(state: ThresholdState) -> LabelValues:
    threshold, size = state.threshold, state.threshold.window_seconds * _MS
    window = WindowSpec(size, size).label
    of_rate = threshold.message_type or _ALL, threshold.language or _ALL, window
    return (threshold.name, *of_rate, threshold.severity)
