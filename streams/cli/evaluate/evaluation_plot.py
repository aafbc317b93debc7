"""Plots of ratings against scores, and of judges. Needs matplotlib."""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from scoring.evaluation.cases import RATINGS, EvaluationCase
from scoring.evaluation.correlation import correlation
from scoring.evaluation.opinion_accuracy import FlagRow
from scoring.evaluation.opinion_report import JudgeRun
from scoring.evaluation.statistics import Share
from scoring.evaluation.sweep import sweep
from scoring.values.exchange import Decision
from streams.cli.command_output import plural
from streams.cli.evaluate.rated_files import describe_variant

PANELS = 3
_SPACE = 0.02


def draw_judges(part: SubFigure, judges: Sequence[JudgeRun]) -> None:
    """Draw one line per judge in each panel; the band is the 95% interval of the curve."""
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
    points = [
        (point.share, found.value, found.low, found.high)
        for point in run.curve
        if (found := point.ranking.spearman) and found.low is not None and found.high is not None
    ]
    shares, values, lows, highs = ([point[index] for point in points] for index in range(4))
    (line,) = panel.plot(shares, values, marker=".", label=run.name)
    panel.fill_between(shares, lows, highs, color=line.get_color(), alpha=0.15, linewidth=0)


# Okabe and Ito's colours, which colour-blind people can distinguish.
_COLOURS = {Decision.AUTO_SEND: "#009E73", Decision.REVIEW: "#E69F00", Decision.BLOCKED: "#D55E00"}
_MARKERS = {Decision.AUTO_SEND: "o", Decision.REVIEW: "s", Decision.BLOCKED: "X"}
_SCATTER = 0.28
_HALF_BAR = 0.35
_SIDE_INCHES = 5.0


def draw(
    path: Path, kind: str, runs: Mapping[str, Sequence[EvaluationCase]], judges: Sequence[JudgeRun] = ()
) -> None:
    """Draw one panel per variant and one of all, and write the plot as ``kind`` (``png`` or ``svg``).

    A point is an answer with its rating and score, its colour and shape the decision; a bar is the median
    score of a rating. The last panel has a line per variant: how much of what is sent is untrue, by the share
    sent. Below are three panels with a line per judge, if there are any. Equal input gives an equal file.
    Raises OSError.
    """
    with mpl.rc_context({"svg.hashsalt": "truthgate", "font.size": 10}):
        rows, width = (2, max(len(runs) + 1, PANELS)) if judges else (1, len(runs) + 1)
        figure = Figure(figsize=(_SIDE_INCHES * width, _SIDE_INCHES * rows), layout="constrained")
        parts = figure.subfigures(rows, 1, squeeze=False)[:, 0]
        *panels, risks = parts[0].subplots(1, len(runs) + 1, squeeze=False)[0]
        for panel, (title, cases) in zip(panels, runs.items(), strict=True):
            _panel(panel, describe_variant(title), cases)
            _risk(risks, describe_variant(title), cases)
        risks.set(
            title="sending from a score on", xlabel="share of the answers sent", ylabel="untrue of sent"
        )
        risks.set(xlim=(-_SPACE, 1 + _SPACE), ylim=(-_SPACE, 1 + _SPACE))
        panels[0].set_ylabel("score")
        parts[0].legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        if judges:
            draw_judges(parts[1], judges)
        metadata = {"Date": None} if kind == "svg" else {}
        figure.savefig(path, format=kind, dpi=150, metadata=metadata)


def _risk(panel: Axes, title: str, cases: Sequence[EvaluationCase]) -> None:
    """Draw the risk by the coverage of each threshold; the band is the 95% interval of the risk."""
    points = [(point.coverage.value, point.risk) for point in sweep(cases) if point.risk]
    coverages = [coverage for coverage, _ in points]
    (line,) = panel.plot(coverages, [risk.value for _, risk in points], marker=".", label=title)
    lows, highs = [risk.low for _, risk in points], [risk.high for _, risk in points]
    panel.fill_between(coverages, lows, highs, color=line.get_color(), alpha=0.15, linewidth=0)
    panel.legend()


def _panel(panel: Axes, title: str, cases: Sequence[EvaluationCase]) -> None:
    chance = random.Random(0)  # noqa: S311 - it only keeps points from overlapping
    compared = [case for case in cases if case.exclusion_reason is None]
    for decision in Decision:
        points = [(case.rating or 0, case.score or 0) for case in compared if case.decision is decision]
        panel.scatter(
            [rating + chance.uniform(-_SCATTER, _SCATTER) for rating, _ in points],
            [score for _, score in points],
            c=_COLOURS[decision],
            marker=_MARKERS[decision],
            s=28,
            alpha=0.7,
            linewidths=0,
            label=decision.replace("_", " "),
        )
    scores = {
        rating: [case.score or 0 for case in compared if case.rounded_rating == rating] for rating in RATINGS
    }
    medians = {rating: median(found) for rating, found in scores.items() if found}
    starts, ends = ([rating + side for rating in medians] for side in (-_HALF_BAR, _HALF_BAR))
    panel.hlines(list(medians.values()), starts, ends, colors="black", linewidth=1.5, label="median")
    panel.axhline(3, color="grey", linewidth=0.8, linestyle=":")
    found = correlation(cases)
    spearman = f", Spearman {found.spearman.value:.2f}" if found.spearman else ""
    panel.set(title=f"{title}: {plural(found.answers, 'answer')}{spearman}", xlabel="rating", xticks=RATINGS)
    panel.set(xlim=(0.5, 5.5), ylim=(0.8, 5.2), yticks=RATINGS)
