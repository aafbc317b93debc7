"""The alerts that fire now, from the records of their changes."""

from __future__ import annotations

from typing import Final

from schemas.records import RateAlert
from streams.pages.views import FiringAlert, view
from streams.rates.outcome import milliseconds

_MOST_ALERTS: Final = 500
_FIRING: Final = "firing"


class FiringAlerts:
    """The alerts whose last record says that they fire."""

    def __init__(self) -> None:
        self._firing: dict[tuple[str, str | None, str | None], FiringAlert] = {}

    def add(self, alert: RateAlert) -> None:
        """Take a record in: the last one of a name, message type and language holds."""
        key = alert.alert, alert.message_type, alert.language
        self._firing.pop(key, None)
        if alert.status == _FIRING and len(self._firing) < _MOST_ALERTS:
            self._firing[key] = view(
                FiringAlert,
                alert,
                name=alert.alert,
                window=(milliseconds(alert.window_end) - milliseconds(alert.window_start)) // 1000,
                low=alert.rate_low,
                since=milliseconds(alert.since),
            )

    @property
    def firing(self) -> tuple[FiringAlert, ...]:
        """Those that fire, the newest first."""
        return tuple(sorted(self._firing.values(), key=lambda each: (-each.since, each.name)))
