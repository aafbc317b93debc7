"""How often answers are untrue: counts per message type, with bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Final

from schemas.records import Verdict

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


@dataclass(frozen=True, slots=True)
class Tally:
    """How many answers there were, how many had a score, and how many of these were untrue."""

    answers: int = 0
    scored: int = 0
    hallucinated: int = 0

    @property
    def rate(self) -> float | None:
        """The share of untrue answers among the scored, or None before the first of these.

        Those without a score are left out: nobody knows whether they are true.
        """
        return self.hallucinated / self.scored if self.scored else None

    @property
    def bounds(self) -> tuple[float, float]:
        """The Wilson 95% bounds of the rate."""
        return wilson_interval(self.hallucinated, self.scored)

    def plus(self, verdict: Verdict) -> Tally:
        """Give the tally with one more verdict; a blocked answer that has a score is an untrue one."""
        scored = verdict.score is not None
        untrue = scored and verdict.decision == "blocked"
        return Tally(self.answers + 1, self.scored + scored, self.hallucinated + untrue)


def counted(tallies: Mapping[str, Tally], verdict: Verdict) -> dict[str, Tally]:
    """Give the tallies per message type with one more verdict in them."""
    message_type = verdict.message_type
    return {**tallies, message_type: tallies.get(message_type, Tally()).plus(verdict)}
