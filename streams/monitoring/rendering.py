"""Renders the rule file for Prometheus and the dashboard for Grafana.

``dashboard.json`` in this folder is the dashboard of the default settings, and can be imported as it is.
To change it, edit it in Grafana and export it over the file; ``truthgate monitoring dashboard`` with the file
as ``--output`` then restores its layout and the default limits. A test checks that this was done.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from streams.monitoring.alerts import dependency_rules, hallucination_rules, judge_rules
from streams.monitoring.objectives import objective_rules
from streams.monitoring.prometheus_rules import Deployment, RuleGroup, recording_rules
from streams.monitoring.worker_alerts import operation_rules
from streams.settings import Settings

_HEADER: Final = (
    "# Written by `truthgate monitoring rules` from the settings; write it anew instead of changing it.\n"
)


def all_rules(deployment: Deployment) -> tuple[RuleGroup, ...]:
    """Return all groups of rules."""
    settings = deployment.settings
    rates = (hallucination_rules(deployment),) if settings.rates.enabled else ()
    judges = (judge_rules(deployment),) if settings.judges.endpoints else ()
    objectives = (
        recording_rules(deployment, settings.objectives.verdict_within_seconds),
        *objective_rules(deployment, settings.objectives),
    )
    return (*rates, *objectives, operation_rules(deployment), dependency_rules(deployment), *judges)


def render_rule_file(groups: tuple[RuleGroup, ...], runbook: str | None = None) -> str:
    """Render a rule file; ``runbook`` is the address that alerts link to. Needs the extra ``monitoring``."""
    import yaml  # noqa: PLC0415 - of the extra

    content = {"groups": [group.to_prometheus(runbook) for group in groups]}
    return _HEADER + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


DASHBOARD_FILE: Final = Path(__file__).with_name("dashboard.json")
#: A query with its legend fits in one line of the file, so that a change of it is a change of one line.
_WIDTH: Final = 200


def render_dashboard(deployment: Deployment) -> str:
    """Render the dashboard for a deployment.

    Returns:
        JSON that Grafana imports, always in the same order and layout.
    """
    board = json.loads(DASHBOARD_FILE.read_text("utf-8"))
    limits, objectives = _panel_thresholds(deployment.settings), deployment.settings.objectives
    shares = {"in_time": str(objectives.in_time), "judged": str(objectives.judged)}
    variables = {"job": deployment.job, **shares}
    for variable in board["templating"]["list"]:
        if value := variables.get(variable["name"]):
            variable["current"] = {"selected": True, "text": value, "value": value}
            if variable["type"] == "constant":
                variable["query"] = value
    for panel in board["panels"]:
        if limit := limits.get(panel["title"]):
            panel["fieldConfig"]["defaults"]["thresholds"]["steps"][-1]["value"] = limit
    return _format_json(board) + "\n"


def _panel_thresholds(settings: Settings) -> Mapping[str, float]:
    """Return the last threshold of panels by their titles; Grafana allows no variable there."""
    return {
        "In time": settings.objectives.in_time,
        "Judged": settings.objectives.judged,
        "Time to the verdict, quantiles": settings.objectives.verdict_within_seconds,
        "Time without a commit": settings.health.stall_timeout_seconds,
        "Silence of Kafka": settings.health.kafka_timeout_seconds,
    }


def _format_json(value: Any, indent: int = 0) -> str:
    """Format a value on one line if it fits, else each of its members on its own line."""
    line = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if not isinstance(value, dict | list) or indent + len(line) <= _WIDTH:
        return line
    within = indent + 2
    if isinstance(value, dict):
        members = [f"{json.dumps(key)}: {_format_json(value[key], within)}" for key in sorted(value)]
    else:
        members = [_format_json(each, within) for each in value]
    start = "\n" + " " * within
    return f"{line[0]}{start}{f',{start}'.join(members)}\n{' ' * indent}{line[-1]}"
