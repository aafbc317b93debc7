"""Computing what a clause claims, by the operation that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from scoring.figures.case import Case, Computed
from scoring.figures.changes import difference, growth, trend
from scoring.figures.extremes import extreme, outlier
from scoring.figures.reading.amounts import PERCENT
from scoring.figures.reading.numbers import Convention
from scoring.figures.spans import time_between
from scoring.figures.totals import average, count, share, total
from scoring.figures.values import Obstacle, Operation

_WITHOUT_POWER = frozenset({Operation.COUNT, Operation.TIME_BETWEEN})
_COMPUTERS: Mapping[Operation, Callable[[Case, Convention], Computed | Obstacle]] = {
    Operation.SUM: total,
    Operation.AVERAGE: average,
    Operation.DIFFERENCE: difference,
    Operation.SHARE: share,
    Operation.GROWTH: growth,
    Operation.HIGHEST: extreme,
    Operation.LOWEST: extreme,
    Operation.COUNT: count,
    Operation.TREND: trend,
    Operation.OUTLIER: outlier,
    Operation.TIME_BETWEEN: time_between,
}


def compute(case: Case, convention: Convention) -> Computed | Obstacle:
    """Compute what a case asks, its numbers read by a convention."""
    computed = _COMPUTERS[case.asked.operation](case, convention)
    if isinstance(computed, Obstacle) or computed.unit == PERCENT or case.asked.operation in _WITHOUT_POWER:
        return computed
    powers = {case.grid.columns[case.column].power}
    if case.grid.is_turned:
        powers = {row.power or power for row in case.grid.rows for power in powers}
    return Obstacle.UNITS if len(powers) > 1 else replace(computed, power=powers.pop())
