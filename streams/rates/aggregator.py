"""Counts of verdicts in windows, exact whatever the order and however often each verdict is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from schemas.records import LATEST, RateWindow
from streams.rates.boundaries import Boundaries
from streams.rates.cells import Group, WindowKey
from streams.rates.closed_window import ClosedWindow
from streams.rates.memory import Label, Memory, Version
from streams.rates.outcome import Outcome, milliseconds
from streams.rates.table import WindowTable
from streams.rates.tally import Tally
from streams.rates.windows import RateRules, WindowSpec

_LATEST_MS: Final = milliseconds(LATEST)
# Ids are forgotten in so many steps: fewer would keep them longer, more would be slower to look through.
_FORGETTING_STEPS: Final = 12


class Taken(StrEnum):
    """What became of an outcome.

    ``DUPLICATE``: its id was known, though it may count in the other's place. ``LATE``: it changed at least
    one window that was final. ``EXPIRED``: no window that still takes changes holds it.
    """

    COUNTED = "counted"
    DUPLICATE = "duplicate"
    LATE = "late"
    EXPIRED = "expired"


class RateAggregator:
    """Counts each verdict once in all its windows, and says which windows changed.

    A window is closed when the watermark has come to its end, final ``allowed_lateness`` after that, and
    forgotten ``retention`` after its end. Until then it takes changes; those of a final window come out
    again, still final, each with a greater ``late``.

    The counts of the windows that are not forgotten are a function of the set of outcomes that were added:
    not of their order, of repeats, or of the watermarks in between. So a successor needs no counts: it
    adds every outcome that may still matter (see :meth:`horizon`), in any order, and calls :meth:`restore`.

    Args:
        rules: the windows.
        floor: windows that start before this are incomplete, and never come out (milliseconds since 1970).
    """

    def __init__(self, rules: RateRules, floor: int = 0) -> None:
        self._rules = rules
        self._table = WindowTable(rules.specs, max(0, floor))
        self._memory = Memory()
        self._watermark = 0
        longest = rules.retention + max(spec.size for spec in rules.specs)
        self._step = max(1, longest // _FORGETTING_STEPS)

    @property
    def watermark(self) -> int:
        """The time up to which windows are closed; 0 before the first."""
        return self._watermark

    @property
    def kept_from(self) -> int:
        """Windows that end at or before this are forgotten."""
        return self._table.kept_from

    @property
    def remembered(self) -> int:
        """How many verdicts are remembered by their ids."""
        return len(self._memory)

    def horizon(self, outcome: Outcome) -> int:
        """Give how long an outcome matters: until :attr:`kept_from` has come to this.

        It is rounded up to one of a few values, by which outcomes can be grouped. 0: it never does.
        """
        time = max(outcome.event_time, outcome.produced_at)
        last = max(spec.last_end(time) for spec in self._rules.specs)
        return -(-last // self._step) * self._step if last <= _LATEST_MS else 0

    def add(self, outcome: Outcome) -> Taken:
        """Count an outcome, if it is the one that counts of those with its id."""
        horizon = self.horizon(outcome)
        if horizon <= self.kept_from:
            return Taken.EXPIRED
        faithfulness = -1 if outcome.faithfulness is None else outcome.faithfulness
        group = outcome.message_type, outcome.language or ""
        label = Label(outcome.decision, outcome.scored, *group, faithfulness)
        version = Version(outcome.scored_at, outcome.event_time, label)
        before, after = self._memory.add(outcome.verdict_id, version, horizon)
        if before is not None:
            if after != before:
                self._table.replace(before, after)
            return Taken.DUPLICATE
        counted, late = self._table.count(after)
        if late:
            return Taken.LATE
        return Taken.COUNTED if counted else Taken.EXPIRED

    def advance(self, watermark: int, of_events: int | None = None) -> None:
        """Close and finish windows up to a watermark, and forget the oldest; nothing of that goes back.

        ``of_events`` is how far events alone moved the watermark (None: as far): where the clock moved it,
        nothing is forgotten, or what waits for the end of an outage would no longer count.
        """
        if watermark > self._watermark:
            self._watermark = watermark
            self._table.finish(watermark - self._rules.allowed_lateness)
        read_to = self._watermark if of_events is None else min(self._watermark, of_events)
        self._forget(read_to - self._rules.retention)

    def take_changes(self) -> tuple[RateWindow, ...]:
        """Give the windows that changed or became final since the last call, the earliest first."""
        return self._table.take_changes()

    def closed_windows(self) -> tuple[ClosedWindow, ...]:
        """Give the newest closed window of each size; none of a size before the first that is complete."""
        groups = sorted(self._table.groups())
        return tuple(
            ClosedWindow(spec, start, {group: self._tally(spec, start, group) for group in groups})
            for spec, start in self._newest_closed()
        )

    def lates(self) -> dict[WindowKey, int]:
        """Give what a successor cannot know from the outcomes, to be committed with the boundaries.

        It is ``late`` of the windows that changed after they were final, and 0 for those whose last
        answer was counted elsewhere, so that they become final all the same.
        """
        return self._table.lates()

    def boundaries(self) -> Boundaries:
        """Give the boundaries; they are true of what is published right after the changes were taken."""
        table = self._table
        return Boundaries(self._watermark, table.final_to, table.kept_from, dict(table.floors))

    def restore(self, boundaries: Boundaries, lates: Mapping[WindowKey, int]) -> None:
        """Go on where another aggregator was when it gave ``boundaries`` and ``lates``.

        All outcomes whose horizon is after ``boundaries.kept_from`` must have been added before, and no
        watermark. Nothing that was published comes out again. Other windows than the other's come
        out from where they are complete.
        """
        for spec, floor in self._table.floors.items():
            self._table.floors[spec] = max(floor, boundaries.floors.get(spec, boundaries.kept_from))
        self._forget(boundaries.kept_from)
        self._table.restore(boundaries.final_to, lates)
        self._watermark = boundaries.watermark

    def _forget(self, boundary: int) -> None:
        self._table.forget(boundary)
        for version in self._memory.forget(self._table.kept_from):
            self._table.count(version)

    def _newest_closed(self) -> Iterator[tuple[WindowSpec, int]]:
        for spec, floor in self._table.floors.items():
            if (start := spec.newest_closed(self._watermark)) >= floor:
                yield spec, start

    def _tally(self, spec: WindowSpec, start: int, group: Group) -> Tally:
        window = self._table.window(spec, start)
        cell = window.cells.get(group) if window else None
        return cell.tally() if cell else Tally()
