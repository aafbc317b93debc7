"""The highest and lowest of rows, and what lies far from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from scoring.figures.case import Case, Computed, joined, rows_are_sure, show, unit_of, values_of
from scoring.figures.reading.numbers import Convention
from scoring.figures.scope import Scope
from scoring.figures.values import Obstacle, Operation

# Quartiles of fewer say nothing.
_LEAST_FOR_OUTLIER = 5
# Tukey's fences.
_FENCE = Decimal("1.5")


def extreme(case: Case, convention: Convention) -> Computed | Obstacle:
    """Return the highest or lowest of the rows that are meant, and say whether the row named has it."""
    rows, every = case.named.rows, tuple(range(len(case.grid.rows)))
    if len(rows) > 1 or not all(mention.is_one for mention in rows):
        return Obstacle.ROWS
    # The row that is named is the highest of all, unless some are told besides: "of the first three".
    among = case.scope.rows if not rows or case.scope.rows != rows[0].places else every
    cells = case.cells(among)
    unit = unit_of(cells)
    if isinstance(unit, Obstacle):
        return unit
    values = values_of(cells, convention)
    best = max(values) if case.asked.operation is Operation.HIGHEST else min(values)
    holders = [row for row, value in zip(among, values, strict=True) if value == best]
    name = "max" if case.asked.operation is Operation.HIGHEST else "min"
    labels = ", ".join(case.grid.rows[row].text for row in holders)
    holds = True
    if rows:
        holds = rows[0].places[0] in holders
    is_firm = rows_are_sure(replace(case, scope=Scope(among, is_all=among == every)))
    return Computed(
        (best,) if case.has_figure else (),
        tuple(cells),
        f"{name}({joined(values).replace(' +', ',')}) = {show(best)} ({labels})",
        unit,
        holds=holds,
        is_firm=is_firm,
    )


def outlier(case: Case, convention: Convention) -> Computed | Obstacle:
    """Say whether a row lies far from the others: beyond the fences; near them is not clear."""
    rows = case.named.rows
    cells = case.cells(range(len(case.grid.rows)))
    unit = unit_of(cells)
    if isinstance(unit, Obstacle):
        return unit
    if len(rows) != 1 or not rows[0].is_one or len(cells) < _LEAST_FOR_OUTLIER or case.has_figure:
        return Obstacle.ROWS
    values = values_of(cells, convention)
    low, high = _quartiles(values)
    reach, value = (high - low) * _FENCE, values[rows[0].places[0]]
    is_out = value < low - reach or value > high + reach
    holds = True if is_out else False if low <= value <= high else None
    formula = f"quartiles {show(low)} and {show(high)}; {show(value)}"
    return Computed((), tuple(cells), formula, unit, holds=holds, is_firm=case.grid.is_complete)


def _quartiles(values: Sequence[Decimal]) -> tuple[Decimal, Decimal]:
    ordered = sorted(values)
    half = len(ordered) // 2
    return _middle(ordered[:half]), _middle(ordered[-half:])


def _middle(ordered: Sequence[Decimal]) -> Decimal:
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
