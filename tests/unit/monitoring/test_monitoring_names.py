"""What rules, dashboard and runbook speak of exists: metrics, labels, settings, sections and rows."""

import re
from pathlib import Path

import pytest

from streams import monitoring
from streams.monitoring.prometheus_rules import Deployment
from streams.settings import RatesSettings, Settings
from tests.support.log_lines import documented_log_lines
from tests.support.monitoring import (
    EVERYTHING,
    OWN_SERIES,
    SCRAPED,
    alerts,
    board,
    exported,
    filled,
    panels,
    parts,
    queries,
    recorded,
    rule_expressions,
    rules,
)

DEPLOYMENT = Deployment(EVERYTHING)
RUNBOOK = (Path(monitoring.__file__).parent / "RUNBOOK.md").read_text("utf-8")
EXPRESSIONS = {
    **rule_expressions(DEPLOYMENT),
    **{name: filled(expression) for name, expression in queries(board(DEPLOYMENT)).items()},
}
SERIES = exported() | recorded(DEPLOYMENT) | OWN_SERIES


def test_every_expression_of_rules_and_dashboard_is_looked_at() -> None:
    targets = sum(len(panel["targets"]) for panel in panels(board(DEPLOYMENT)))
    assert len(EXPRESSIONS) == targets + len(list(rules(DEPLOYMENT, object)))


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_metric_and_label_of_a_query_is_exported_or_recorded(name: str) -> None:
    read = parts(EXPRESSIONS[name])
    assert read.series, "it reads nothing"
    for metric, matched in read.series:
        assert metric in SERIES, f"{metric} is neither exported nor recorded"
        assert matched <= SERIES[metric] | SCRAPED, f"{metric} has no such label"
    assert read.grouped <= SCRAPED.union(*(SERIES[metric] for metric, _ in read.series))


def test_every_metric_that_the_runbook_names_is_exported() -> None:
    known = {name.removesuffix("_bucket") for name in exported()}
    named = set(re.findall(r"\btruthgate_[a-z_]+", RUNBOOK))
    assert named
    assert named <= known


def test_every_setting_that_the_runbook_names_exists() -> None:
    sections = "|".join(Settings.model_fields)
    named = re.findall(rf"`({sections})\.([a-z_]+)`", RUNBOOK)
    assert len(named) > 20
    for section, name in named:
        assert hasattr(getattr(Settings(), section), name), f"{section}.{name}"


def test_every_log_line_that_the_runbook_names_is_written_by_a_worker() -> None:
    events = {name for name, _ in documented_log_lines()}
    named = [
        name
        for sentence in re.findall(r"log\s+lines?\s+((?:`[a-z_]+`(?:\s+or\s+)?)+)", RUNBOOK)
        for name in re.findall(r"`([a-z_]+)`", sentence)
    ]
    assert len(named) > 5
    assert set(named) <= events


def test_every_alert_has_a_section_in_the_runbook_and_every_section_an_alert() -> None:
    sections = re.findall(r"^## (\w+)$", RUNBOOK, re.MULTILINE)
    assert len(sections) == len(set(sections))
    assert set(sections) == {alert.name for alert in alerts(DEPLOYMENT)}


def test_every_section_of_the_runbook_says_what_to_do_and_when_it_resolves() -> None:
    for section in RUNBOOK.split("\n## ")[1:]:
        for word in ("**Means.**", "**See.**", "**Do.**", "**Resolves**"):
            assert word in section, f"{section.splitlines()[0]} has no {word}"


def test_every_link_of_the_runbook_leads_to_a_section() -> None:
    links = set(re.findall(r"\]\(#([\w-]+)\)", RUNBOOK))
    headings = re.findall(r"^## (.+)$", RUNBOOK, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    assert len(links) > 10
    assert links <= anchors


def test_every_row_and_panel_that_the_runbook_names_is_on_the_dashboard() -> None:
    dashboard = board(DEPLOYMENT)
    rows = {panel["title"] for panel in dashboard["panels"] if panel["type"] == "row"}
    titles = {panel["title"] for panel in panels(dashboard)}
    named = [
        name
        for sentence in re.findall(r"[Rr]ows?\s+((?:\*[^*]+\*(?:\s+and\s+)?)+)", RUNBOOK)
        for name in re.findall(r"\*([^*]+)\*", sentence)
    ]
    assert len(named) > 10
    assert set(named) <= rows
    assert set(re.findall(r"panel\s+\*([^*]+)\*", RUNBOOK)) <= titles


def test_where_nobody_is_asked_no_rule_waits_for_opinions() -> None:
    read = {
        metric
        for rule in rules(Deployment(Settings()), object)
        for metric, _ in parts(rule.expression).series
    }
    assert not [metric for metric in read if "_judge_" in metric or "opinion" in metric or "gen_ai" in metric]


def test_without_rates_no_rule_waits_for_them() -> None:
    deployment = Deployment(Settings(rates=RatesSettings(enabled=False)))
    read = {metric for rule in rules(deployment, object) for metric, _ in parts(rule.expression).series}
    assert not [metric for metric in read if "rates_" in metric or "_alert_" in metric]
