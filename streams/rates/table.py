"""The windows that still take changes, and which of them changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schemas.records import RateWindow
from streams.rates.cells import Cell, Group, Window, WindowKey
from streams.rates.memory import Version
from streams.rates.windows import WindowSpec


class WindowTable:
    """Windows by size and start, from a floor below which they never come out.

    Args:
        specs: the kinds of windows.
        floor: windows that start before this are incomplete (milliseconds since 1970).
    """

    def __init__(self, specs: Iterable[WindowSpec], floor: int) -> None:
        self.floors = dict.fromkeys(specs, floor)
        self.final_to = 0
        self.kept_from = 0
        self._windows: dict[WindowSpec, dict[int, Window]] = {spec: {} for spec in self.floors}
        self._changed: dict[Cell, None] = {}

    def count(self, version: Version) -> tuple[bool, bool]:
        """Count an answer in all its windows; say whether there was one, and whether one was final."""
        counted = late = False
        for cell in self._cells(version):
            cell.add(version.label, 1)
            self._changed[cell] = None
            counted = True
            if cell.window.final:
                cell.late += 1
                late = True
        return counted, late

    def replace(self, old: Version, new: Version) -> None:
        """Count ``new`` in place of ``old``; a window that has the same of both does not change."""
        before = {(cell, old.label) for cell in self._cells(old)}
        after = {(cell, new.label) for cell in self._cells(new)}
        for number, places in ((-1, before - after), (1, after - before)):
            for cell, label in places:
                cell.add(label, number)
        for cell in {cell for cell, _ in before ^ after}:
            cell.late += cell.window.final
            self._changed[cell] = None

    def finish(self, boundary: int) -> None:
        """Make the windows final that end at or before ``boundary``."""
        self.final_to = max(self.final_to, boundary)
        for window in self._all():
            if not window.final and window.end <= self.final_to:
                window.final = True
                self._changed.update(dict.fromkeys(window.cells.values()))

    def forget(self, boundary: int) -> None:
        """Drop the windows that end at or before ``boundary``; what they changed can still be taken."""
        self.kept_from = max(self.kept_from, boundary)
        for spec, windows in self._windows.items():
            for start in [start for start in windows if not self._takes(spec, start)]:
                del windows[start]

    def take_changes(self) -> tuple[RateWindow, ...]:
        """Give the counts that changed or became final since the last call, by start, size and group."""
        # What changed and changed back meanwhile, such as by two verdicts in each other's place, is the same.
        cells = [
            cell for cell in self._changed if (cell.counts or cell.published) and cell.state != cell.published
        ]
        self.settle_changes()
        cells.sort(key=lambda cell: (cell.window.start, cell.window.spec, cell.group))
        return tuple(cell.record() for cell in cells)

    def settle_changes(self) -> None:
        """Take all that changed for published; what was empty again before anybody saw it is dropped."""
        for cell in self._changed:
            if cell.counts or cell.published:
                cell.published = cell.state
            else:
                cell.window.cells.pop(cell.group, None)
        self._changed.clear()

    def lates(self) -> dict[WindowKey, int]:
        """Give ``late`` of the counts whose verdicts alone do not tell that: changed late, or emptied."""
        cells = (cell for window in self._all() for cell in window.cells.values())
        return {cell.key: cell.late for cell in cells if cell.late or (cell.published and not cell.counts)}

    def restore(self, final_to: int, lates: Mapping[WindowKey, int]) -> None:
        """Go on from where another table was: nothing of what it published comes out again."""
        self.finish(final_to)
        by_size = {spec.size: spec for spec in self.floors}
        for key, late in lates.items():
            spec = by_size.get(key.size)
            # One that starts elsewhere is of other settings, or of nobody.
            window = self._window(spec, key.start) if spec and key.start % spec.hop == 0 else None
            if window is not None:
                cell = window.cell(Group(key.message_type, key.language))
                cell.late = late
                cell.published = cell.state
        self.settle_changes()

    def groups(self) -> frozenset[Group]:
        """Give all groups that are counted in any window."""
        return frozenset(group for window in self._all() for group in window.cells)

    def window(self, spec: WindowSpec, start: int) -> Window | None:
        """Give a window, if anything was counted in it."""
        return self._windows[spec].get(start)

    def _cells(self, version: Version) -> Iterator[Cell]:
        group = Group(version.label.message_type, version.label.language)
        for spec, windows in self._windows.items():
            for start in spec.starts(version.event_time):
                window = windows.get(start) or self._window(spec, start)
                if window is not None:
                    yield window.cells.get(group) or window.cell(group)

    def _window(self, spec: WindowSpec, start: int) -> Window | None:
        if not self._takes(spec, start):
            return None
        windows = self._windows[spec]
        if start not in windows:
            windows[start] = Window(spec, start, start + spec.size <= self.final_to)
        return windows[start]

    def _takes(self, spec: WindowSpec, start: int) -> bool:
        return start >= self.floors[spec] and start + spec.size > self.kept_from

    def _all(self) -> Iterator[Window]:
        return (window for windows in self._windows.values() for window in windows.values())
