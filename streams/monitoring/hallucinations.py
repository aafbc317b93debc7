"""Alerts on the share of untrue answers: the thresholds of the settings, as the leader's gauges tell them."""

from __future__ import annotations

from streams.monitoring.deployment import Deployment
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


def hallucination_rules(deployment: Deployment) -> Group:
    """Give the rules on the lower bounds of the rates, which three answers cannot lift over a threshold.

    The leader's gauges are recorded without the worker's name and read with their last value: another
    worker that takes over, or a scrape that fails, changes no series.
    """
    recorded = {f"job:{gauge}:max": deployment.series(gauge) for gauge in _GAUGES}
    recordings = (Recording(name, deployment.by("max", gauge, *_LABELS)) for name, gauge in recorded.items())
    bound, threshold, scored, least = (
        deployment.over("last_over_time", name, _LEADER_CHANGE_SECONDS) for name in recorded
    )
    high = Alert(
        name="TruthgateHallucinationRateHigh",
        expression=f"{bound} > {threshold} and {scored} >= {least}",
        hold=_HOLD_SECONDS * deployment.pace,
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
