"""The newest rate windows, in bounded memory, and the series for the page's charts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from schemas.records import RateWindow
from scoring.text.language_detection import UNDETERMINED
from streams.rates.verdict_counts import to_epoch_ms
from streams.rates.windows import Tally, faithfulness_sum
from streams.web.page_data import ALL, RatePoint, WindowChoice, from_attributes

MAX_POINTS: Final = 120
#: Message types times languages of one window; a chatbot may name any number of languages.
_MAX_SERIES = 64
_AHEAD_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class WindowTally:
    """The counts of one window; those of different message types or languages can be added."""

    tally: Tally
    late: int
    final: bool

    def __add__(self, other: WindowTally) -> WindowTally:
        return WindowTally(self.tally + other.tally, self.late + other.late, self.final and other.final)


_Key = tuple[str, str]  # message type and language


class _Window:
    """The tallies of one window by message type and language, and the points computed from them."""

    def __init__(self) -> None:
        self.tallies: dict[_Key, WindowTally] = {}
        self._points: dict[str | None, dict[str, RatePoint]] = {}

    def put(self, key: _Key, cell: WindowTally) -> None:
        if key in self.tallies or len(self.tallies) < _MAX_SERIES:
            self.tallies[key] = cell
            self._points.clear()

    def points(self, end: int, language: str | None) -> Mapping[str, RatePoint]:
        """Return the point of each message type and of ``all``."""
        if language not in self._points and (sums := self._sums(language)):
            self._points[language] = {key: _point(end, cell) for key, cell in sums.items()}
        return self._points.get(language, {})

    def _sums(self, language: str | None) -> dict[str, WindowTally]:
        sums: dict[str, WindowTally] = {}
        for (message_type, spoken), cell in self.tallies.items():
            if language in {None, spoken}:
                for key in (ALL, message_type):
                    sums[key] = sums[key] + cell if key in sums else cell
        return sums


class RateHistory:
    """The last record of each window, type and language.

    Args:
        windows: the sizes of windows that are stored; other records are ignored.
        max_points: the maximum of points per series.
    """

    def __init__(self, windows: Iterable[WindowChoice], max_points: int = MAX_POINTS) -> None:
        self._hops = {choice.size * 1000: choice.hop * 1000 for choice in windows}
        self._shown = max_points
        self._kept: dict[int, dict[int, _Window]] = {size: {} for size in self._hops}

    def add(self, window: RateWindow, now: int) -> None:
        """Add a record; it replaces the earlier one of its window, type and language.

        ``now`` is in milliseconds since 1970: a window in the future is ignored, since it would
        displace all others.
        """
        start, end = to_epoch_ms(window.window_start), to_epoch_ms(window.window_end)
        starts = self._kept.get(end - start)
        if starts is None or start > now + _AHEAD_MS:
            return
        key = window.message_type, window.language or UNDETERMINED
        starts.setdefault(start, _Window()).put(key, _window_tally(window))
        while len(starts) > self._shown + (end - start) // self._hops[end - start]:
            del starts[min(starts)]

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that have windows."""
        windows = (window for starts in self._kept.values() for window in starts.values())
        found = {language for window in windows for _, language in window.tallies}
        return tuple(sorted(found))

    def end(self, size: int) -> int | None:
        """Return the end of the newest window of this size (seconds) that is shown, or None.

        Of hopping windows several are open at once; the one shown is that which ends first, since the
        others have hardly begun.
        """
        starts = self._kept[size * 1000]
        return max(starts) + self._hops[size * 1000] if starts else None

    def series(self, size: int, language: str | None = None) -> Mapping[str, tuple[RatePoint, ...]]:
        """Return the points of each message type and of ``all``, oldest first; of one language, or of all.

        ``size`` is in seconds, one of the windows.
        """
        drawn: dict[str, list[RatePoint]] = {ALL: []}
        starts, hop = self._kept[size * 1000], self._hops[size * 1000]
        newest = max(starts, default=0) + hop - size * 1000
        for start in sorted(starts):
            if newest - (self._shown - 1) * hop <= start <= newest:
                for message_type, point in starts[start].points(start + size * 1000, language).items():
                    drawn.setdefault(message_type, []).append(point)
        return {message_type: tuple(points) for message_type, points in drawn.items()}


def _window_tally(window: RateWindow) -> WindowTally:
    tally = from_attributes(
        Tally,
        window,
        hallucinated=min(window.hallucinated, window.scored),
        faithfulness_sum=faithfulness_sum(window.faithfulness_mean, window.faithfulness_answers),
    )
    return WindowTally(tally, window.late, window.final)


def _point(end: int, cell: WindowTally) -> RatePoint:
    tally = cell.tally
    low, high = tally.bounds
    return from_attributes(
        RatePoint,
        tally,
        end=end,
        untrue=tally.hallucinated,
        sent=tally.auto_sent,
        low=low,
        high=high,
        late=cell.late,
        final=cell.final,
    )
