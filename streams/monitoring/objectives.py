"""Burn-rate alerts on the error budgets of the two objectives.

Each objective is watched over four pairs of windows: the long one shows that enough of the budget is
spent to matter, the short one that spending continues, so the alert resolves soon after its cause.

Source: B. Beyer et al., "The Site Reliability Workbook", O'Reilly (2018), chapter 5, "Alerting on SLOs".
"""

from __future__ import annotations

from dataclasses import dataclass

from streams.monitoring.prometheus_rules import (
    DEAD_LETTERS,
    TIMED_VERDICTS,
    VERDICTS,
    VERDICTS_IN_TIME,
    AlertingRule,
    Deployment,
    RecordingRule,
    RuleGroup,
    Severity,
    promql_duration,
)
from streams.settings import ObjectiveSettings

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@dataclass(frozen=True, slots=True)
class BurnRate:
    """A pair of windows in seconds, and the burn rate of both; at 1 the budget lasts 30 days."""

    long: int
    short: int
    factor: float
    severity: Severity


BURN_RATES = (
    BurnRate(_HOUR, 5 * _MINUTE, 14.4, "critical"),  # 2% of the budget in an hour
    BurnRate(6 * _HOUR, 30 * _MINUTE, 6, "critical"),  # 5% in six hours
    BurnRate(_DAY, 2 * _HOUR, 3, "warning"),  # 10% in a day
    BurnRate(3 * _DAY, 6 * _HOUR, 1, "warning"),  # 10% in three days
)

#: Fewer failures in the long window raise no alert: at night, one of ten is 10%.
MIN_FAILURES = 5

#: An alert needs traffic from before half of its long window, within so many days: minutes after the first
#: traffic ever, the window of three days has nothing but these minutes. Nights and weekends are shorter.
_EARLIER_SECONDS = 3 * _DAY

WINDOWS = tuple(sorted({window for rate in BURN_RATES for window in (rate.long, rate.short)}))


@dataclass(frozen=True, slots=True)
class Objective:
    """A minimum share of good events, and how Prometheus counts events and failures.

    Args:
        key: the name of its recorded series.
        share: of events, above 0 and below 1.
        alert: the name of its alert.
        failures, events: the increase of both over a window of so many seconds, as expressions.
        summary, consequence: for the person on call.
    """

    key: str
    share: float
    alert: str
    failures: CounterIncrease
    events: CounterIncrease
    summary: str
    consequence: str

    @property
    def budget(self) -> float:
        """The share of events that may fail."""
        return round(1 - self.share, 9)


@dataclass(frozen=True, slots=True)
class CounterIncrease:
    """Recorded sums whose increases are added and subtracted."""

    plus: tuple[str, ...]
    minus: tuple[str, ...] = ()

    def increase(self, deployment: Deployment, window: float, ago: float = 0) -> str:
        """Return the expression of the increase over a window, over all workers."""
        added, taken = (
            [deployment.sum_over("increase", name, window, ago=ago) for name in names]
            for names in (self.plus, self.minus)
        )
        return " - ".join([" + ".join(added), *taken])


def objectives(settings: ObjectiveSettings) -> tuple[Objective, Objective]:
    """Return the two objectives: verdicts in time, and answers judged rather than dead-lettered."""
    in_time = Objective(
        key="truthgate_verdicts_late",
        share=settings.in_time,
        alert="TruthgateVerdictsLate",
        failures=CounterIncrease(plus=(TIMED_VERDICTS,), minus=(VERDICTS_IN_TIME,)),
        events=CounterIncrease(plus=(TIMED_VERDICTS,)),
        summary=f"Verdicts take longer than {promql_duration(settings.verdict_within_seconds)}",
        consequence="customers wait for their answers",
    )
    judged = Objective(
        key="truthgate_answers_unjudged",
        share=settings.judged,
        alert="TruthgateAnswersUnjudged",
        failures=CounterIncrease(plus=(DEAD_LETTERS,)),
        events=CounterIncrease(plus=(VERDICTS, DEAD_LETTERS)),
        summary="Answers become dead letters instead of being judged",
        consequence="their customers get no answer",
    )
    return in_time, judged


def objective_rules(deployment: Deployment, settings: ObjectiveSettings) -> tuple[RuleGroup, ...]:
    """Return a group of recordings and alerts for each objective."""
    return tuple(
        RuleGroup(objective.key.replace("_", "-"), _rules(deployment, objective))
        for objective in objectives(settings)
    )


def burn_rates(objective: Objective) -> tuple[BurnRate, ...]:
    """Return the pairs of windows, without those in which more than all events would have to fail."""
    return tuple(rate for rate in BURN_RATES if rate.factor * objective.budget < 1)


def failure_ratio_series(objective: Objective, window: int) -> str:
    """Return the name of the recorded share of failed events in a window (seconds)."""
    return f"job:{objective.key}:ratio_{promql_duration(window)}"


def _failure_increase_series(objective: Objective, window: int) -> str:
    return f"job:{objective.key}:increase_{promql_duration(window)}"


def _rules(deployment: Deployment, objective: Objective) -> tuple[RecordingRule | AlertingRule, ...]:
    recordings = [each for window in WINDOWS for each in _recordings(deployment, objective, window)]
    return (*recordings, *(_alert(deployment, objective, rate) for rate in burn_rates(objective)))


def _recordings(
    deployment: Deployment, objective: Objective, window: int
) -> tuple[RecordingRule, RecordingRule]:
    failed, events = (
        _failure_increase_series(objective, window),
        objective.events.increase(deployment, window),
    )
    return (
        RecordingRule(failed, objective.failures.increase(deployment, window)),
        RecordingRule(failure_ratio_series(objective, window), f"{deployment.series(failed)} / ({events})"),
    )


def _alert(deployment: Deployment, objective: Objective, rate: BurnRate) -> AlertingRule:
    limit = f"{rate.factor * objective.budget:.6g}"
    long, short = (
        deployment.series(failure_ratio_series(objective, window)) for window in (rate.long, rate.short)
    )
    failures = deployment.series(_failure_increase_series(objective, rate.long))
    earlier = objective.events.increase(deployment, _EARLIER_SECONDS, ago=rate.long / 2)
    return AlertingRule(
        name=objective.alert,
        expression=f"{long} > {limit} and {short} > {limit} and {failures} >= {MIN_FAILURES} "
        f"and ({earlier}) > 0",
        severity=rate.severity,
        summary=objective.summary,
        description=(
            f"{{{{ $value | humanizePercentage }}}} in the last {promql_duration(rate.long)}; the objective "
            f"allows {objective.budget * 100:.4g}%. The burn rate is above {rate.factor:g} (at 1 the error "
            f"budget lasts 30 days), and {objective.consequence}."
        ),
        labels={"objective": objective.key.removeprefix("truthgate_"), "window": promql_duration(rate.long)},
    )
