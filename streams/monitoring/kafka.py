"""The alert on Kafka that does not answer the workers, and what keeps other alerts silent meanwhile.

All that needs Kafka stands still or fails then, and would be told as a fault of its own.
"""

from __future__ import annotations

from streams.monitoring.deployment import DEPLOYMENT, Deployment, duration
from streams.monitoring.rules import Alert

_UP = "truthgate_kafka_up"
#: A worker that ends for it cannot start again, and shows nothing: how long its last word counts.
_LAST_WORD_SECONDS = 900.0


def kafka_silent(deployment: Deployment) -> Alert:
    """Give the alert; it comes before all others that Kafka's silence sets off."""
    health = deployment.settings.health
    up = deployment.series(_UP)
    last = deployment.over("last_over_time", _UP, _LAST_WORD_SECONDS)
    silent, were_silent = (f"{deployment.by('sum', f'1 - {each}')} > 0" for each in (up, last))
    return Alert(
        name="TruthgateKafkaSilent",
        expression=f"{silent} or ({were_silent} unless on ({', '.join(DEPLOYMENT)}) {up})",
        hold=deployment.minutes(0.5),
        severity="critical",
        summary="Kafka does not answer the workers",
        description="Workers that have had no answer from Kafka for "
        f"{duration(health.kafka_timeout_seconds)} (health.kafka_timeout_seconds): {{{{ $value }}}}. They "
        "judge nothing; answers wait in Kafka, and none is lost. After "
        f"{duration(health.stall_timeout_seconds)} (health.stall_timeout_seconds) a worker ends itself, exit "
        "code 3, and its successor tries anew.",
    )


def unless_kafka_is_silent(deployment: Deployment, expression: str, *labels: str) -> str:
    """Write what is told only where Kafka answers one worker at least, of all that share these labels."""
    highest = deployment.by("max", deployment.series(_UP), *labels)
    return f"{expression} unless on ({', '.join((*DEPLOYMENT, *labels))}) ({highest} == 0)"


def but_for_silence(deployment: Deployment, series: str, window: float) -> str:
    """Write what workers show that Kafka answered all through a window of so many seconds."""
    lowest = deployment.over("min_over_time", _UP, window)
    return f"{series} unless on ({', '.join((*DEPLOYMENT, 'instance'))}) ({lowest} == 0)"
