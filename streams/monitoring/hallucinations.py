"""Alerts on the share of untrue answers: the thresholds of the settings, as the leader's gauges tell them."""

from __future__ import annotations

from streams.monitoring.promql import Promql
from streams.monitoring.rules import Alert, Group, Recording

#: How long the last value counts while no worker leads: between two leaders nothing is exported.
_LEADER_CHANGE_SECONDS = 300.0
_HOLD_SECONDS = 60.0

_LABELS = ("alert", "message_type", "language", "window", "severity")
_GAUGES = (
    "truthgate_alert_rate_lower_bound",
    "truthgate_alert_threshold",
    "truthgate_alert_scored_answers",
    "truthgate_alert_minimum_answers",
)


def hallucination_rules(promql: Promql) -> Group:
    """Give the rules on the lower bounds of the rates, which three answers cannot lift over a threshold.

    The leader's gauges are recorded without the worker's name and read with their last value: another
    worker that takes over, or a scrape that fails, changes no series.
    """
    recordings = (Recording(_recorded(gauge), _newest(promql, gauge)) for gauge in _GAUGES)
    bound, threshold, scored, least = (_kept(promql, gauge) for gauge in _GAUGES)
    high = Alert(
        name="TruthgateHallucinationRateHigh",
        expression=f"{bound} > {threshold} and {scored} >= {least}",
        hold=_HOLD_SECONDS * promql.pace,
        severity=None,
        summary="Too many untrue answers: {{ $labels.alert }}",
        description=(
            "At least {{ $value | humanizePercentage }} of the scored answers "
            "(message type {{ $labels.message_type }}, language {{ $labels.language }}, "
            "last {{ $labels.window }}) are untrue, with 95% confidence, which is above the threshold "
            "{{ $labels.alert }}. They are blocked; what the chatbot says has become worse."
        ),
    )
    return Group("truthgate-hallucinations", (*recordings, high))


def _recorded(gauge: str) -> str:
    return f"job:{gauge}:max"


def _newest(promql: Promql, gauge: str) -> str:
    return promql.by("max", promql.series(gauge), *_LABELS)


def _kept(promql: Promql, gauge: str) -> str:
    return promql.over("last_over_time", _recorded(gauge), _LEADER_CHANGE_SECONDS)
