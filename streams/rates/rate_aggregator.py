"""Aggregates verdicts into windows."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from schemas.records import LATEST, RateWindow
from streams.rates.leader_state import AggregatorState
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
# Ids are dropped in so many steps: fewer would keep them longer, more would slow the look-up.
_HORIZON_STEPS: Final = 12


class AddResult(StrEnum):
    """The result of adding a verdict.

    ``DUPLICATE``: its id was known, although it may replace the other one. ``LATE``: it changed at least
    one window that was final. ``EXPIRED``: all its windows are dropped.
    """

    COUNTED = "counted"
    DUPLICATE = "duplicate"
    LATE = "late"
    EXPIRED = "expired"


class RateAggregator:
    """Counts each verdict once in all its windows, and returns the windows that changed.

    A window is closed when the watermark reaches its end, final ``allowed_lateness`` later, and dropped
    ``retention`` after its end. Until then it accepts changes; a final window that changes is published
    again, still final, with a greater ``late``.

    The counts of the windows that are not dropped are a function of the set of verdicts that were added:
    not of their order, of repeats, or of the watermarks in between. So a new leader needs no counts: it
    adds every verdict that may still matter (see :meth:`horizon`), in any order, and calls :meth:`restore`.

    Args:
        rules: the windows.
        floor: windows that start before this are incomplete, and never published (milliseconds since 1970).

    Attributes:
        watermark: the time up to which windows are closed; 0 before the first.
        kept_from: windows that end at or before this are dropped.
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
        self._step = max(1, longest // _HORIZON_STEPS)

    @property
    def tracked_ids(self) -> int:
        """The number of verdict ids that are remembered."""
        return len(self._memory)

    def horizon(self, event: VerdictEvent) -> int:
        """Return how long a verdict matters: until :attr:`kept_from` reaches this time.

        It is rounded up to one of a few values, by which verdicts can be grouped. 0: it never matters.
        """
        time = max(event.event_time, event.produced_at)
        last = max(spec.last_end(time) for spec in self._rules.specs)
        return -(-last // self._step) * self._step if last <= _LATEST_MS else 0

    def add(self, event: VerdictEvent) -> AddResult:
        """Count a verdict, unless another record of its id takes precedence."""
        horizon = self.horizon(event)
        if horizon <= self.kept_from:
            return AddResult.EXPIRED
        faithfulness = -1 if event.faithfulness is None else event.faithfulness
        group = event.message_type, event.language or ""
        contribution = Contribution(event.decision, event.scored, *group, faithfulness)
        version = VerdictVersion(event.scored_at, event.event_time, contribution)
        before, after = self._memory.add(event.verdict_id, version, horizon)
        if before is None:
            return self._count(after)
        if after != before:
            self._replace(before, after)
        return AddResult.DUPLICATE

    def advance(self, watermark: int, event_watermark: int | None = None) -> None:
        """Close and finish windows up to a watermark, and drop the oldest; none of this is undone.

        ``event_watermark`` is how far events alone moved the watermark (None: as far): where the clock moved
        it, nothing is dropped, or the backlog of an outage would no longer count.
        """
        if watermark > self.watermark:
            self.watermark = watermark
            self._finish(watermark - self._rules.allowed_lateness)
        read_to = self.watermark if event_watermark is None else min(self.watermark, event_watermark)
        self._drop(read_to - self._rules.retention)

    def take_changes(self) -> tuple[RateWindow, ...]:
        """Return the windows that changed or became final since the last call, by start, size and group."""
        # Counts that changed and changed back, such as by two verdicts replacing each other, are equal.
        changed = [
            counts
            for counts in self._changed
            if (counts.outcomes or counts.published) and counts.snapshot != counts.published
        ]
        self._mark_published()
        changed.sort(key=lambda counts: (counts.window.start, counts.window.spec, counts.group))
        return tuple(counts.record() for counts in changed)

    def closed_windows(self) -> tuple[ClosedWindow, ...]:
        """Return the newest closed window of each size that has a complete one."""
        groups = sorted({group for window in self._all() for group in window.groups})
        newest = ((spec, spec.newest_closed(self.watermark)) for spec in self._windows)
        return tuple(
            ClosedWindow(spec, start, {group: self._tally(spec, start, group) for group in groups})
            for spec, start in newest
            if start >= self._floors[spec]
        )

    def late_counts(self) -> dict[WindowKey, int]:
        """Return what a new leader cannot derive from the verdicts, to be committed with the state.

        It is ``late`` of the windows that changed after they were final, and 0 for those whose last
        answer was moved elsewhere, so that they become final nevertheless.
        """
        every = (counts for window in self._all() for counts in window.groups.values())
        return {
            counts.key: counts.late
            for counts in every
            if counts.late or (counts.published and not counts.outcomes)
        }

    def state(self) -> AggregatorState:
        """Return the state, valid for what is published right after the changes were taken."""
        floors = [(spec.size, spec.hop, floor) for spec, floor in self._floors.items()]
        return AggregatorState(self.watermark, self._final_to, self.kept_from, floors)

    def restore(self, state: AggregatorState, late_counts: Mapping[WindowKey, int]) -> None:
        """Restore the state of another aggregator.

        All verdicts whose horizon is after ``state.kept_from`` must have been added before, and no watermark.
        Nothing that was published is published again. Windows of a new size are published from where they
        are complete.
        """
        floors = {WindowSpec(size, hop): floor for size, hop, floor in state.floors}
        for spec, floor in self._floors.items():
            self._floors[spec] = max(floor, floors.get(spec, state.kept_from))
        self._drop(state.kept_from)
        self._finish(state.final_to)
        specs = {spec.size: spec for spec in self._windows}
        for key, late in late_counts.items():
            of_size = specs.get(key.size)
            # A window with another start belongs to other settings, or is invalid.
            window = self._window(of_size, key.start) if of_size and key.start % of_size.hop == 0 else None
            if window is not None:
                counts = window.group(RateGroup(key.message_type, key.language))
                counts.late = late
                counts.published = counts.snapshot
        self._mark_published()
        self.watermark = state.watermark

    def _count(self, version: VerdictVersion) -> AddResult:
        """Count an answer in all its windows."""
        result = AddResult.EXPIRED
        for counts in self._group_counts(version):
            counts.add(version.contribution, 1)
            self._changed[counts] = None
            if counts.window.final:
                counts.late += 1
                result = AddResult.LATE
            elif result is AddResult.EXPIRED:
                result = AddResult.COUNTED
        return result

    def _replace(self, old: VerdictVersion, new: VerdictVersion) -> None:
        """Count ``new`` in place of ``old``; a window in which both count the same does not change."""
        before = {(counts, old.contribution) for counts in self._group_counts(old)}
        after = {(counts, new.contribution) for counts in self._group_counts(new)}
        for number, places in ((-1, before - after), (1, after - before)):
            for counts, contribution in places:
                counts.add(contribution, number)
        for counts in {counts for counts, _ in before ^ after}:
            counts.late += counts.window.final
            self._changed[counts] = None

    def _finish(self, boundary: int) -> None:
        """Make windows final that end at or before ``boundary``."""
        self._final_to = max(self._final_to, boundary)
        for window in self._all():
            if not window.final and window.end <= self._final_to:
                window.final = True
                self._changed.update(dict.fromkeys(window.groups.values()))

    def _drop(self, boundary: int) -> None:
        """Drop the windows that end at or before ``boundary``; their changes can still be taken."""
        self.kept_from = max(self.kept_from, boundary)
        for spec, windows in self._windows.items():
            for start in [start for start in windows if not self._accepts(spec, start)]:
                del windows[start]
        for version in self._memory.forget(self.kept_from):
            self._count(version)

    def _mark_published(self) -> None:
        """Mark all changes as published; counts that became empty before they were published are dropped."""
        for counts in self._changed:
            if counts.outcomes or counts.published:
                counts.published = counts.snapshot
            else:
                counts.window.groups.pop(counts.group, None)
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
        counts = window.groups.get(group) if window else None
        return counts.tally() if counts else Tally()
