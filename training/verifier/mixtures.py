"""Mixtures of several measures of an answer, and how much better one ranks than another."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import rankdata

from scoring.evaluation.statistics import Estimate, paired_estimate

Matrix = npt.NDArray[np.float64]

_PENALTY = 1.0
_NO_WIDTH = 1e-9


def mixture(rows: Sequence[Sequence[float]], true: Sequence[bool]) -> Callable[[Matrix], Matrix]:
    """Fit a logistic regression on standardised columns, and return what gives its logits."""
    columns = np.array(rows, np.float64)
    middle, width = columns.mean(0), columns.std(0) + _NO_WIDTH
    signs = np.where(np.array(true), -1.0, 1.0)

    def with_constant(given: Matrix) -> Matrix:
        return np.column_stack(((given - middle) / width, np.ones(len(given))))

    known = with_constant(columns)

    def surprise(weights: Matrix) -> float:
        size = _PENALTY * (weights[:-1] ** 2).sum() / 2
        return float(np.logaddexp(0, signs * (known @ weights)).sum() + size)

    weights = minimize(surprise, np.zeros(known.shape[1])).x
    return lambda given: np.asarray(with_constant(given) @ weights)


def lift(true: Sequence[bool], before: Sequence[float], after: Sequence[float]) -> Estimate | None:
    """Return by how much the area under the ROC curve is larger, resampling whole answers."""
    return paired_estimate(_larger, [float(is_true) for is_true in true], before, after)


def _larger(true: Matrix, before: Matrix, after: Matrix, axis: int = -1) -> Matrix:
    return _area(true, after, axis) - _area(true, before, axis)


def _area(true: Matrix, values: Matrix, axis: int) -> Matrix:
    # Resamples differ in how many true answers they hold, so each is counted by itself.
    ranks = np.asarray(rankdata(values, axis=axis))
    above = true.sum(axis)
    below = true.shape[axis] - above
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(((ranks * true).sum(axis) - above * (above + 1) / 2) / (above * below))
