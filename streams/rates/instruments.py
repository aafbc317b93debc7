"""What the worker shows of hallucination rates and their alerts; only the leader, who computes them, does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from streams.telemetry.instruments import ERROR_TYPE, OTHER, Gauge, Instruments, Label, LabelValues

Taken = Literal["counted", "duplicate", "late", "expired", "unreadable"]

_MESSAGE_TYPE, _LANGUAGE, _WINDOW = Label("message_type"), Label("language"), Label("window")
_OF_RATE = (_MESSAGE_TYPE, _LANGUAGE, _WINDOW)
_OF_ALERT = (Label("alert"), *_OF_RATE, Label("severity", ("info", "warning", "critical")))


@dataclass(frozen=True, slots=True)
class ShownRate:
    """The rate of the newest closed window of one size ("1m", "5m", "1h"), with its Wilson bounds (0..1)."""

    message_type: str
    language: str
    window: str
    rate: float
    lower_bound: float
    upper_bound: float
    scored: int

    @property
    def labels(self) -> LabelValues:
        """What tells it from the others."""
        return self.message_type, self.language, self.window


@dataclass(frozen=True, slots=True)
class ShownAlert:
    """A threshold, and how the newest closed window of its size stands to it.

    ``message_type`` and ``language`` are "all" where the threshold has none.
    """

    alert: str
    message_type: str
    language: str
    window: str
    severity: str
    threshold: float
    minimum_answers: int
    lower_bound: float
    scored: int
    firing: bool

    @property
    def labels(self) -> LabelValues:
        """What tells it from the others."""
        return self.alert, self.message_type, self.language, self.window, self.severity


class RatesTelemetry:
    """The instruments of rates and alerts."""

    def __init__(self, instruments: Instruments) -> None:
        self._leader = instruments.gauge(
            "truthgate.rates_leader",
            "Whether this worker computes the rates of the deployment (1) or another one does (0).",
            "The sum over all workers is 1, but for moments of handing over; the logs of the worker that "
            "has partition 0 of the answers.",
        )
        self._verdicts = instruments.counter(
            "truthgate.rates_verdicts",
            "Verdicts that the leader read, by what became of them: counted; known already (duplicate); "
            "counted into a window that was final (late); too old for any window (expired); no verdict "
            "at all (unreadable).",
            "late: `rates.allowed_lateness_seconds`; expired: the chatbot's clock, "
            "`rates.retention_seconds`, a long outage.",
            Label("outcome", ("counted", "duplicate", "late", "expired", "unreadable")),
        )
        self._failures = instruments.counter(
            "truthgate.rates_failures",
            "Times that computing the rates failed and began anew from the last committed progress.",
            "The log line `rates_failed`; the state of Kafka's transactions and the topics of rates.",
            ERROR_TYPE,
            at_zero=[(OTHER,)],
        )
        self._watermark_age = instruments.gauge(
            "truthgate.rates_watermark_age",
            "How far the watermark of the rates is behind the clock: the age of what the windows know.",
            "`truthgate_rates_lag`; verdicts with an old produced_at; `truthgate_rates_failures_total`.",
            unit="s",
        )
        self._lag = instruments.gauge(
            "truthgate.rates_lag",
            "Verdicts that the leader has not read yet.",
            "CPU of the leader; `truthgate_rates_failures_total`.",
            unit="{verdict}",
        )
        self._show_rates_and_alerts(instruments)

    def _show_rates_and_alerts(self, instruments: Instruments) -> None:
        of_rate = "of the newest closed window."
        verdicts = (
            "The verdicts on `verdicts.blocked` of that type and language; what changed in the chatbot."
        )

        def rate(name: str, meaning: str, unit: str = "{share}") -> Gauge:
            return instruments.gauge(name, f"{meaning} {of_rate}", verdicts, *_OF_RATE, unit=unit)

        def alert(name: str, meaning: str, look_at: str, unit: str = "{share}") -> Gauge:
            return instruments.gauge(name, meaning, look_at, *_OF_ALERT, unit=unit)

        self._rate = rate("truthgate.hallucination_rate", "Untrue among the scored answers")
        self._low = rate("truthgate.hallucination_rate_lower_bound", "Lower Wilson 95% bound of the rate")
        self._high = rate("truthgate.hallucination_rate_upper_bound", "Upper Wilson 95% bound of the rate")
        self._scored = rate("truthgate.hallucination_rate_scored_answers", "Scored answers", "{answer}")
        self._threshold = alert(
            "truthgate.alert_threshold", "The rate above which an alert fires.", "`alerts.thresholds`."
        )
        self._alert_low = alert(
            "truthgate.alert_rate_lower_bound",
            "The lower bound of the rate, which is compared with an alert's threshold.",
            "`truthgate_hallucination_rate` by message type.",
        )
        self._alert_scored = alert(
            "truthgate.alert_scored_answers",
            "How many scored answers the lower bound rests on that is compared with an alert's threshold.",
            "`truthgate_verdicts_total`.",
            "{answer}",
        )
        self._minimum = alert(
            "truthgate.alert_minimum_answers",
            "How many scored answers an alert needs before it can fire.",
            "`alerts.thresholds`.",
            "{answer}",
        )
        self._firing = alert(
            "truthgate.alert_firing",
            "Whether an alert fires (1).",
            "The records on `hallucination-alerts`; the runbook's section of that alert.",
            "",
        )

    def lead(self, leads: bool) -> None:
        """Show whether this worker is the leader."""
        self._leader.set(leads)

    def verdict(self, outcome: Taken, number: int = 1) -> None:
        """Count verdicts by what became of them."""
        self._verdicts.add(outcome, number=number)

    def failed(self, error_type: str) -> None:
        """Count a failure, by a code or the name of its exception class."""
        self._failures.add(error_type)

    def watch(self, watermark_age: Callable[[], float | None], lag: Callable[[], int | None]) -> None:
        """Show what these give, called from any thread; None shows nothing."""
        self._watermark_age.show(watermark_age)
        self._lag.show(lag)

    def show_rates(self, rates: Iterable[ShownRate]) -> None:
        """Show these rates and no others."""
        shown = {rate.labels: rate for rate in rates}
        self._rate.replace({labels: rate.rate for labels, rate in shown.items()})
        self._low.replace({labels: rate.lower_bound for labels, rate in shown.items()})
        self._high.replace({labels: rate.upper_bound for labels, rate in shown.items()})
        self._scored.replace({labels: rate.scored for labels, rate in shown.items()})

    def show_alerts(self, alerts: Iterable[ShownAlert]) -> None:
        """Show these alerts and no others."""
        shown = {alert.labels: alert for alert in alerts}
        self._threshold.replace({labels: alert.threshold for labels, alert in shown.items()})
        self._alert_low.replace({labels: alert.lower_bound for labels, alert in shown.items()})
        self._alert_scored.replace({labels: alert.scored for labels, alert in shown.items()})
        self._minimum.replace({labels: alert.minimum_answers for labels, alert in shown.items()})
        self._firing.replace({labels: alert.firing for labels, alert in shown.items()})

    def step_down(self) -> None:
        """Show nothing but that this worker is not the leader."""
        self.lead(leads=False)
        self.watch(lambda: None, lambda: None)
        self.show_rates(())
        self.show_alerts(())
