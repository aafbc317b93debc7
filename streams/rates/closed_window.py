"""The newest closed window of a size, as thresholds are evaluated on it and gauges show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streams.rates.cells import Group
from streams.rates.tally import Tally
from streams.rates.windows import WindowSpec


@dataclass(frozen=True, slots=True)
class ClosedWindow:
    """The newest window of one size that ended at or before the watermark; milliseconds since 1970.

    ``tallies`` has every group that any kept window has, with zeros where nothing was counted here. Late
    verdicts may still change them.
    """

    spec: WindowSpec
    start: int
    tallies: Mapping[Group, Tally]

    @property
    def end(self) -> int:
        """The instant after the last."""
        return self.start + self.spec.size

    def total(self, message_type: str | None = None, language: str | None = None) -> Tally:
        """Sum up over the groups of that message type and language, over all where it is None."""
        matching = (
            tally
            for group, tally in self.tallies.items()
            if message_type in (None, group.message_type) and language in (None, group.language)
        )
        return sum(matching, Tally())
