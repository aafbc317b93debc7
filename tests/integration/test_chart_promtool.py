"""The chart's rules as Prometheus reads and evaluates them, under the job of the release."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.charts import MINIMUM, feature, only, resources
from tests.support.promtool import Fires, check, play


def _written(values: Path | Mapping[str, Any], folder: Path) -> Path:
    rule = only(resources(values), "PrometheusRule")
    file = folder / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": rule["spec"]["groups"]}, sort_keys=False), "utf-8")
    return file


@pytest.mark.parametrize("name", ["monitoring", "pod-monitor"])
def test_promtool_finds_no_fault_with_the_rules_of_the_chart(name, tmp_path):
    assert "rules found" in check(_written(feature(name), tmp_path))


def test_an_alert_of_the_chart_fires_for_its_own_release_alone(tmp_path):
    rules = _written({**MINIMUM, "prometheusRule": {"enabled": True}}, tmp_path)
    absent = "TruthgateWorkersAbsent"
    green = {'up{job="green-truthgate", instance="a"}': "1x20"}
    play(rules, green, [Fires(10, absent, values=("critical",))])
    play(rules, {'up{job="blue-truthgate", instance="a"}': "1x20"}, [Fires(10, absent)])
