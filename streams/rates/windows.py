"""Windows of event time, their tallies, and the Wilson interval of a rate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import sqrt
from operator import add, attrgetter
from typing import Final

from schemas.records import Verdict
from streams.settings import RatesSettings

#: The 97.5th percentile of the standard normal distribution: two-sided 95%.
Z_95: Final = 1.959963984540054


def wilson_interval(hits: int, n: int) -> tuple[float, float]:
    """Return the 95% bounds of the share of which ``hits`` out of ``n`` were observed.

    The bounds are in [0, 1] and valid for small ``n`` too; with ``n`` of 0 they are (0, 1).
    Raises ValueError unless 0 <= hits <= n.

    Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
    Journal of the American Statistical Association 22 (1927), 209-212.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} hits of {n}")
    if n == 0:
        return 0.0, 1.0
    share, squared = hits / n, Z_95 * Z_95
    centre = share + squared / (2 * n)
    margin = Z_95 * sqrt(share * (1 - share) / n + squared / (4 * n * n))
    scale = 1 + squared / n
    # The exact bounds at the ends are 0 and 1; rounding would miss them.
    low = 0.0 if hits == 0 else (centre - margin) / scale
    high = 1.0 if hits == n else (centre + margin) / scale
    return low, high


#: Faithfulness is summed in integer parts, so that a sum does not depend on its order.
_PARTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of answers: all, scored, hallucinated among these, and by decision.

    An unknown decision counts in ``answers`` alone. ``faithfulness_answers`` have a faithfulness;
    ``faithfulness_sum`` is its sum, in the parts of :func:`faithfulness_parts`.
    """

    answers: int = 0
    scored: int = 0
    hallucinated: int = 0
    auto_sent: int = 0
    review: int = 0
    blocked: int = 0
    faithfulness_answers: int = 0
    faithfulness_sum: int = 0

    @classmethod
    def of(cls, outcomes: Iterable[tuple[str, bool, int]]) -> Tally:
        """Return the tally of outcomes: decision, whether there is a score, and the number of answers.

        A blocked answer with a score counts as hallucinated.
        """
        answers = with_score = hallucinated = 0
        decided = {"auto_send": 0, "review": 0, "blocked": 0}
        for decision, scored, number in outcomes:
            answers += number
            decided[decision] = decided.get(decision, 0) + number
            if scored:
                with_score += number
                hallucinated += number if decision == "blocked" else 0
        return cls(
            answers, with_score, hallucinated, decided["auto_send"], decided["review"], decided["blocked"]
        )

    @property
    def rate(self) -> float | None:
        """The share of hallucinated answers among the scored ones, or None without these.

        Answers without a score are left out: whether they are true is unknown.
        """
        return self.hallucinated / self.scored if self.scored else None

    @property
    def bounds(self) -> tuple[float, float]:
        """The Wilson 95% bounds of the rate."""
        return wilson_interval(self.hallucinated, self.scored)

    @property
    def faithfulness(self) -> float | None:
        """The mean faithfulness of the answers that have one, or None without these."""
        return (
            self.faithfulness_sum / (_PARTS * self.faithfulness_answers)
            if self.faithfulness_answers
            else None
        )

    def __add__(self, other: Tally) -> Tally:
        return Tally(*map(add, _COUNTS(self), _COUNTS(other)))


#: All counts of a tally, in order; ten times as fast as dataclasses.astuple, which copies.
_COUNTS: Final = attrgetter(*(count.name for count in fields(Tally)))


def add_to_tallies(tallies: Mapping[str, Tally], verdict: Verdict) -> dict[str, Tally]:
    """Return the tallies by message type with one more verdict."""
    parts = faithfulness_parts(verdict.faithfulness)
    one = replace(
        Tally.of([(verdict.decision, verdict.score is not None, 1)]),
        faithfulness_answers=int(parts is not None),
        faithfulness_sum=parts or 0,
    )
    return {**tallies, verdict.message_type: tallies.get(verdict.message_type, Tally()) + one}


def faithfulness_parts(share: float | None) -> int | None:
    """Convert a faithfulness to ten-thousandths; None if it is None, or not in [0, 1]."""
    return round(share * _PARTS) if share is not None and 0 <= share <= 1 else None


def faithfulness_sum(mean: float | None, answers: int) -> int:
    """Return :attr:`Tally.faithfulness_sum` for a mean over so many answers."""
    return round(min(max(mean or 0.0, 0.0), 1.0) * answers * _PARTS)


_SECOND_MS = 1_000
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms"))


@dataclass(frozen=True, slots=True, order=True)
class WindowSpec:
    """Windows [start, start + size) with a start at every multiple of ``hop``; tumbling if it is the size.

    Raises ValueError unless 0 < hop <= size.
    """

    size: int
    hop: int

    def __post_init__(self) -> None:
        if not 0 < self.hop <= self.size:
            raise ValueError(f"a window of size {self.size} cannot hop by {self.hop}")

    def starts(self, event_time: int) -> range:
        """Return the starts of all windows that contain ``event_time``, earliest first.

        Their number is size / hop, rounded up or down.
        """
        last = event_time // self.hop * self.hop
        first = (event_time - self.size) // self.hop * self.hop + self.hop
        return range(first, last + 1, self.hop)

    def newest_closed(self, watermark: int) -> int:
        """Return the start of the newest window that ends at or before ``watermark``."""
        return (watermark - self.size) // self.hop * self.hop

    def last_end(self, event_time: int) -> int:
        """Return the end of the last window that contains ``event_time``."""
        return event_time // self.hop * self.hop + self.size

    @property
    def label(self) -> str:
        """The size in the largest unit that divides it, such as ``5m``."""
        return next(f"{self.size // unit}{name}" for unit, name in _UNITS if self.size % unit == 0)


@dataclass(frozen=True, slots=True)
class WindowConfig:
    """The windows, and how many milliseconds after its end a window is final, and dropped.

    Raises ValueError if two windows have the same size, which identifies them, or if windows would be
    dropped before they are final.
    """

    specs: tuple[WindowSpec, ...]
    allowed_lateness: int
    retention: int

    def __post_init__(self) -> None:
        if len({spec.size for spec in self.specs}) < len(self.specs):
            raise ValueError("two windows have the same size")
        if not 0 <= self.allowed_lateness <= self.retention:
            raise ValueError(f"a retention of {self.retention} is less than {self.allowed_lateness}")


def window_config(settings: RatesSettings) -> WindowConfig:
    """Return the windows of the settings."""
    return WindowConfig(
        specs=tuple(
            WindowSpec(w.size_seconds * _SECOND_MS, w.hop_seconds * _SECOND_MS) for w in settings.windows
        ),
        allowed_lateness=round(settings.allowed_lateness_seconds * _SECOND_MS),
        retention=round(settings.retention_seconds * _SECOND_MS),
    )
