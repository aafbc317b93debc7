"""Which dead letters of a partition are done with: a position, and what lies beyond it.

Kafka cannot delete single records, so what was sent again or discarded is remembered as the committed
offset of a consumer group: everything before it is done. With a selection, single letters beyond it
are too; these stand in the commit's metadata, as ranges such as ``12-15,20``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# The brokers' default for offset.metadata.max.bytes.
MAX_METADATA = 4096

_RANGES = re.compile(r"(\d{1,19}(-\d{1,19})?(,|$))*")


@dataclass(frozen=True, slots=True)
class OffsetSet:
    """Everything below ``position``, and the ranges (first, last) beyond it; these ascend."""

    position: int = 0
    beyond: tuple[tuple[int, int], ...] = ()

    def __contains__(self, offset: int) -> bool:
        return offset < self.position or any(first <= offset <= last for first, last in self.beyond)

    def plus(self, offsets: Iterable[int]) -> OffsetSet:
        """Add these offsets."""
        return self.plus_ranges((offset, offset) for offset in offsets)

    def plus_ranges(self, ranges: Iterable[tuple[int, int]]) -> OffsetSet:
        """Add these ranges (first, last)."""
        (_, last), *beyond = _joined(sorted([(0, self.position - 1), *self.beyond, *ranges]))
        return OffsetSet(last + 1, tuple(beyond))

    @property
    def metadata(self) -> str:
        """What is beyond the position, for the commit; ranges that do not fit are left out, the last first.

        What is left out may be replayed or listed once more: consumers of verdicts must stand repeats anyway.
        """
        text = ""
        for first, last in self.beyond:
            longer = f"{text}{',' if text else ''}{first}" + (f"-{last}" if last > first else "")
            if len(longer) > MAX_METADATA:
                break
            text = longer
        return text

    @classmethod
    def committed(cls, position: int, metadata: str) -> OffsetSet:
        """Read what was committed; metadata that is not ours counts as none."""
        if not _RANGES.fullmatch(metadata):
            return cls(position)
        bounds = (part.split("-") for part in metadata.split(",") if part)
        return cls(position).plus_ranges((int(each[0]), int(each[-1])) for each in bounds)


def _joined(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join ranges, sorted by their first, that touch or overlap."""
    whole = iter(ranges)
    first, last = next(whole)
    for start, end in whole:
        if start > last + 1:
            yield first, last
            first, last = start, end
        last = max(last, end)
    yield first, last
