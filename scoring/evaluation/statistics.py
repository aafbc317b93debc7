"""Estimates with intervals of 95%: the only place that asks scipy.

Two kinds of interval. A share that was counted has Wilson's, since resampling gives one of no width
at 0% and 100%. Everything else is bootstrapped: 2,000 resamples of whole answers, percentile method.
BCa is not used: its correction is undefined as soon as one resample has no value, and small
groups have resamples in which all ratings are equal. Those are left out.

Few answers resample into too narrow an interval: two against eight can have an AUROC of 1 in all resamples.
So there is none of fewer than 10 answers, or with more than 5% undefined resamples.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import stats

LEVEL = 0.95
RESAMPLES = 2_000
# Equal input gives equal tables.
_SEED = 20_250_101
# Bounds the memory of resampling, in numbers held at once.
_BATCH = 1_000_000
_MIN_SAMPLES = 3
#: An estimate of fewer answers has no interval.
MIN_RESAMPLED = 10
_MAX_UNDEFINED = 0.05

FloatArray = npt.NDArray[np.float64]
#: From samples, whose last axis is the answers, to one or more values for each of the other axes.
Statistic = Callable[..., FloatArray]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its bootstrap interval; the bounds are None where resampling says too little."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """``count`` of ``total`` (at least 1) as a value in [0, 1], with Wilson's interval."""

    count: int
    total: int
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, count: int, total: int) -> Self | None:
        """Make a share, or None of nothing."""
        if not total:
            return None
        interval = stats.binomtest(count, total).proportion_ci(LEVEL, method="wilson")
        return cls(count, total, count / total, float(interval.low), float(interval.high))


def spearman(first: Sequence[float], second: Sequence[float]) -> Estimate | None:
    """Return Spearman's rank correlation in [-1, 1]; ties share their mean rank.

    None of fewer than three pairs, and where all values of one side are equal.
    """
    return paired_estimate(rank_correlation, first, second)


def spearman_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p-value of a correlation that :func:`spearman` gives (Student's t)."""
    return float(stats.spearmanr(first, second).pvalue)


def auroc(below: Sequence[float], above: Sequence[float]) -> Estimate | None:
    """Return how often a value of ``above`` is larger than one of ``below``, in [0, 1]; a tie is half.

    0.5 is chance. None where one side is empty.
    """
    if not below or not above:
        return None
    samples = (np.asarray(below, np.float64), np.asarray(above, np.float64))
    return _estimates(samples, area, paired=False)[0]


def mean(values: Sequence[float]) -> Estimate | None:
    """Return the mean; None of nothing."""
    return paired_estimates(np.mean, values)[0] if values else None


def paired_estimate(statistic: Statistic, *samples: Sequence[float]) -> Estimate | None:
    """Estimate a statistic of columns that belong together, resampling whole rows; None where undefined."""
    if len(samples[0]) < _MIN_SAMPLES:
        return None
    return paired_estimates(statistic, *samples)[0]


def paired_estimates(statistic: Statistic, *samples: Sequence[float]) -> tuple[Estimate | None, ...]:
    """Estimate each of the values that a statistic returns; None for those that are undefined."""
    arrays = tuple(np.asarray(sample, np.float64) for sample in samples)
    return _estimates(arrays, statistic, paired=True)


def rank_correlation(first: FloatArray, second: FloatArray, axis: int = -1) -> FloatArray:
    """Return Spearman's correlation along an axis, NaN where one side is constant."""
    x, y = (_centred_ranks(side, axis) for side in (first, second))
    with np.errstate(invalid="ignore"):
        found = (x * y).sum(axis) / np.sqrt((x * x).sum(axis) * (y * y).sum(axis))
    return np.asarray(np.clip(found, -1, 1))


def area(below: FloatArray, above: FloatArray, axis: int = -1) -> FloatArray:
    """Return the area under the ROC curve along an axis, which :func:`auroc` estimates."""
    # Mann and Whitney: the rank sum of the one side, less the least that it can be.
    n, m = below.shape[axis], above.shape[axis]
    ranks = stats.rankdata(np.concatenate((below, above), axis=axis), axis=axis)
    sums = np.moveaxis(ranks, axis, -1)[..., n:].sum(-1)
    return np.asarray((sums - m * (m + 1) / 2) / (n * m))


def _centred_ranks(values: FloatArray, axis: int) -> FloatArray:
    ranks = np.asarray(stats.rankdata(values, axis=axis))
    return np.asarray(ranks - ranks.mean(axis, keepdims=True))


def _estimates(
    samples: tuple[FloatArray, ...], statistic: Statistic, *, paired: bool
) -> tuple[Estimate | None, ...]:
    values = np.atleast_1d(statistic(*samples, axis=-1))
    if min(map(len, samples)) < MIN_RESAMPLED:
        return tuple(estimate_from(value, np.empty(0)) for value in values)
    with warnings.catch_warnings():
        # It warns of resamples without a value, which are left out of its distribution below.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        result = stats.bootstrap(
            samples,
            statistic,
            n_resamples=RESAMPLES,
            batch=max(1, _BATCH // sum(map(len, samples))),
            vectorized=True,
            paired=paired,
            method="percentile",
            rng=_SEED,
        )
    resampled = np.atleast_2d(result.bootstrap_distribution)
    return tuple(map(estimate_from, values, resampled))


def estimate_from(value: float, resampled: FloatArray) -> Estimate | None:
    """Return an estimate with the interval of its resampled values; None where it is NaN.

    Without resampled values, and where more than 5% of them are undefined, it has no interval.
    """
    if np.isnan(value):
        return None
    defined = resampled[~np.isnan(resampled)]
    if not len(defined) or len(resampled) - len(defined) > _MAX_UNDEFINED * len(resampled):
        return Estimate(float(value))
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(value), float(low), float(high))
