"""What windows there are, and how long each takes changes."""

from __future__ import annotations

from dataclasses import dataclass

from streams.rates.windows import WindowSpec
from streams.settings import RatesSettings

_SECOND_MS = 1_000


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
