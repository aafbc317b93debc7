"""Panels of the dashboard: a title, a description, a unit, and what is asked of Prometheus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.builders import heatmap, prometheus, stat, statetimeline, table, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models import heatmap as heatmap_models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from streams.monitoring.dashboard import style
from streams.monitoring.dashboard.questions import SHOWN

Panel = Builder[dashboard.Panel]

# They have many methods in common, and no type that has them.
AnyPanel = TypeVar("AnyPanel", timeseries.Panel, stat.Panel, heatmap.Panel, statetimeline.Panel, table.Panel)

SOURCE: Final = dashboard.DataSourceRef(type_val="prometheus", uid="${datasource}")
WIDTH: Final = 24
_HEIGHT: Final = 8
_STAT_HEIGHT: Final = 4


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and how what comes back is called."""

    expression: str
    legend: str


def graph(
    title: str,
    description: str,
    unit: str,
    *queries: Query,
    span: int = 8,
    colors: dict[str, str] | None = None,
    stacked: bool = False,
    largest: float | None = None,
    limit: float | None = None,
) -> timeseries.Panel:
    """Draw series over time.

    Args:
        title: of the panel.
        description: what is seen on it.
        unit: one of Grafana's names.
        queries: each is one line or more.
        span: width, of 24.
        colors: by the name of a series; the others get what is left.
        stacked: whether each stands upon the one before.
        largest: the end of the axis; unset: the largest value.
        limit: where a dashed line is drawn, above which it is red.
    """
    panel = _described(timeseries.Panel(), title, description, span, _HEIGHT).unit(unit).min(0)
    panel.legend(style.legend()).tooltip(style.tooltip()).line_width(2).fill_opacity(30 if stacked else 8)
    panel.show_points(common.VisibilityMode.NEVER).span_nulls(False)
    _ask(panel, queries)
    if stacked:
        panel.stacking(common_builders.StackingConfig().mode(common.StackingMode.NORMAL))
    if largest is not None:
        panel.max(largest)
    if limit is not None:
        panel.thresholds(style.steps(style.GOOD, (limit, style.BAD)))
        dashed = common_builders.GraphThresholdsStyleConfig().mode(common.GraphTresholdsStyleMode.DASHED)
        panel.thresholds_style(dashed)
    for name, color in (colors or {}).items():
        panel.override_by_name(name, [style.fixed(color)])
    return panel


def number(
    title: str,
    description: str,
    unit: str,
    query: Query,
    thresholds: builders.ThresholdsConfig,
    *,
    span: int = 3,
    decimals: int | None = None,
) -> stat.Panel:
    """Show one number, coloured by its thresholds, with its course behind it."""
    panel = _described(stat.Panel(), title, description, span, _STAT_HEIGHT).unit(unit)
    panel.thresholds(thresholds).color_scheme(style.by_step()).no_value("–")
    panel.color_mode(common.BigValueColorMode.VALUE).graph_mode(common.BigValueGraphMode.AREA)
    panel.reduce_options(common_builders.ReduceDataOptions().calcs(["lastNotNull"]))
    if decimals is not None:
        panel.decimals(decimals)
    return _ask(panel, (query,))


def heat(title: str, description: str, unit: str, expression: str, *, span: int = 12) -> heatmap.Panel:
    """Show how values are spread over time, from the buckets of a histogram."""
    panel = _described(heatmap.Panel(), title, description, span, _HEIGHT)
    colors = heatmap.HeatmapColorOptions().mode(heatmap_models.HeatmapColorMode.SCHEME).scheme("Oranges")
    panel.color(colors.steps(64)).y_axis(heatmap.YAxisConfig().unit(unit)).calculate(
        False
    ).hide_legend().show_tooltip()
    target = _target(Query(expression, "{{le}}"), "A").format(PromQueryFormat.HEATMAP)
    return panel.with_target(target)


def states(
    title: str, description: str, *queries: Query, span: int = 8, colors: dict[str, str] | None = None
) -> statetimeline.Panel:
    """Show over time whether something is the case (1, in its colour) or not (0)."""
    panel = _described(statetimeline.Panel(), title, description, span, _HEIGHT)
    panel.thresholds(style.steps("transparent", (1, style.NEUTRAL))).color_scheme(style.by_step())
    panel.show_value(common.VisibilityMode.NEVER).merge_values(True)
    for name, color in (colors or {}).items():
        at_one = style.steps("transparent", (1, color)).build()
        panel.override_by_name(name, [dashboard.DynamicConfigValue("thresholds", at_one)])
    return _ask(panel, queries)


def rows(title: str, description: str, columns: dict[str, Query], hidden: tuple[str, ...]) -> table.Panel:
    """Show the newest values as a table: one row for each set of labels, one column for each query.

    ``hidden`` are labels that tell nothing here.
    """
    panel = _described(table.Panel(), title, description, WIDTH, _HEIGHT).show_header(True)
    for letter, query in zip("ABCDEFGH", columns.values(), strict=False):
        panel.with_target(_target(query, letter).format(PromQueryFormat.TABLE).instant())
    names = {f"Value #{letter}": name for letter, name in zip("ABCDEFGH", columns, strict=False)}
    organize = {"excludeByName": dict.fromkeys(("Time", *hidden), True), "renameByName": names}
    panel.with_transformation(dashboard.DataTransformerConfig(id_val="merge", options={}))
    return panel.with_transformation(dashboard.DataTransformerConfig(id_val="organize", options=organize))


def _described(panel: AnyPanel, title: str, description: str, span: int, height: int) -> AnyPanel:
    return panel.title(title).description(description).datasource(SOURCE).span(span).height(height)


def _ask(panel: AnyPanel, queries: tuple[Query, ...]) -> AnyPanel:
    for letter, query in zip("ABCDEFGH", queries, strict=False):
        panel.with_target(_target(query, letter))
    return panel


def _target(query: Query, letter: str) -> prometheus.Dataquery:
    target = prometheus.Dataquery().datasource(SOURCE).ref_id(letter)
    target.expr(query.expression).legend_format(query.legend)
    # What is about the whole time shown has one value, and no course.
    return target.instant() if SHOWN in query.expression else target.range()
