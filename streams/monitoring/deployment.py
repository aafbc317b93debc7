"""The deployment that rules and dashboard are made for, and expressions of PromQL over its metrics.

Their windows can be made short for a test.
"""

from __future__ import annotations

from dataclasses import dataclass

from streams.settings import Settings, WrongSettings

#: What keeps two deployments apart in one Prometheus; a label that is not there changes nothing.
DEPLOYMENT = ("namespace", "job")

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms"))


def duration(seconds: float) -> str:
    """Write a time as Prometheus does: 300 is ``5m``, 0.25 is ``250ms``."""
    milliseconds = max(1, round(seconds * 1000))
    for size, unit in _UNITS:
        if milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    raise AssertionError


@dataclass(frozen=True, slots=True)
class Deployment:
    """The workers that share one consumer group, as Prometheus sees them.

    Args:
        settings: what they have in common.
        job: the name under which Prometheus scrapes them.
        pace: every window and every wait is multiplied by it; below 1 for tests that cannot wait.
        workers: how many of them there should be at least; None where nobody says.

    Raises:
        WrongSettings: the name of the job cannot stand between quotes.
    """

    settings: Settings
    job: str = "truthgate"
    pace: float = 1
    workers: int | None = None

    def __post_init__(self) -> None:
        if not self.job or any(character in '"\\\n{}' for character in self.job):
            raise WrongSettings(f"--job {self.job!r} is no name of a scrape job")

    def time(self, window: float) -> str:
        """Write a window in seconds, at this pace."""
        return duration(window * self.pace)

    def series(self, name: str, *matchers: str) -> str:
        """Select a metric of the deployment: ``up{job="truthgate"}``."""
        job = f'job="{self.job}"'
        return f"{name}{{{', '.join((job, *matchers))}}}"

    def over(self, function: str, name: str, window: float, *matchers: str, ago: float = 0) -> str:
        """Apply a function to a window of a metric: ``rate(truthgate_answers_total{...}[5m])``.

        ``ago`` has the window end so many seconds before now.
        """
        offset = f" offset {self.time(ago)}" if ago else ""
        return f"{function}({self.series(name, *matchers)}[{self.time(window)}]{offset})"

    def by(self, aggregation: str, expression: str, *labels: str) -> str:
        """Aggregate over the workers of a deployment, with these labels kept."""
        return f"{aggregation} by ({', '.join((*DEPLOYMENT, *labels))}) ({expression})"

    def sum_over(
        self, function: str, name: str, window: float, *matchers: str, by: str = "", ago: float = 0
    ) -> str:
        """Add up a function of a metric, by a label if it is named: ``sum by (job) (rate(...))``."""
        labels = (by,) if by else ()
        return self.by("sum", self.over(function, name, window, *matchers, ago=ago), *labels)

    def increase(self, name: str, *matchers: str, by: str = "", minutes: float = 15) -> str:
        """Write by how much a counter has grown over all workers, by a label if it is named."""
        return self.sum_over("increase", name, minutes * 60, *matchers, by=by)

    def minutes(self, number: float) -> float:
        """Give a wait in seconds, at the pace of the rules."""
        return number * 60 * self.pace
