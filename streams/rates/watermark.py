"""The watermark: the event time up to which all verdicts have probably been read."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

Partition: TypeAlias = tuple[str, int]
"""Topic and number; aiokafka's ``TopicPartition`` is one."""


class WatermarkTracker:
    """Tracks the event times of all partitions; times are milliseconds since 1970.

    The watermark is the least of the partitions' greatest event times. A partition that is read to its end is
    left out if it is idle (no record for ``idle_after``) or more than ``most_behind`` behind: a sender of
    stale times does not delay the others. If no partition remains, the watermark advances with the time since
    the newest record's timestamp, ``idle_after`` behind, so that windows close and alerts are resolved
    without new records. It never goes back.

    Only the time that passes by this machine's clock matters, not what it shows: a wrong clock closes no
    window.

    Args:
        partitions: all that are read; a partition without any event yet stops the watermark.
        idle_after: milliseconds.
        most_behind: milliseconds.
        clock: monotonic milliseconds.
        value: the watermark of the last leader, 0 if there is none.
        event_times: the greatest event times of the last leader.

    Attributes:
        event_watermark: how far events alone moved the watermark, as of the last call of :meth:`current`. In
            an outage time passes too, but the backlog is still to come.
    """

    def __init__(
        self,
        partitions: Iterable[Partition],
        idle_after: int,
        most_behind: int,
        clock: Callable[[], int],
        value: int = 0,
        event_times: Mapping[Partition, int] | None = None,
    ) -> None:
        self._clock = clock
        self._idle_after = idle_after
        self._most_behind = most_behind
        self._last_observed = dict.fromkeys(partitions, clock())
        self._event_times = {p: time for p, time in (event_times or {}).items() if p in self._last_observed}
        self._at_end: set[Partition] = set()
        self._value = value
        self.event_watermark = 0
        self._newest = max((value, *self._event_times.values()))
        self._appended, self._appended_at = value, clock()

    @property
    def event_times(self) -> dict[Partition, int]:
        """The greatest event time of each partition with events, for the next leader."""
        return dict(self._event_times)

    def observe(self, partition: Partition, event_time: int) -> None:
        """Observe an event; raises KeyError for an unknown partition."""
        if partition not in self._last_observed:
            raise KeyError(partition)
        self._last_observed[partition] = self._clock()
        self._event_times[partition] = max(event_time, self._event_times.get(partition, event_time))
        self._newest = max(self._newest, event_time)

    def observe_append_time(self, timestamp: int) -> None:
        """Observe the timestamp of a record, including those that the last leader counted."""
        if timestamp > self._appended:
            self._appended, self._appended_at = timestamp, self._clock()

    def set_at_end(self, partition: Partition, reached: bool = True) -> None:
        """Set whether a partition is read to its end."""
        if reached:
            self._at_end.add(partition)
        else:
            self._at_end.discard(partition)

    def current(self) -> int:
        """Return the watermark; 0 before the first event."""
        self._value = max(self._value, self._reached())
        return self._value

    def partitions_ahead(self, lead: int) -> frozenset[Partition]:
        """Return the partitions that are more than ``lead`` ahead of one that is not read to its end.

        Pausing them bounds the memory while catching up.
        """
        behind = [time for partition, time in self._event_times.items() if partition not in self._at_end]
        latest = min(behind, default=None)
        if latest is None:
            return frozenset()
        return frozenset(p for p, time in self._event_times.items() if time > latest + lead)

    def _reached(self) -> int:
        now = self._clock()
        relevant = [p for p in self._last_observed if p not in self._at_end or not self._is_silent(p, now)]
        if not relevant:
            return self._appended + now - self._appended_at - self._idle_after if self._appended else 0
        slowest = min(self._event_times.get(partition, 0) for partition in relevant)
        self.event_watermark = max(self.event_watermark, slowest)
        return slowest

    def _is_silent(self, partition: Partition, now: int) -> bool:
        """Return whether a partition that is read to its end is idle, or left behind."""
        behind = self._newest - self._event_times.get(partition, self._newest)
        return now - self._last_observed[partition] >= self._idle_after or behind > self._most_behind
