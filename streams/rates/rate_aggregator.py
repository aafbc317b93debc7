"""Aggregates outcomes into windows."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from schemas.records import LATEST, RateWindow
from streams.rates.leader_state import Boundaries
from streams.rates.verdict_counts import (
    ClosedWindow,
    Contribution,
    Deduplicator,
    GroupCounts,
    RateGroup,
    VerdictEvent,
    VerdictVersion,
    WindowCounts,
    WindowKey,
    to_epoch_ms,
)
from streams.rates.windows import Tally, WindowConfig, WindowSpec

_LATEST_MS: Final = to_epoch_ms(LATEST)
# Ids are forgotten in so many steps: fewer would keep them longer, more would be slower to look through.
_FORGETTING_STEPS: Final = 12


class AddResult(StrEnum):
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

    Attributes:
        watermark: the time up to which windows are closed; 0 before the first.
        kept_from: windows that end at or before this are forgotten.
    """

    def __init__(self, rules: WindowConfig, floor: int = 0) -> None:
        self.watermark = 0
        self.kept_from = 0
        self._final_to = 0
        self._rules = rules
        self._floors = dict.fromkeys(rules.specs, max(0, floor))
        self._windows: dict[WindowSpec, dict[int, WindowCounts]] = {spec: {} for spec in rules.specs}
        self._changed: dict[GroupCounts, None] = {}
        self._memory = Deduplicator()
        longest = rules.retention + max(spec.size for spec in rules.specs)
        self._step = max(1, longest // _FORGETTING_STEPS)

    @property
    def tracked_ids(self) -> int:
        """How many verdicts are remembered by their ids."""
        return len(self._memory)

    def horizon(self, outcome: VerdictEvent) -> int:
        """Give how long an outcome matters: until :attr:`kept_from` has come to this.

        It is rounded up to one of a few values, by which outcomes can be grouped. 0: it never does.
        """
        time = max(outcome.event_time, outcome.produced_at)
        last = max(spec.last_end(time) for spec in self._rules.specs)
        return -(-last // self._step) * self._step if last <= _LATEST_MS else 0

    def add(self, outcome: VerdictEvent) -> AddResult:
        """Count an outcome, if it is the one that counts of those with its id."""
        horizon = self.horizon(outcome)
        if horizon <= self.kept_from:
            return AddResult.EXPIRED
        faithfulness = -1 if outcome.faithfulness is None else outcome.faithfulness
        group = outcome.message_type, outcome.language or ""
        label = Contribution(outcome.decision, outcome.scored, *group, faithfulness)
        version = VerdictVersion(outcome.scored_at, outcome.event_time, label)
        before, after = self._memory.add(outcome.verdict_id, version, horizon)
        if before is None:
            return self._count(after)
        if after != before:
            self._replace(before, after)
        return AddResult.DUPLICATE

    def advance(self, watermark: int, event_watermark: int | None = None) -> None:
        """Close and finish windows up to a watermark, and forget the oldest; nothing of that goes back.

        ``of_events`` is how far events alone moved the watermark (None: as far): where the clock moved it,
        nothing is forgotten, or what waits for the end of an outage would no longer count.
        """
        if watermark > self.watermark:
            self.watermark = watermark
            self._finish(watermark - self._rules.allowed_lateness)
        read_to = self.watermark if event_watermark is None else min(self.watermark, event_watermark)
        self._forget(read_to - self._rules.retention)

    def take_changes(self) -> tuple[RateWindow, ...]:
        """Give the windows that changed or became final since the last call, by start, size and group."""
        # What changed and changed back meanwhile, such as by two verdicts in each other's place, is the same.
        cells = [
            cell
            for cell in self._changed
            if (cell.counts or cell.published) and cell.snapshot != cell.published
        ]
        self._mark_published()
        cells.sort(key=lambda cell: (cell.window.start, cell.window.spec, cell.group))
        return tuple(cell.record() for cell in cells)

    def closed_windows(self) -> tuple[ClosedWindow, ...]:
        """Give the newest closed window of each size; none of a size before the first that is complete."""
        groups = sorted({group for window in self._all() for group in window.groups})
        newest = ((spec, spec.newest_closed(self.watermark)) for spec in self._windows)
        return tuple(
            ClosedWindow(spec, start, {group: self._tally(spec, start, group) for group in groups})
            for spec, start in newest
            if start >= self._floors[spec]
        )

    def late_counts(self) -> dict[WindowKey, int]:
        """Give what a successor cannot know from the outcomes, to be committed with the boundaries.

        It is ``late`` of the windows that changed after they were final, and 0 for those whose last
        answer was counted elsewhere, so that they become final all the same.
        """
        cells = (cell for window in self._all() for cell in window.groups.values())
        return {cell.key: cell.late for cell in cells if cell.late or (cell.published and not cell.counts)}

    def boundaries(self) -> Boundaries:
        """Give the boundaries; they are true of what is published right after the changes were taken."""
        floors = [(spec.size, spec.hop, floor) for spec, floor in self._floors.items()]
        return Boundaries(self.watermark, self._final_to, self.kept_from, floors)

    def restore(self, boundaries: Boundaries, late_counts: Mapping[WindowKey, int]) -> None:
        """Go on where another aggregator was when it gave ``boundaries`` and ``lates``.

        All outcomes whose horizon is after ``boundaries.kept_from`` must have been added before, and no
        watermark. Nothing that was published comes out again. Other windows than the other's come
        out from where they are complete.
        """
        left = {WindowSpec(size, hop): floor for size, hop, floor in boundaries.floors}
        for spec, floor in self._floors.items():
            self._floors[spec] = max(floor, left.get(spec, boundaries.kept_from))
        self._forget(boundaries.kept_from)
        self._finish(boundaries.final_to)
        by_size = {spec.size: spec for spec in self._windows}
        for key, late in late_counts.items():
            known = by_size.get(key.size)
            # One that starts elsewhere is of other settings, or of nobody.
            window = self._window(known, key.start) if known and key.start % known.hop == 0 else None
            if window is not None:
                cell = window.group(RateGroup(key.message_type, key.language))
                cell.late = late
                cell.published = cell.snapshot
        self._mark_published()
        self.watermark = boundaries.watermark

    def _count(self, version: VerdictVersion) -> AddResult:
        """Count an answer in all its windows."""
        taken = AddResult.EXPIRED
        for cell in self._group_counts(version):
            cell.add(version.contribution, 1)
            self._changed[cell] = None
            if cell.window.final:
                cell.late += 1
                taken = AddResult.LATE
            elif taken is AddResult.EXPIRED:
                taken = AddResult.COUNTED
        return taken

    def _replace(self, old: VerdictVersion, new: VerdictVersion) -> None:
        """Count ``new`` in place of ``old``; a window that has the same of both does not change."""
        before = {(cell, old.contribution) for cell in self._group_counts(old)}
        after = {(cell, new.contribution) for cell in self._group_counts(new)}
        for number, places in ((-1, before - after), (1, after - before)):
            for cell, label in places:
                cell.add(label, number)
        for cell in {cell for cell, _ in before ^ after}:
            cell.late += cell.window.final
            self._changed[cell] = None

    def _finish(self, boundary: int) -> None:
        """Make the windows final that end at or before ``boundary``."""
        self._final_to = max(self._final_to, boundary)
        for window in self._all():
            if not window.final and window.end <= self._final_to:
                window.final = True
                self._changed.update(dict.fromkeys(window.groups.values()))

    def _forget(self, boundary: int) -> None:
        """Drop the windows that end at or before ``boundary``; what they changed can still be taken."""
        self.kept_from = max(self.kept_from, boundary)
        for spec, windows in self._windows.items():
            for start in [start for start in windows if not self._accepts(spec, start)]:
                del windows[start]
        for version in self._memory.forget(self.kept_from):
            self._count(version)

    def _mark_published(self) -> None:
        """Take all that changed for published; what was empty again before anybody saw it is dropped."""
        for cell in self._changed:
            if cell.counts or cell.published:
                cell.published = cell.snapshot
            else:
                cell.window.groups.pop(cell.group, None)
        self._changed.clear()

    def _group_counts(self, version: VerdictVersion) -> Iterator[GroupCounts]:
        group = RateGroup(version.contribution.message_type, version.contribution.language)
        for spec, windows in self._windows.items():
            for start in spec.starts(version.event_time):
                window = windows.get(start) or self._window(spec, start)
                if window is not None:
                    yield window.groups.get(group) or window.group(group)

    def _window(self, spec: WindowSpec, start: int) -> WindowCounts | None:
        if not self._accepts(spec, start):
            return None
        windows = self._windows[spec]
        if start not in windows:
            windows[start] = WindowCounts(spec, start, start + spec.size <= self._final_to)
        return windows[start]

    def _accepts(self, spec: WindowSpec, start: int) -> bool:
        return start >= self._floors[spec] and start + spec.size > self.kept_from

    def _all(self) -> Iterator[WindowCounts]:
        return (window for windows in self._windows.values() for window in windows.values())

    def _tally(self, spec: WindowSpec, start: int, group: RateGroup) -> Tally:
        window = self._windows[spec].get(start)
        cell = window.groups.get(group) if window else None
        return cell.tally() if cell else Tally()
