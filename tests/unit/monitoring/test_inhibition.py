"""The inhibition rules for Alertmanager name alerts that exist, and the labels by which these are equal."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from streams.monitoring.prometheus_rules import Deployment
from tests.support.monitoring import EVERYTHING, alerts

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "alertmanager.yml"
CONFIGURATION: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text("utf-8"))
RULES: list[dict[str, Any]] = CONFIGURATION["inhibit_rules"]
NAMES = {alert.name for alert in alerts(Deployment(EVERYTHING))}
MATCHER = re.compile(r'(?P<label>\w+) (?P<operator>=|!=|=~) (?P<value>\w+|"[^"]+")')


def _matched(matchers: list[str]) -> set[str]:
    """Return the alerts that these matchers select by name; each alternative selects at least one."""
    for each in matchers:
        parts = MATCHER.fullmatch(each)
        assert parts, each
        if parts["label"] != "alertname":
            assert parts["label"] == "severity"
            assert parts["value"] in {"critical", "warning", "info"}
    (pattern,) = [MATCHER.fullmatch(each)["value"].strip('"') for each in matchers if "alertname" in each]
    prefix, _, alternatives = pattern.partition("(")
    expected = {prefix + each for each in alternatives.rstrip(")").split("|")} if alternatives else {pattern}
    assert expected <= NAMES, expected - NAMES
    return {name for name in NAMES if re.fullmatch(pattern, name)}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: " ".join(rule["source_matchers"])[:60])
def test_every_rule_names_alerts_that_exist_and_never_silences_its_own_cause(rule: dict[str, Any]) -> None:
    assert rule.keys() == {"source_matchers", "target_matchers", "equal"}
    sources, targets = _matched(rule["source_matchers"]), _matched(rule["target_matchers"])
    assert set(rule["equal"]) in ({"namespace", "job"}, {"job"})
    # Of one name, only a weaker severity.
    assert not sources & targets or "severity != critical" in rule["target_matchers"]


def test_what_pages_for_untrue_answers_is_never_silenced() -> None:
    silenced = set().union(*(_matched(rule["target_matchers"]) for rule in RULES))
    assert not silenced & {
        "TruthgateHallucinationRateHigh",
        "TruthgateRatesUnreadable",
        "TruthgateSendingPaused",
    }


def test_the_file_has_the_receiver_of_its_route() -> None:
    assert CONFIGURATION["route"]["receiver"] in {each["name"] for each in CONFIGURATION["receivers"]}
