"""What the panels ask of Prometheus, in the terms of the dashboard's variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from streams.monitoring.promql import Promql, Window

#: What Grafana chooses to fit the resolution of a graph.
STEP: Final = "$__rate_interval"
#: The whole time that the dashboard shows.
SHOWN: Final = "$__range"

CHOSEN_TYPE: Final = 'message_type=~"$message_type"'
CHOSEN_LANGUAGE: Final = 'language=~"$language"'
CHOSEN_WINDOW: Final = 'window="$window"'


@dataclass(frozen=True, slots=True)
class Questions:
    """Expressions over the deployment that is chosen on the dashboard."""

    promql: Promql = field(default_factory=lambda: Promql("$job", matchers=('namespace=~"$namespace"',)))

    def rate(self, name: str, *labels: str, where: tuple[str, ...] = ()) -> str:
        """Ask how often something happens a second, by these labels."""
        return self.total(self.promql.over("rate", name, STEP, *where), *labels)

    def share(self, name: str, window: Window, *where: str) -> str:
        """Ask which share of what a counter counted matches ``where``, 0 to 1."""
        some, every = (self.promql.over("increase", name, window, *matchers) for matchers in (where, ()))
        return f"{self.total(some)} / {self.total(every)}"

    def quantile(self, share: float, name: str, *labels: str, where: tuple[str, ...] = ()) -> str:
        """Ask for a quantile of a histogram."""
        buckets = self.promql.over("rate", f"{name}_bucket", STEP, *where)
        return f"histogram_quantile({share:g}, {self.total(buckets, 'le', *labels)})"

    def buckets(self, name: str) -> str:
        """Ask how many values fell into each bucket of a histogram."""
        return self.total(self.promql.over("increase", f"{name}_bucket", STEP), "le")

    def total(self, expression: str, *labels: str) -> str:
        """Add up over the workers."""
        return self._by("sum", expression, *labels)

    def sum(self, name: str, *labels: str, where: tuple[str, ...] = ()) -> str:
        """Add up a gauge over the workers."""
        return self._by("sum", self.promql.series(name, *where), *labels)

    def max(self, name: str, *labels: str, where: tuple[str, ...] = ()) -> str:
        """Take the largest of a gauge over the workers."""
        return self._by("max", self.promql.series(name, *where), *labels)

    def each(self, name: str, *where: str) -> str:
        """Ask for a gauge as it is, of every worker."""
        return self.promql.series(name, *where)

    @staticmethod
    def _by(aggregation: str, expression: str, *labels: str) -> str:
        by = f" by ({', '.join(labels)})" if labels else ""
        return f"{aggregation}{by} ({expression})"
