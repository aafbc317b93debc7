"""The Grafana dashboard: ``dashboard.json`` beside this module, with the settings of a deployment put in.

The file itself is the dashboard of the default settings, and can be imported as it is. What was changed in
Grafana is exported over it; ``truthgate monitoring dashboard`` with the file as ``--output`` then lays it out
and puts the default limits back. A test holds that this was done.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from streams.monitoring.prometheus_rules import Deployment
from streams.settings import Settings

DASHBOARD_FILE: Final = Path(__file__).with_suffix(".json")
#: A query with its legend fits in one line of the file, so a change of it is a change of one line.
_WIDTH: Final = 200


def render_dashboard(deployment: Deployment) -> str:
    """Write the dashboard for a deployment.

    Returns:
        JSON as Grafana imports it, always in the same order and layout.
    """
    board = json.loads(DASHBOARD_FILE.read_text("utf-8"))
    limits, objectives = _limits(deployment.settings), deployment.settings.objectives
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


def _limits(settings: Settings) -> Mapping[str, float]:
    """Give the last threshold of panels by their titles: no variable can stand there."""
    return {
        "In time": settings.objectives.in_time,
        "Judged": settings.objectives.judged,
        "Time to the verdict, quantiles": settings.objectives.verdict_within_seconds,
        "Time without a commit": settings.health.stall_timeout_seconds,
        "Silence of Kafka": settings.health.kafka_timeout_seconds,
    }


def _format_json(value: Any, indent: int = 0) -> str:
    """Write what fits in one line there, and everything else with each of its members on a line."""
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
