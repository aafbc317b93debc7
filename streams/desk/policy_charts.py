"""What the fit of a policy showed as drawings: risk against coverage, and calibration."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from schemas import PolicyCalibration, PolicyFigures, PolicyTested
from scoring.policy.certificates import FittedThresholds
from streams.rates import wilson_interval

#: The size of the drawn area.
WIDTH, HEIGHT = 300, 180
#: The upper end of the axis of mistakes, as a multiple of what is allowed.
_TOP: Final = 4


@dataclass(frozen=True, slots=True)
class ChartMark:
    """A point, with the ends of its interval; in the drawing's coordinates."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PolicyChart:
    """A drawing: lines by what they mean, as the points of an SVG polyline, and marks.

    ``top`` is the share of mistakes at the upper end; the axis of coverage or risk goes from 0 to 1.
    """

    kind: str
    decision: str
    groups: tuple[str, ...]
    top: float
    lines: dict[str, str]
    marks: tuple[ChartMark, ...]


def policy_charts(figures: PolicyFigures, fitted: FittedThresholds) -> Iterator[PolicyChart]:
    """Yield a drawing for each decision and groups that were tested, and one of the calibration.

    A mark on the former is what a certificate promises: its share of the answers, and its bound.
    """
    for tested in figures.tested:
        yield _risk_chart(tested, fitted)
    if figures.calibration:
        yield _calibration_chart(figures.calibration)


def _risk_chart(tested: PolicyTested, fitted: FittedThresholds) -> PolicyChart:
    top = min(1.0, _TOP * tested.level) or 1.0
    marks = [
        _mark(each.coverage, each.bound, (each.estimate, each.bound), top)
        for each in fitted.certificates
        if (each.decision, each.groups) == (tested.decision, tested.groups)
    ]
    lines = {
        "level": _line([(0.0, tested.level), (1.0, tested.level)], top),
        "estimate": _line([(each.coverage, each.estimate) for each in tested.points], top),
        "bound": _line([(each.coverage, each.bound) for each in tested.points], top),
    }
    return PolicyChart("risk", tested.decision, tested.groups, top, lines, tuple(marks))


def _calibration_chart(calibration: PolicyCalibration) -> PolicyChart:
    marks = [
        _mark(each.risk, each.mistakes / each.ratings, wilson_interval(each.mistakes, each.ratings), 1.0)
        for each in calibration.bins
        if each.ratings
    ]
    lines = {"level": _line([(0.0, 0.0), (1.0, 1.0)], 1.0)}
    return PolicyChart("calibration", "", (), 1.0, lines, tuple(marks))


def _mark(x: float, y: float, interval: tuple[float, float], top: float) -> ChartMark:
    low, high = (_place(x, each, top)[1] for each in interval)
    return ChartMark(*_place(x, y, top), low, high)


def _line(points: list[tuple[float, float]], top: float) -> str:
    return " ".join("{:g},{:g}".format(*_place(x, y, top)) for x, y in points)


def _place(x: float, y: float, top: float) -> tuple[float, float]:
    """Return a point in the drawing's coordinates, which grow downwards; what is above it is at its edge."""
    return round(WIDTH * x, 1), round(HEIGHT * (1 - min(1.0, y / top)), 1)
