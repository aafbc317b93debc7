"""What a leader shows as metrics: the rates of the newest closed windows, and how thresholds stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scoring.language import UNDETERMINED
from streams.rates.closed_window import ClosedWindow
from streams.rates.instruments import ShownAlert, ShownRate
from streams.rates.thresholds import ThresholdState
from streams.rates.windows import WindowSpec

_ALL = "all"
_MS = 1_000


def shown_rates(closed: Iterable[ClosedWindow]) -> Iterator[ShownRate]:
    """Give the rate of each message type and language; 0, with bounds 0 and 1, where nothing was scored."""
    for window in closed:
        for group, tally in window.tallies.items():
            low, high = tally.bounds
            yield ShownRate(
                message_type=group.message_type,
                language=group.language or UNDETERMINED,
                window=window.spec.label,
                rate=tally.rate or 0.0,
                lower_bound=low,
                upper_bound=high,
                scored=tally.scored,
            )


def shown_alerts(states: Iterable[ThresholdState]) -> Iterator[ShownAlert]:
    """Give the thresholds, with the bound that their newest closed window has."""
    for state in states:
        threshold, size = state.threshold, state.threshold.window_seconds * _MS
        low, _ = state.tally.bounds
        yield ShownAlert(
            alert=threshold.name,
            message_type=threshold.message_type or _ALL,
            language=threshold.language or _ALL,
            window=WindowSpec(size, size).label,
            severity=threshold.severity,
            threshold=threshold.rate,
            minimum_answers=threshold.minimum_answers,
            lower_bound=low,
            scored=state.tally.scored,
            firing=state.firing,
        )
