"""What the expressions of rules and dashboard are made of, and which series there are."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import promql_parser

from streams.desk.desk_metrics import DeskMetrics
from streams.monitoring.prometheus_rules import AlertingRule, Deployment, RecordingRule
from streams.monitoring.rendering import all_rules, render_dashboard
from streams.settings import JudgeSettings, Settings
from streams.worker.worker_metrics import WorkerMetrics

#: What Prometheus adds to every series, and the series that it makes itself.
SCRAPED = frozenset({"job", "instance", "namespace"})
OWN_SERIES: Mapping[str, frozenset[str]] = {
    "up": frozenset(),
    "ALERTS": frozenset({"alertname", "alertstate", "severity"}),
}

#: With these there is every rule: what is switched off or not limited as shipped has none.
EVERYTHING = Settings(
    judges=JudgeSettings.model_validate(
        {
            "endpoints": {"small": {"base_url": "http://vllm:8000/v1", "model": "gpt-small"}},
            "budget": {"requests_per_day": 1_000, "tokens_per_day": 2_000_000},
        }
    )
)

_CONDITIONS = frozenset({">", ">=", "<", "<=", "==", "!=", "and", "or", "unless"})

#: What Grafana puts in place of its variables, as far as reading an expression is concerned.
VARIABLES: Mapping[str, str] = {
    "$__rate_interval": "1m",
    "$__range": "1h",
    "$job": "truthgate",
    "$namespace": ".*",
    "$message_type": ".*",
    "$language": ".*",
    "$window": "5m",
    "$in_time": "0.99",
    "$judged": "0.999",
}


@dataclass(frozen=True, slots=True)
class Parts:
    """The series that an expression reads with the labels it matches, and the labels it groups by."""

    series: tuple[tuple[str, frozenset[str]], ...]
    grouped: frozenset[str]


def parts(expression: str) -> Parts:
    """Take an expression apart."""
    series: list[tuple[str, frozenset[str]]] = []
    grouped: set[str] = set()

    def visit(node: promql_parser.Expr) -> bool:
        if isinstance(node, promql_parser.VectorSelector) and node.name:
            series.append((node.name, frozenset(matcher.name for matcher in node.matchers.matchers)))
        elif isinstance(node, promql_parser.AggregateExpr) and node.modifier:
            grouped.update(node.modifier.labels)
        return True

    promql_parser.walk(promql_parser.parse(expression), pre_visit=visit)
    return Parts(tuple(series), frozenset(grouped))


def exported() -> dict[str, frozenset[str]]:
    """Give each series that a worker or the review desk exports, with its labels."""
    found: dict[str, frozenset[str]] = {}
    sections = chain(WorkerMetrics().sections.values(), DeskMetrics().sections.values())
    for definition in chain.from_iterable(sections):
        labels = frozenset(label.prometheus for label in definition.labels)
        if definition.kind == "histogram":
            found |= {f"{definition.prometheus}_{part}": labels for part in ("count", "sum")}
            found[f"{definition.prometheus}_bucket"] = labels | {"le"}
        else:
            found[definition.prometheus] = labels
    return found


def recorded(deployment: Deployment) -> dict[str, frozenset[str]]:
    """Give each series that a rule records, with its labels."""
    return {rule.record: parts(rule.expression).grouped for rule in rules(deployment, RecordingRule)}


def rules(deployment: Deployment, kind: type[Any]) -> Iterator[Any]:
    """Give all rules that are recordings, or all that are alerts."""
    for group in all_rules(deployment):
        yield from (rule for rule in group.rules if isinstance(rule, kind))


def alerts(deployment: Deployment) -> list[AlertingRule]:
    """Give all alerts."""
    return list(rules(deployment, AlertingRule))


def board(deployment: Deployment) -> dict[str, Any]:
    """Give the dashboard as Grafana reads it."""
    return json.loads(render_dashboard(deployment))


def panels(dashboard: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give all panels but the rows, those inside of closed rows too."""
    every = [inner for panel in dashboard["panels"] for inner in (panel, *panel.get("panels", ()))]
    return [panel for panel in every if panel["type"] != "row"]


def queries(dashboard: Mapping[str, Any]) -> dict[str, str]:
    """Give every query of the dashboard by its panel and its letter; titles alone are not unique."""
    return _unique(
        (f"{panel['title']} ({panel['id']}) {target['refId']}", target["expr"])
        for panel in panels(dashboard)
        for target in panel["targets"]
    )


def rule_expressions(deployment: Deployment) -> dict[str, str]:
    """Give the expression of every rule by its name; rules of one alert are told apart by their labels."""
    recordings = [(rule.record, rule.expression) for rule in rules(deployment, RecordingRule)]
    return _unique([*recordings, *((_name(alert), alert.expression) for alert in alerts(deployment))])


def rule_operands(deployment: Deployment) -> dict[str, str]:
    """Give what every recording computes, and what the conditions of every alert compare."""
    recordings = [(rule.record, rule.expression) for rule in rules(deployment, RecordingRule)]
    compared = [
        (f"{_name(alert)} {number}", operand)
        for alert in alerts(deployment)
        for number, operand in enumerate(operands(alert.expression))
    ]
    return _unique([*recordings, *compared])


def _name(alert: AlertingRule) -> str:
    return " ".join([alert.name, *alert.labels.values()])


def _unique(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    every = list(named)
    found = dict(every)
    assert len(found) == len(every), "two expressions have one name, so one of them would not be looked at"
    return found


def filled(expression: str, variables: Mapping[str, str] = VARIABLES) -> str:
    """Put values in place of Grafana's variables."""
    return re.sub(r"\$\w+", lambda found: variables[found[0]], expression)


def operands(expression: str) -> Iterator[str]:
    """Give what the conditions of an alert compare: each of these has a value while nothing is wrong, too."""
    yield from map(str, _operands(promql_parser.parse(expression)))


def _operands(node: promql_parser.Expr) -> Iterator[promql_parser.Expr]:
    if isinstance(node, promql_parser.BinaryExpr) and str(node.op) in _CONDITIONS:
        yield from _operands(node.lhs)
        yield from _operands(node.rhs)
    elif isinstance(node, promql_parser.ParenExpr):
        yield from _operands(node.expr)
    elif isinstance(node, promql_parser.Call) and node.func.name == "absent":
        yield from _operands(node.args[0])
    elif not isinstance(node, promql_parser.NumberLiteral):
        yield node
