"""The deployment that rules and dashboard are made for, with its settings."""

from __future__ import annotations

from dataclasses import dataclass, field

from streams.monitoring.promql import Promql
from streams.settings import Settings


@dataclass(frozen=True, slots=True)
class Deployment:
    """The workers that share one consumer group, as Prometheus sees them.

    ``workers`` is how many of them there should be at least; None where nobody says.
    """

    settings: Settings
    promql: Promql = field(default_factory=Promql)
    workers: int | None = None

    def minutes(self, number: float) -> float:
        """Give a wait in seconds, at the pace of the rules."""
        return number * 60 * self.promql.pace

    def increase(self, name: str, *matchers: str, minutes: float = 15) -> str:
        """Write by how much a counter has grown, over all workers."""
        return self.promql.sum_over("increase", name, minutes * 60, *matchers)
