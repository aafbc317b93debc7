"""Plots of a fit: risk against coverage, and calibration. Needs matplotlib."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scoring.guarantees.policy_report import FitReport
from scoring.guarantees.risk_fitting import FittedRisk
from scoring.values.exchange import Decision


def draw_fit(path: Path, kind: str, report: FitReport, alpha: float) -> None:
    """Draw two panels, and write the plot as ``kind`` (``png`` or ``svg``); raises OSError.

    Left are the thresholds of sending that were tested, a line for each group or pool: the estimated share of
    mistakes with its bound, against the share that is sent; a star is the chosen one. Right is the share of
    mistakes by the risk that the model gives to answers that it had not seen.
    """
    with mpl.rc_context({"svg.hashsalt": "truthgate", "font.size": 10}):
        figure = Figure(figsize=(11, 5), layout="constrained")
        risk, calibration = figure.subplots(1, 2)
        _draw_risk(risk, report, alpha)
        _draw_calibration(calibration, report)
        figure.savefig(path, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {})


def _draw_risk(panel: Axes, report: FitReport, alpha: float) -> None:
    certificates = report.proposal.thresholds.certificates
    for decision, groups, tests in report.proposal.tested:
        if decision is not Decision.AUTO_SEND or not tests:
            continue
        shares = [each.coverage for each in tests]
        (line,) = panel.plot(shares, [each.estimate for each in tests], marker=".", label=", ".join(groups))
        panel.plot(shares, [each.bound for each in tests], color=line.get_color(), linestyle="--")
        for each in certificates:
            if each.decision is decision and each.groups == groups:
                panel.plot(each.coverage, each.bound, marker="*", markersize=14, color=line.get_color())
    panel.axhline(alpha, color="grey", linewidth=0.8, linestyle=":")
    panel.set(title="mistakes, and their bound (dashed)", xlabel="share of the answers that is sent")
    panel.set(xlim=(0, 1), ylim=(0, min(1.0, 4 * alpha)), ylabel="share of mistakes")
    if report.proposal.tested:
        panel.legend()


def _draw_calibration(panel: Axes, report: FitReport) -> None:
    risk = report.proposal.risk
    panel.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle=":")
    panel.set(title="no risk was fitted: too few ratings", xlabel="risk", ylabel="share of mistakes")
    panel.set(xlim=(0, 1), ylim=(0, 1))
    if isinstance(risk, FittedRisk):
        bins = risk.calibration.bins
        shares = [each.mistakes for each in bins]
        below = [each.value - each.low for each in shares]
        above = [each.high - each.value for each in shares]
        risks, values = [each.risk for each in bins], [each.value for each in shares]
        panel.errorbar(risks, values, yerr=[below, above], marker="o", capsize=3, linestyle="none")
        panel.set(title=f"calibration, Brier score {risk.calibration.brier:.3f}")
