"""Judges compared in three panels: what a confidence flags, what that costs, and the cascade's curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from scoring.evaluation.opinions.cascade import CurvePoint
from scoring.evaluation.opinions.flags import FlagRow
from scoring.evaluation.opinions.report import JudgeRun
from scoring.evaluation.statistics import Share

PANELS = 3
_SPACE = 0.02


def draw_judges(part: SubFigure, judges: Sequence[JudgeRun]) -> None:
    """Draw one line a judge in each panel; a band is the interval of 95% of the curve."""
    flagged, reviewed, curve = part.subplots(1, PANELS)
    for run in judges:
        _flags(flagged, run, lambda row: row.flagged)
        _flags(reviewed, run, lambda row: row.reviewed)
        _curve(curve, run)
    flagged.set(title="wrong labels flagged (002, Fig. 6a)", xlabel="confidence threshold", ylabel="share")
    reviewed.set(title="opinions reviewed (002, Fig. 6b)", xlabel="confidence threshold", ylabel="share")
    curve.set(
        title="the cascade", xlabel="share of the answers asked about", ylabel="Spearman with the rating"
    )
    for panel in (flagged, reviewed):
        panel.set(xlim=(-_SPACE, 1 + _SPACE), ylim=(-_SPACE, 1 + _SPACE))
    part.legend(*curve.get_legend_handles_labels(), loc="outside lower center", ncols=4)


def _flags(panel: Axes, run: JudgeRun, share: Callable[[FlagRow], Share | None]) -> None:
    points = [(row.tau, found.value) for row in run.flags if (found := share(row))]
    panel.plot([tau for tau, _ in points], [value for _, value in points], marker=".", label=run.name)


def _curve(panel: Axes, run: JudgeRun) -> None:
    points = [(point.share, found) for point in run.curve if (found := _spearman(point))]
    shares = [share for share, _ in points]
    (line,) = panel.plot(shares, [found[0] for _, found in points], marker=".", label=run.name)
    lows, highs = ([found[side] for _, found in points] for side in (1, 2))
    panel.fill_between(shares, lows, highs, color=line.get_color(), alpha=0.15, linewidth=0)


def _spearman(point: CurvePoint) -> tuple[float, float, float] | None:
    found = point.ranking.spearman
    if found is None or found.low is None or found.high is None:
        return None
    return found.value, found.low, found.high
