"""Estimates of a population from those of it that were drawn, weighted by inclusion probability."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Final

#: Of the normal distribution, so much is within this many standard deviations: 95%.
_NORMAL: Final = 1.959964


@dataclass(frozen=True, slots=True)
class SampleEstimate:
    """An estimate from ``number`` drawn units, with its standard error."""

    value: float
    standard_error: float
    number: int


@dataclass(frozen=True, slots=True)
class WeightedShare:
    """A share that was estimated from ``number`` drawn units, with an interval of 95%."""

    value: float
    low: float
    high: float
    number: int


def estimated_total(values: Sequence[float], inclusions: Sequence[float]) -> SampleEstimate:
    """Return the Horvitz-Thompson estimate of a total: the sum of value / inclusion probability.

    For numbers, such as how many untrue answers were sent: it is unbiased whatever the values, and the
    totals of disjoint groups add up to that of all, which those of a ratio do not. Units are drawn
    independently (the audit sample draws by a hash), so the variance is estimated without bias by the sum of
    (1 - p) (value / p)².

    Horvitz and Thompson, "A Generalization of Sampling Without Replacement From a Finite Universe" (1952);
    Särndal, Swensson and Wretman, "Model Assisted Survey Sampling" (1992), section 3.5 (Poisson sampling).

    >>> estimated_total([1, 0, 1], [0.5, 0.5, 1]).value
    3.0
    """
    pairs = list(zip(values, inclusions, strict=True))
    variance = fsum((1 - p) * (value / p) ** 2 for value, p in pairs)
    return SampleEstimate(fsum(value / p for value, p in pairs), sqrt(variance), len(pairs))


def estimated_share(values: Sequence[float], inclusions: Sequence[float]) -> SampleEstimate | None:
    """Return the Hájek estimate of a mean: the weighted mean of what was drawn; None of nothing.

    For shares, such as how much of what is sent is untrue. The number of drawn units is random and
    correlated with their total, so dividing by the estimated size rather than by the true one leaves the
    deviations from the mean in the variance, not the values. It stays in the range of the values, which
    Horvitz and Thompson's does not. Its bias is of the order 1 / number. The standard error is that of the
    linearised ratio, 0 where all values are equal: a bound is for the test to give
    (:mod:`scoring.guarantees.threshold_tests`).

    Hájek's comment on Basu, in "Foundations of Statistical Inference" (1971); Särndal et al., section 5.7.

    >>> estimated_share([1, 0], [0.25, 1]).value
    0.8
    """
    weights = [1 / p for p in inclusions]
    if not weights:
        return None
    size = fsum(weights)
    mean = fsum(value * weight for value, weight in zip(values, weights, strict=True)) / size
    residuals = [value - mean for value in values]
    spread = estimated_total(residuals, inclusions).standard_error / size
    return SampleEstimate(mean, spread, len(weights))


def share_with_interval(values: Sequence[float], inclusions: Sequence[float]) -> WeightedShare | None:
    """Return :func:`estimated_share` with Wilson's interval at Kish's effective number; None of nothing.

    The effective number is (sum of weights)² / sum of their squares: so many equal weights tell as much. An
    interval from the standard error would have no width where all values are equal.

    Kish, "Survey Sampling" (1965), section 11.7; Wilson, "Probable Inference" (1927).

    >>> found = share_with_interval([0] * 20, [0.5] * 20)
    >>> found.low, round(found.high, 4)
    (0.0, 0.1611)
    """
    found = estimated_share(values, inclusions)
    if found is None:
        return None
    weights = [1 / p for p in inclusions]
    number = fsum(weights) ** 2 / fsum(weight**2 for weight in weights)
    share, spread = found.value, _NORMAL**2 / number
    middle = share + spread / 2
    half = sqrt(max(0.0, share * (1 - share) + spread / 4) * spread)
    low, high = ((middle + sign * half) / (1 + spread) for sign in (-1, 1))
    return WeightedShare(share, max(0.0, low), min(1.0, high), found.number)
