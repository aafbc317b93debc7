"""How the dashboard looks: one colour for one meaning, on every panel."""

from __future__ import annotations

from typing import Final

from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.models import common, dashboard

GOOD: Final = "green"
DOUBTFUL: Final = "orange"
BAD: Final = "red"
NEUTRAL: Final = "blue"

#: What happens to an answer has the same colour everywhere.
DECISIONS: Final = {"auto_send": GOOD, "review": DOUBTFUL, "blocked": BAD}


def steps(base: str, *levels: tuple[float, str]) -> builders.ThresholdsConfig:
    """Colour a value: ``base`` below the first level, then the colour of the highest level reached."""
    thresholds = [dashboard.Threshold(value=level, color=color) for level, color in levels]
    return builders.ThresholdsConfig().steps([dashboard.Threshold(value=None, color=base), *thresholds])


def fixed(color: str) -> dashboard.DynamicConfigValue:
    """Give a series this colour."""
    return dashboard.DynamicConfigValue("color", {"mode": "fixed", "fixedColor": color})


def custom(name: str, value: object) -> dashboard.DynamicConfigValue:
    """Set a property of how a series is drawn."""
    return dashboard.DynamicConfigValue(f"custom.{name}", value)


def by_step() -> builders.FieldColor:
    """Colour a value by its thresholds."""
    return builders.FieldColor().mode(dashboard.FieldColorModeId.THRESHOLDS)


def legend() -> common_builders.VizLegendOptions:
    """Show names, newest and largest values below a graph."""
    return (
        common_builders.VizLegendOptions()
        .display_mode(common.LegendDisplayMode.TABLE)
        .placement(common.LegendPlacement.BOTTOM)
        .show_legend(True)
        .calcs(["lastNotNull", "max"])
    )


def tooltip() -> common_builders.VizTooltipOptions:
    """Show all series at the mouse, the largest first."""
    return (
        common_builders.VizTooltipOptions()
        .mode(common.TooltipDisplayMode.MULTI)
        .sort(common.SortOrder.DESCENDING)
    )


def unit(name: str) -> dashboard.DynamicConfigValue:
    """Write numbers in this unit of Grafana's."""
    return dashboard.DynamicConfigValue("unit", name)


def yes_or_no(*, bad: bool) -> list[dashboard.DynamicConfigValue]:
    """Write 1 as yes and 0 as no; ``bad`` says whether yes is."""
    answers = {
        "0": {"text": "no", "color": GOOD if bad else BAD, "index": 0},
        "1": {"text": "yes", "color": BAD if bad else GOOD, "index": 1},
    }
    cell = custom("cellOptions", {"type": "color-text"})
    return [dashboard.DynamicConfigValue("mappings", [{"type": "value", "options": answers}]), cell]
