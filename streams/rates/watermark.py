"""Up to which event time everything has probably been read."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

Partition: TypeAlias = tuple[str, int]
"""Topic and number; aiokafka's ``TopicPartition`` is one."""


class WatermarkTracker:
    """Follows the event times of all partitions; times are milliseconds since 1970.

    The watermark is the least of the partitions' greatest event times, without those that are read to their
    end and idle, for nothing came for ``idle_after``, or left behind, by more than ``most_behind``: a sender
    of stale times does not hold up the others. When no partition is left it goes on with the time that passes
    after the newest record's timestamp, ``idle_after`` behind: windows close and alerts are resolved when
    nothing more comes. It never goes back.

    What this machine's clock shows does not matter, only how much time passes by it: one that is set wrong
    closes no window.

    Args:
        partitions: all that are read; one of which nothing is known holds the watermark back.
        idle_after: milliseconds.
        most_behind: milliseconds.
        clock: gives milliseconds that only go forward, from any beginning.
        value: the watermark of a predecessor, 0 if there is none.
        event_times: the greatest event times that a predecessor saw.

    Attributes:
        of_events: how far events alone moved the watermark when it was last asked for. Time passes in an
            outage too, but all that was waiting is still to come.
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
        self._heard = dict.fromkeys(partitions, clock())
        self._event_times = {p: time for p, time in (event_times or {}).items() if p in self._heard}
        self._at_end: set[Partition] = set()
        self._value = value
        self.event_watermark = 0
        self._newest = max((value, *self._event_times.values()))
        self._appended, self._appended_at = value, clock()

    @property
    def event_times(self) -> dict[Partition, int]:
        """The greatest event time of each partition that anything came from, for a successor."""
        return dict(self._event_times)

    def observe(self, partition: Partition, event_time: int) -> None:
        """Take in one event; KeyError for a partition that is not followed."""
        if partition not in self._heard:
            raise KeyError(partition)
        self._heard[partition] = self._clock()
        self._event_times[partition] = max(event_time, self._event_times.get(partition, event_time))
        self._newest = max(self._newest, event_time)

    def observe_append_time(self, timestamp: int) -> None:
        """Take in the timestamp of a record, of those too that a predecessor has seen."""
        if timestamp > self._appended:
            self._appended, self._appended_at = timestamp, self._clock()

    def set_at_end(self, partition: Partition, reached: bool = True) -> None:
        """Take in whether there is nothing more to read of a partition now."""
        if reached:
            self._at_end.add(partition)
        else:
            self._at_end.discard(partition)

    def current(self) -> int:
        """Give the watermark now; 0 before anything is known."""
        self._value = max(self._value, self._reached())
        return self._value

    def partitions_ahead(self, lead: int) -> frozenset[Partition]:
        """Give the partitions that are more than ``lead`` ahead of one that has more to be read.

        Not to read on from them meanwhile bounds what must be remembered while catching up.
        """
        behind = [time for partition, time in self._event_times.items() if partition not in self._at_end]
        latest = min(behind, default=None)
        if latest is None:
            return frozenset()
        return frozenset(p for p, time in self._event_times.items() if time > latest + lead)

    def _reached(self) -> int:
        now = self._clock()
        heeded = [p for p in self._heard if p not in self._at_end or not self._is_silent(p, now)]
        if not heeded:
            return self._appended + now - self._appended_at - self._idle_after if self._appended else 0
        slowest = min(self._event_times.get(partition, 0) for partition in heeded)
        self.event_watermark = max(self.event_watermark, slowest)
        return slowest

    def _is_silent(self, partition: Partition, now: int) -> bool:
        """Whether what was read to its end says nothing of the present: idle, or left behind."""
        behind = self._newest - self._event_times.get(partition, self._newest)
        return now - self._heard[partition] >= self._idle_after or behind > self._most_behind
