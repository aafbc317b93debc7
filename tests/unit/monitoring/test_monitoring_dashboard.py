"""The dashboard is whole: panels with descriptions and units, side by side, in colours with one meaning."""

from __future__ import annotations

from typing import Any

from streams.monitoring.deployment import Deployment
from streams.settings import HealthSettings, Settings
from tests.support.monitoring import VARIABLES, board, panels

BOARD = board(Deployment(Settings()))
PANELS = panels(BOARD)


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
            assert target["datasource"]["uid"] == "${datasource}"


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


def test_limits_are_drawn_where_the_settings_have_them() -> None:
    dashboard = board(Deployment(Settings(health=HealthSettings(stall_timeout=42))))
    panel = next(panel for panel in panels(dashboard) if panel["title"] == "Time without a commit")
    assert panel["fieldConfig"]["defaults"]["thresholds"]["steps"][-1]["value"] == 42
