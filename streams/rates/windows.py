"""Tumbling and hopping windows of event time, and their rules; all times are milliseconds since 1970."""

from __future__ import annotations

from dataclasses import dataclass

from streams.settings import RatesSettings

_SECOND_MS = 1_000
_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms"))


@dataclass(frozen=True, slots=True, order=True)
class WindowSpec:
    """Windows [start, start + size), one beginning at every multiple of ``hop``: tumbling if it is the size.

    Raises ValueError unless 0 < hop <= size.
    """

    size: int
    hop: int

    def __post_init__(self) -> None:
        if not 0 < self.hop <= self.size:
            raise ValueError(f"a window of size {self.size} cannot hop by {self.hop}")

    def starts(self, event_time: int) -> range:
        """Give the starts of all windows that ``event_time`` lies in, earliest first.

        They are size / hop in number, rounded up or down where that is not whole.
        """
        last = event_time // self.hop * self.hop
        first = (event_time - self.size) // self.hop * self.hop + self.hop
        return range(first, last + 1, self.hop)

    def newest_closed(self, watermark: int) -> int:
        """Give the start of the newest window that ends at or before ``watermark``."""
        return (watermark - self.size) // self.hop * self.hop

    def last_end(self, event_time: int) -> int:
        """Give the end of the last window that ``event_time`` lies in."""
        return event_time // self.hop * self.hop + self.size

    @property
    def label(self) -> str:
        """The size in the largest unit that it is a whole number of, such as ``5m``."""
        return next(f"{self.size // unit}{name}" for unit, name in _UNITS if self.size % unit == 0)


@dataclass(frozen=True, slots=True)
class RateRules:
    """The windows, and the milliseconds after its end when a window is final, and when it is forgotten.

    Raises ValueError if two windows have one size, by which they are told apart, or if windows would be
    forgotten before they are final.
    """

    specs: tuple[WindowSpec, ...]
    allowed_lateness: int
    retention: int

    def __post_init__(self) -> None:
        if len({spec.size for spec in self.specs}) < len(self.specs):
            raise ValueError("two windows have the same size")
        if not 0 <= self.allowed_lateness <= self.retention:
            raise ValueError(f"a retention of {self.retention} is less than {self.allowed_lateness}")


def rate_rules(settings: RatesSettings) -> RateRules:
    """Take the rules out of the settings."""
    return RateRules(
        specs=tuple(
            WindowSpec(w.size_seconds * _SECOND_MS, w.hop_seconds * _SECOND_MS) for w in settings.windows
        ),
        allowed_lateness=round(settings.allowed_lateness_seconds * _SECOND_MS),
        retention=round(settings.retention_seconds * _SECOND_MS),
    )
