"""Prometheus' rules as typed values: recordings, alerts, and groups of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from streams.monitoring.deployment import duration

#: ``critical`` calls a person at once, ``warning`` is for the same day, ``info`` is for whoever looks.
Severity = Literal["critical", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Recording:
    """A series that Prometheus computes at every evaluation."""

    record: str
    expression: str

    def to_prometheus(self) -> dict[str, Any]:
        """Give the rule as Prometheus reads it."""
        return {"record": self.record, "expr": self.expression}


@dataclass(frozen=True, slots=True)
class Alert:
    """A condition that somebody has to know of.

    Args:
        name: in the runbook its section has the same name.
        expression: what returns a series while the condition holds.
        severity: None where the expression's own label ``severity`` says it.
        summary: one line, for a subject.
        description: what it means for answers and customers, and with which value.
        hold: for how long it has to hold, in seconds.
        labels: more labels, which tell apart rules of one name.
    """

    name: str
    expression: str
    summary: str
    description: str
    severity: Severity | None = "warning"
    hold: float = 0
    labels: Mapping[str, str] = field(default_factory=dict)

    def to_prometheus(self, runbook: str) -> dict[str, Any]:
        """Give the rule as Prometheus reads it; ``runbook`` is the address of the runbook."""
        severity = {"severity": self.severity} if self.severity else {}
        waiting = {"for": duration(self.hold)} if self.hold else {}
        labels = {**severity, **self.labels}
        return {
            "alert": self.name,
            "expr": self.expression,
            **waiting,
            **({"labels": labels} if labels else {}),
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook_url": f"{runbook}#{self.name.lower()}",
            },
        }


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that are evaluated one after the other, so that a later one sees what an earlier one recorded."""

    name: str
    rules: tuple[Recording | Alert, ...]

    def to_prometheus(self, runbook: str) -> dict[str, Any]:
        """Give the group as Prometheus reads it."""
        rules = [
            rule.to_prometheus(runbook) if isinstance(rule, Alert) else rule.to_prometheus()
            for rule in self.rules
        ]
        return {"name": self.name, "rules": rules}
