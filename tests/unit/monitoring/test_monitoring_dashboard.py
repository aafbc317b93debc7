"""The dashboard is whole: panels with descriptions and units, side by side, in colours with one meaning."""

from typing import Any

import pytest

from streams.monitoring.objectives import BURN_RATES, objectives
from streams.monitoring.prometheus_rules import Deployment, promql_duration
from streams.monitoring.rendering import DASHBOARD_FILE, render_dashboard
from streams.settings import HealthSettings, ObjectiveSettings, Settings
from tests.support.monitoring import VARIABLES, board, panels

BOARD = board(Deployment(Settings()))
PANELS = panels(BOARD)
_OTHER = Deployment(
    Settings(
        objectives=ObjectiveSettings(verdict_within_seconds=2.5, in_time=0.95, judged=0.9999999),
        health=HealthSettings(stall_timeout_seconds=42, kafka_timeout_seconds=7),
    ),
    "gate",
)


def test_every_panel_has_title_description_unit_and_queries() -> None:
    for panel in PANELS:
        assert panel["title"]
        assert panel["description"].endswith("."), panel["title"]
        assert panel["targets"], panel["title"]
        assert _unit(panel) or panel["type"] in {"table", "state-timeline"}, panel["title"]


def _unit(panel: dict[str, Any]) -> str | None:
    axis = panel.get("options", {}).get("yAxis", {})
    return panel["fieldConfig"]["defaults"].get("unit") or axis.get("unit")


def test_every_panel_has_a_number_and_a_place_of_its_own() -> None:
    every = [each for panel in BOARD["panels"] for each in (panel, *panel.get("panels", ()))]
    numbers = [panel["id"] for panel in every]
    assert len(set(numbers)) == len(numbers)
    cells = [cell for panel in BOARD["panels"] for cell in _cells(panel)]
    assert len(set(cells)) == len(cells)
    for row in BOARD["panels"]:
        inner = [cell for panel in row.get("panels", ()) for cell in _cells(panel)]
        assert len(set(inner)) == len(inner)


def _cells(panel: dict[str, Any]) -> list[tuple[int, int]]:
    place = panel["gridPos"]
    assert place["x"] + place["w"] <= 24, panel["title"]
    return [(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])]


def test_every_query_goes_to_the_chosen_data_source() -> None:
    for panel in PANELS:
        for target in panel["targets"]:
            assert target.get("datasource", panel["datasource"])["uid"] == "${datasource}"


def test_every_variable_that_a_query_names_can_be_chosen() -> None:
    variables = {variable["name"] for variable in BOARD["templating"]["list"]}
    assert {f"${name}" for name in variables} | {"$__range", "$__rate_interval"} == {
        *VARIABLES,
        "$datasource",
    }


def test_a_decision_has_the_same_colour_everywhere() -> None:
    colors = {"auto_send": "green", "review": "orange", "blocked": "red"}
    numbers = {panel["title"]: panel for panel in PANELS if panel["type"] == "stat"}
    for decision, title in (("auto_send", "Sent"), ("review", "Review"), ("blocked", "Blocked")):
        steps = numbers[title]["fieldConfig"]["defaults"]["thresholds"]["steps"]
        assert [step["color"] for step in steps] == [colors[decision]]
    graph = next(panel for panel in PANELS if panel["title"] == "Decisions")
    drawn = {
        override["matcher"]["options"]: override["properties"][0]["value"]["fixedColor"]
        for override in graph["fieldConfig"]["overrides"]
    }
    assert drawn == colors


def test_rates_are_drawn_for_each_message_type_with_bounds_and_thresholds() -> None:
    panel = next(panel for panel in PANELS if panel.get("repeat") == "message_type")
    legends = [target["legendFormat"] for target in panel["targets"]]
    assert legends == ["upper bound", "lower bound", "rate", "threshold {{alert}}"]


def test_the_file_is_the_dashboard_of_the_default_settings() -> None:
    """Written anew, it is the same: what was taken over from Grafana is laid out, with the default limits."""
    assert DASHBOARD_FILE.read_text("utf-8") == render_dashboard(Deployment(Settings()))


@pytest.mark.parametrize(
    ("title", "limit"),
    [
        ("Time without a commit", 42),
        ("Silence of Kafka", 7),
        ("Time to the verdict, quantiles", 2.5),
        ("In time", 0.95),
        ("Judged", 0.9999999),
    ],
)
def test_limits_are_drawn_where_the_settings_have_them(title: str, limit: float) -> None:
    panel = next(panel for panel in panels(board(_OTHER)) if panel["title"] == title)
    assert panel["fieldConfig"]["defaults"]["thresholds"]["steps"][-1]["value"] == limit


def test_objectives_of_the_settings_and_the_job_are_what_queries_and_descriptions_name() -> None:
    variables = {each["name"]: each for each in board(_OTHER)["templating"]["list"]}
    assert variables["job"]["current"]["value"] == "gate"
    for name, value in (("in_time", "0.95"), ("judged", "0.9999999")):
        assert variables[name]["query"] == variables[name]["current"]["value"] == value
        assert any(f"(1 - ${name})" in target["expr"] for panel in PANELS for target in panel["targets"])
        assert any(f"objectives.{name}, is ${name}." in panel["description"] for panel in PANELS)


def test_how_fast_a_budget_is_spent_is_shown_for_the_windows_and_factors_of_its_alerts() -> None:
    burning = [panel for panel in PANELS if panel["title"].endswith("burn rate")]
    assert len(burning) == len(objectives(ObjectiveSettings()))
    for panel in burning:
        for rate in BURN_RATES:
            pair = f"{promql_duration(rate.short)} and {promql_duration(rate.long)} above {rate.factor:g}"
            assert pair in panel["description"]
        legends = [target["legendFormat"] for target in panel["targets"]]
        assert legends == [
            promql_duration(window) for rate in BURN_RATES[:2] for window in (rate.short, rate.long)
        ]
        limit = panel["fieldConfig"]["defaults"]["thresholds"]["steps"][-1]["value"]
        assert limit == max(rate.factor for rate in BURN_RATES)
