"""The bounds of a share that was seen in a sample."""

from __future__ import annotations

from math import sqrt
from typing import Final

# The 97.5th percentile of the standard normal distribution: two-sided 95%.
_Z: Final = 1.959963984540054


def wilson_interval(hits: int, n: int) -> tuple[float, float]:
    """Give the 95% bounds of a share, of which ``hits`` out of ``n`` were seen.

    Bounds are in [0, 1] and hold for small ``n`` too; with ``n`` of 0 nothing is known: (0, 1).
    Raises ValueError unless 0 <= hits <= n.

    Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
    Journal of the American Statistical Association 22 (1927), 209-212.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} hits of {n}")
    if n == 0:
        return 0.0, 1.0
    share, squared = hits / n, _Z * _Z
    centre = share + squared / (2 * n)
    margin = _Z * sqrt(share * (1 - share) / n + squared / (4 * n * n))
    scale = 1 + squared / n
    # The exact bounds at the ends are 0 and 1; rounding would miss them by a hair.
    low = 0.0 if hits == 0 else (centre - margin) / scale
    high = 1.0 if hits == n else (centre + margin) / scale
    return low, high
