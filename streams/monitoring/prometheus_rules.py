"""Recording and alerting rules for Prometheus, and the deployment that they are for.

The first value of a series is no increase, however large. The first dead letter of a kind begins a series,
and so does the latency of a worker's first verdict. The recorded sums begin at 0 with the worker, and fall
only when it ends.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from streams.settings import InvalidSettings, Settings

#: The labels that tell deployments in one Prometheus apart; a missing label changes nothing.
DEPLOYMENT = ("namespace", "job")

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms"))


def promql_duration(seconds: float) -> str:
    """Format a duration as Prometheus does: 300 is ``5m``, 0.25 is ``250ms``."""
    milliseconds = max(1, round(seconds * 1000))
    for size, unit in _UNITS:
        if milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    raise AssertionError


@dataclass(frozen=True, slots=True)
class Deployment:
    """The workers that share one consumer group, as Prometheus sees them.

    Args:
        settings: their common settings.
        job: the name under which Prometheus scrapes them.
        time_scale: a factor for every window and wait; below 1 in tests that cannot wait.
        workers: their minimum number, if known.

    Raises:
        InvalidSettings: the name of the job cannot be quoted.
    """

    settings: Settings
    job: str = "truthgate"
    time_scale: float = 1
    workers: int | None = None

    def __post_init__(self) -> None:
        if not self.job or any(character in '"\\\n{}' for character in self.job):
            raise InvalidSettings(f"--job {self.job!r} is not a valid name of a scrape job")

    def scaled_duration(self, window: float) -> str:
        """Format a window in seconds, scaled."""
        return promql_duration(window * self.time_scale)

    def series(self, name: str, *matchers: str) -> str:
        """Select a metric of the deployment: ``up{job="truthgate"}``."""
        job = f'job="{self.job}"'
        return f"{name}{{{', '.join((job, *matchers))}}}"

    def over_time(self, function: str, name: str, window: float, *matchers: str, ago: float = 0) -> str:
        """Apply a function to a window of a metric: ``rate(truthgate_answers_total{...}[5m])``.

        The window ends ``ago`` seconds before now.
        """
        offset = f" offset {self.scaled_duration(ago)}" if ago else ""
        return f"{function}({self.series(name, *matchers)}[{self.scaled_duration(window)}]{offset})"

    def aggregate(self, aggregation: str, expression: str, *labels: str) -> str:
        """Aggregate over the workers of the deployment, keeping these labels."""
        return f"{aggregation} by ({', '.join((*DEPLOYMENT, *labels))}) ({expression})"

    def sum_over(
        self, function: str, name: str, window: float, *matchers: str, by: str = "", ago: float = 0
    ) -> str:
        """Sum a function of a metric, by a label if one is given: ``sum by (job) (rate(...))``."""
        labels = (by,) if by else ()
        return self.aggregate("sum", self.over_time(function, name, window, *matchers, ago=ago), *labels)

    def increase(self, name: str, *matchers: str, by: str = "", minutes: float = 15) -> str:
        """Return the increase of a counter over all workers, by a label if one is given."""
        return self.sum_over("increase", name, minutes * 60, *matchers, by=by)

    def scaled_minutes(self, number: float) -> float:
        """Return minutes in seconds, scaled."""
        return number * 60 * self.time_scale


#: ``critical`` pages a person at once, ``warning`` is for the same day, ``info`` is for the dashboard.
Severity = Literal["critical", "warning", "info"]


@dataclass(frozen=True, slots=True)
class RecordingRule:
    """A series that Prometheus computes at every evaluation."""

    record: str
    expression: str

    def to_prometheus(self) -> dict[str, Any]:
        """Return the rule in Prometheus' format."""
        return {"record": self.record, "expr": self.expression}


@dataclass(frozen=True, slots=True)
class AlertingRule:
    """A condition that a person must know of.

    Args:
        name: also that of its section in the runbook.
        expression: returns a series while the condition is true.
        severity: None if the expression's own label ``severity`` has it.
        summary: one line, for the subject of a message.
        description: what it means for answers and customers, with the value.
        for_seconds: for how long the condition must be true.
        labels: more labels, which distinguish rules of one name.
    """

    name: str
    expression: str
    summary: str
    description: str
    severity: Severity | None = "warning"
    for_seconds: float = 0
    labels: Mapping[str, str] = field(default_factory=dict)

    def to_prometheus(self, runbook: str | None) -> dict[str, Any]:
        """Return the rule in Prometheus' format; ``runbook`` is the runbook's address, if there is one."""
        severity = {"severity": self.severity} if self.severity else {}
        waiting = {"for": promql_duration(self.for_seconds)} if self.for_seconds else {}
        labels = {**severity, **self.labels}
        return {
            "alert": self.name,
            "expr": self.expression,
            **waiting,
            **({"labels": labels} if labels else {}),
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                **({"runbook_url": f"{runbook}#{self.name.lower()}"} if runbook else {}),
            },
        }


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Rules that are evaluated in order, so that a later one sees what an earlier one recorded."""

    name: str
    rules: tuple[RecordingRule | AlertingRule, ...]

    def to_prometheus(self, runbook: str | None) -> dict[str, Any]:
        """Return the group in Prometheus' format."""
        rules = [
            rule.to_prometheus(runbook) if isinstance(rule, AlertingRule) else rule.to_prometheus()
            for rule in self.rules
        ]
        return {"name": self.name, "rules": rules}


DEAD_LETTERS: Final = "instance_stage:truthgate_dead_letters:sum"
VERDICTS: Final = "instance:truthgate_verdicts:sum"
#: Verdicts with a known latency, and those of them within ``verdict_within``.
TIMED_VERDICTS: Final = "instance:truthgate_verdicts_timed:sum"
VERDICTS_IN_TIME: Final = "instance:truthgate_verdicts_in_time:sum"

_LATENCY: Final = "truthgate_verdict_latency_seconds"


def recording_rules(deployment: Deployment, verdict_within: float) -> RuleGroup:
    """Return the recording rules; ``verdict_within`` is the objective for the latency (seconds)."""
    letters = deployment.aggregate(
        "sum", deployment.series("truthgate_dead_letters_total"), "instance", "stage"
    )
    verdicts = deployment.aggregate("sum", deployment.series("truthgate_verdicts_total"), "instance")
    timed = deployment.aggregate("sum", deployment.series(f"{_LATENCY}_count"), "instance")
    in_time = deployment.aggregate(
        "sum", deployment.series(f"{_LATENCY}_bucket", bucket_matcher(verdict_within)), "instance"
    )
    # The counter of verdicts is exported before the first verdict, its latency only after it.
    before_the_first = f"0 * {deployment.series(VERDICTS)}"
    recordings = (
        RecordingRule(DEAD_LETTERS, letters),
        RecordingRule(VERDICTS, verdicts),
        RecordingRule(TIMED_VERDICTS, f"{timed} or {before_the_first}"),
        RecordingRule(VERDICTS_IN_TIME, f"{in_time} or {before_the_first}"),
    )
    return RuleGroup("truthgate-sums", recordings)


def bucket_matcher(seconds: float) -> str:
    """Return the matcher of the bucket with this bound; exporters write "5" or "5.0"."""
    bound = f"{seconds:.10g}"
    # Two backslashes for one: PromQL strings have escapes.
    escaped = re.escape(bound).replace("\\", "\\\\")
    return f'le=~"{escaped}(\\\\.0)?"'
