"""Rules and dashboard in the chart: what ``truthgate monitoring`` writes for the same settings."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from docs.generate.chart.chart_files import IN_RULES
from streams.monitoring.prometheus_rules import Deployment
from streams.monitoring.rendering import all_rules, render_dashboard, render_rule_file
from streams.settings import Settings
from tests.support.charts import MINIMUM, feature, only, refusal, resources, with_settings
from tests.support.monitoring import EVERYTHING

JOB = "blue-truthgate"
RUNBOOK = "https://example.com/runbook"
JUDGES = {"endpoints": {"small": {"base_url": "http://vllm:8000/v1", "model": "gpt-small"}}}
ALIKE = [
    {},
    {"judges": JUDGES},
    {"rates": {"enabled": False}},
    {"judges": JUDGES, "rates": {"enabled": False}},
    {
        "objectives": {"in_time": 0.99},
        "health": {"stall_timeout_seconds": 180},
        "kafka": {"topic_prefix": "a."},
    },
]
OTHER = [
    {"objectives": {"in_time": 0.95, "judged": 0.9999, "verdict_within_seconds": 2.5}},
    {"health": {"stall_timeout_seconds": 600, "kafka_timeout_seconds": 30}},
]


def _rules(settings: Settings) -> list[dict[str, Any]]:
    return yaml.safe_load(render_rule_file(all_rules(Deployment(settings, JOB)), RUNBOOK))["groups"]


def _rendered_rules(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    enabled = {"enabled": True, "runbookUrl": RUNBOOK}
    return only(resources({**values, "prometheusRule": enabled}), "PrometheusRule")["spec"]["groups"]


@pytest.mark.parametrize("sections", ALIKE)
def test_the_rules_are_those_that_truthgate_writes_for_these_settings(sections: Mapping[str, Any]) -> None:
    assert _rendered_rules(with_settings(**sections)) == _rules(Settings(**sections))


@pytest.mark.parametrize(
    "sections",
    [*OTHER, {"judges": {**JUDGES, "budget": {"requests_per_day": 5000}}}, {"flow": {"max_in_flight": 8}}],
)
def test_rules_that_would_be_others_are_refused_with_what_to_do(sections: Mapping[str, Any]) -> None:
    told = refusal({**with_settings(**sections), "prometheusRule": {"enabled": True}})
    assert f"`truthgate monitoring rules --job {JOB}`" in told
    assert "--set-file prometheusRule.rules=" in told


@pytest.mark.parametrize("sections", OTHER)
def test_rules_that_truthgate_wrote_are_taken_as_they_are(sections: Mapping[str, Any]) -> None:
    settings = Settings(**sections)
    written = render_rule_file(all_rules(Deployment(settings, JOB)), RUNBOOK)
    values = {**with_settings(**sections), "prometheusRule": {"enabled": True, "rules": written}}
    assert only(resources(values), "PrometheusRule")["spec"]["groups"] == _rules(settings)


def _alerts(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


@pytest.mark.parametrize("sections", [{}, OTHER[0]], ids=["the chart's own", "those of the values"])
def test_labels_and_single_alerts_are_changed_without_writing_the_rules(sections: Mapping[str, Any]) -> None:
    settings = Settings(**sections)
    changes = {
        "alertLabels": {"team": "support", "severity": "page"},
        "alerts": {
            "TruthgateNoAnswers": {"for": "30m", "labels": {"severity": "info"}},
            "TruthgateDeadLetters": {"enabled": False},
            "TruthgateLagGrowing": {"annotations": {"summary": "x"}},
        },
    }
    rules = {"rules": render_rule_file(all_rules(Deployment(settings, JOB)), RUNBOOK)} if sections else {}
    enabled = {"enabled": True, "runbookUrl": RUNBOOK, **changes, **rules}
    values = {**with_settings(**sections), "prometheusRule": enabled}
    expected = [
        {**rule, "labels": {**rule.get("labels", {}), "team": "support", "severity": "page"}}
        for rule in _alerts(_rules(settings))
        if rule["alert"] != "TruthgateDeadLetters"
    ]
    for rule in expected:
        if rule["alert"] == "TruthgateNoAnswers":
            rule["for"], rule["labels"]["severity"] = "30m", "info"
        if rule["alert"] == "TruthgateLagGrowing":
            rule["annotations"]["summary"] = "x"
    assert _alerts(only(resources(values), "PrometheusRule")["spec"]["groups"]) == expected


def test_an_alert_of_judges_may_be_changed_where_there_are_none() -> None:
    enabled = {"enabled": True, "runbookUrl": RUNBOOK, "alerts": {"TruthgateJudgeSlow": {"for": "1h"}}}
    groups = only(resources({**MINIMUM, "prometheusRule": enabled}), "PrometheusRule")["spec"]["groups"]
    assert groups == _rules(Settings())


def test_relabelings_follow_the_one_that_the_rules_need() -> None:
    own = {"targetLabel": "cluster", "replacement": "test"}
    (endpoint,) = only(resources(feature("monitoring")), "ServiceMonitor")["spec"]["endpoints"]
    assert endpoint["relabelings"] == [{"targetLabel": "job", "replacement": JOB}, own]


@pytest.mark.parametrize("name", ["monitoring", "pod-monitor"])
def test_monitoring_may_be_in_another_namespace_and_still_finds_the_workers(name: str) -> None:
    found = resources(feature(name), "--set=monitoringNamespace=observability")
    kinds = {"ServiceMonitor", "PodMonitor", "PrometheusRule"}
    own = [each for each in found if each["kind"] in kinds or each["metadata"]["name"].endswith("-dashboard")]
    assert len(own) == (3 if name == "monitoring" else 2)
    for each in found:
        assert each["metadata"]["namespace"] == ("observability" if each in own else "chat")
    (monitor,) = (each for each in own if each["kind"].endswith("Monitor"))
    assert monitor["spec"]["namespaceSelector"] == {"matchNames": ["chat"]}


@pytest.mark.parametrize("sections", [*ALIKE, *OTHER])
def test_the_dashboard_is_the_one_that_truthgate_writes_for_these_settings(
    sections: Mapping[str, Any],
) -> None:
    values = {**with_settings(**sections), "dashboard": {"enabled": True}}
    board = only(resources(values), "ConfigMap", component="dashboard")["data"][f"{JOB}.json"]
    assert json.loads(board) == json.loads(render_dashboard(Deployment(Settings(**sections), JOB)))


@pytest.mark.parametrize("name", ["monitoring", "pod-monitor"])
def test_workers_are_scraped_as_the_job_that_the_rules_ask_for(name: str) -> None:
    found = resources(feature(name))
    (monitor,) = (each for each in found if each["kind"] in {"ServiceMonitor", "PodMonitor"})
    (endpoint,) = monitor["spec"].get("endpoints") or monitor["spec"]["podMetricsEndpoints"]
    assert {"targetLabel": "job", "replacement": JOB} in endpoint["relabelings"]
    assert (endpoint["port"], endpoint["path"]) == ("http", "/metrics")
    assert f'job="{JOB}"' in str(only(found, "PrometheusRule")["spec"])


def test_a_service_monitor_finds_one_service_whose_pods_are_the_workers() -> None:
    found = resources(feature("monitoring"))
    wanted = only(found, "ServiceMonitor")["spec"]["selector"]["matchLabels"].items()
    services = [
        each for each in found if each["kind"] == "Service" and wanted <= each["metadata"]["labels"].items()
    ]
    (service,) = services
    pods = only(found, "StatefulSet")["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= pods.items()


def test_the_rules_are_made_of_no_other_setting() -> None:
    """Each number and switch is changed by itself: where the rules then differ, the chart knows of it."""
    usual = all_rules(Deployment(EVERYTHING))
    differing = {path for path, changed in _changed(EVERYTHING) if all_rules(Deployment(changed)) != usual}
    assert differing == {*IN_RULES, ("rates", "enabled")}


def _changed(settings: Settings) -> Iterator[tuple[tuple[str, ...], Settings]]:
    """Give the settings with one number or switch changed, for each of them, and which it is."""
    for section in Settings.model_fields:
        for path, changed in _changed_in(getattr(settings, section)):
            yield (section, *path), settings.model_copy(update={section: changed})


def _changed_in(section: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not isinstance(section, BaseModel):
        return
    for name, value in section:
        if isinstance(value, BaseModel):
            for path, changed in _changed_in(value):
                yield (name, *path), section.model_copy(update={name: changed})
        elif isinstance(value, bool):
            yield (name,), section.model_copy(update={name: not value})
        elif isinstance(value, int | float):
            yield (name,), section.model_copy(update={name: value / 2 if 0 < value < 1 else value * 2 + 1})


def test_nothing_of_monitoring_is_made_that_is_not_asked_for() -> None:
    kinds = {each["kind"] for each in resources(MINIMUM)}
    assert not kinds & {"ServiceMonitor", "PodMonitor", "PrometheusRule"}


def test_an_address_of_the_runbook_with_quotes_in_it_is_no_end_of_the_rules() -> None:
    enabled = {"enabled": True, "runbookUrl": 'https://example.com/"a"\\b'}
    groups = only(resources({**MINIMUM, "prometheusRule": enabled}), "PrometheusRule")["spec"]["groups"]
    links = [
        rule["annotations"]["runbook_url"] for group in groups for rule in group["rules"] if "alert" in rule
    ]
    assert links
    assert all(link.startswith(f"{enabled['runbookUrl']}#") for link in links)
