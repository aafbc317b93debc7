"""The rules as typed values: thresholds from the settings, annotations, and the pace of tests."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from promql_parser import parse_duration

from streams.monitoring.prometheus_rules import Deployment, RecordingRule, promql_duration
from streams.monitoring.rendering import all_rules, render_rule_file
from streams.settings import HealthSettings, InvalidSettings, ObjectiveSettings, Settings
from streams.settings.judge_settings import BudgetSettings
from tests.support.monitoring import EVERYTHING, alerts, rules

DEPLOYMENT = Deployment(EVERYTHING)


@given(st.integers(min_value=1, max_value=30 * 86_400_000))
def test_a_duration_is_what_prometheus_reads_from_it(milliseconds: int) -> None:
    assert parse_duration(promql_duration(milliseconds / 1000)).total_seconds() == milliseconds / 1000


@pytest.mark.parametrize(("seconds", "text"), [(0.25, "250ms"), (90, "90s"), (300, "5m"), (259_200, "3d")])
def test_a_duration_is_written_in_its_largest_whole_unit(seconds: float, text: str) -> None:
    assert promql_duration(seconds) == text


def test_every_alert_tells_severity_summary_description_and_its_section() -> None:
    for alert in alerts(DEPLOYMENT):
        written = alert.to_prometheus("https://wiki.example/truthgate")
        assert written.get("labels", {}).get("severity") == alert.severity
        assert set(written["annotations"]) == {"summary", "description", "runbook_url"}
        assert all(written["annotations"].values())
        assert written["annotations"]["runbook_url"] == f"https://wiki.example/truthgate#{alert.name.lower()}"


def test_severity_of_a_hallucination_rate_is_that_of_its_threshold() -> None:
    alert = next(alert for alert in alerts(DEPLOYMENT) if alert.name == "TruthgateHallucinationRateHigh")
    recordings = {rule.record: rule.expression for rule in rules(DEPLOYMENT, RecordingRule)}
    assert alert.severity is None
    assert "severity" in recordings["job:truthgate_alert_threshold:max"]


def test_objectives_and_limits_come_from_the_settings() -> None:
    settings = Settings(
        objectives=ObjectiveSettings(verdict_within_seconds=2.5, in_time=0.95, judged=0.9999),
        health=HealthSettings(stall_timeout_seconds=60),
    )
    written = render_rule_file(all_rules(Deployment(settings)))
    assert 'le=~"2\\\\.5(\\\\.0)?"' in "".join(
        rule.expression for rule in rules(Deployment(settings), RecordingRule)
    )
    limits = [alert.expression for alert in alerts(Deployment(settings))]
    assert any("> 0.72 " in limit for limit in limits)  # 14.4 times 5%
    assert any("> 0.00144 " in limit for limit in limits)  # 14.4 times 0.01%
    assert any(re.search(r"commit_age_seconds.* > 30 ", limit) for limit in limits)
    assert "Verdicts take longer than 2500ms" in written


def test_the_budget_of_a_day_is_watched_by_what_of_it_is_limited() -> None:
    def watched(**budget: int) -> dict[str, str]:
        settings = EVERYTHING.with_values("judges", {"budget": BudgetSettings.model_validate(budget)})
        return {
            alert.labels["of"]: alert.expression.rpartition(" < ")[2]
            for alert in alerts(Deployment(settings))
            if alert.name == "TruthgateJudgeBudgetNearlySpent"
        }

    assert watched(requests_per_day=500, tokens_per_day=2_000_000) == {"requests": "50", "tokens": "200000"}
    assert watched(tokens_per_day=10**10, requests_per_minute=60) == {"tokens": "1000000000"}
    assert watched() == {}


def test_a_loose_objective_has_no_alert_that_could_never_fire() -> None:
    settings = Settings(objectives=ObjectiveSettings(in_time=0.9))
    late = [alert for alert in alerts(Deployment(settings)) if alert.name == "TruthgateVerdictsLate"]
    assert [alert.labels["window"] for alert in late] == ["6h", "1d", "3d"]


def test_another_pace_changes_windows_and_waits_and_nothing_else() -> None:
    quick = Deployment(EVERYTHING, time_scale=0.01)
    windows = re.compile(r"(?<=\[)[^\]]+(?=\])|for: \w+|(?<=offset )\w+")
    usual, fast = (windows.sub("", render_rule_file(all_rules(each))) for each in (DEPLOYMENT, quick))
    # Where lines are broken depends on their lengths.
    assert usual.split() == fast.split()
    assert "[3s]" in render_rule_file(all_rules(quick))


def test_a_rule_file_is_yaml_with_a_rule_of_each_kind() -> None:
    groups = yaml.safe_load(render_rule_file(all_rules(DEPLOYMENT)))["groups"]
    written = [rule for group in groups for rule in group["rules"]]
    assert len({group["name"] for group in groups}) == len(groups)
    assert {rule["alert"] for rule in written if "alert" in rule} == {
        alert.name for alert in alerts(DEPLOYMENT)
    }
    assert all(rule["expr"] for rule in written)


def test_how_many_workers_there_should_be_is_watched_where_somebody_says_it() -> None:
    def watched(workers: int | None) -> list[str]:
        told = alerts(Deployment(EVERYTHING, workers=workers))
        return [alert.expression for alert in told if alert.labels == {"of": "all"}]

    assert watched(None) == []
    (expression,) = watched(4)
    assert expression.endswith(" < 4")


@pytest.mark.parametrize("job", ["", 'a"b', "a{b}", "a\\"])
def test_a_job_that_would_break_its_quotes_is_refused(job: str) -> None:
    with pytest.raises(InvalidSettings, match="--job"):
        Deployment(EVERYTHING, job)
