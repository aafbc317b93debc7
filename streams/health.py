"""Whether the worker gets on: pure rules over what was observed, with an injected clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from faust.types import TP


@dataclass(frozen=True, slots=True)
class Progress:
    """What was seen of one partition: the committed offset and whether answers wait behind it."""

    committed: int
    lag: int


class Health:
    """Collects observations and says what is wrong, if anything.

    A worker is unhealthy when a partition of its own has answers waiting and its committed
    offset has not moved for ``stall_timeout`` seconds, or when nobody could observe anything
    for that long (the brokers are out of reach, or the event loop stands still), or when it has
    waited longer than it may for what it needs, such as its consumer group.

    The methods may be called from any thread: each writes or reads one reference.
    """

    def __init__(self, stall_timeout: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = stall_timeout
        self._clock = clock
        self._observed_at = clock()
        self._stuck_since: Mapping[TP, float] = {}
        self._last: Mapping[TP, Progress] = {}
        self._waits_for: str | None = "the start"
        self._waits_since = clock()
        self._waits_at_most: float | None = None

    def observe(self, progress: Mapping[TP, Progress]) -> None:
        """Take in the state of the partitions that this worker owns now."""
        now = self._clock()
        self._stuck_since = {
            tp: self._stuck_since.get(tp, now) if self._stands_still(tp, seen) else now
            for tp, seen in progress.items()
        }
        self._last = dict(progress)
        self._observed_at = now

    def waits_for(self, reason: str | None, at_most: float | None = None) -> None:
        """Say what the worker waits for before it can judge answers, or None when it is ready.

        Waiting for the same reason for longer than ``at_most`` seconds is a problem; None where
        something else limits the wait.
        """
        if reason != self._waits_for:
            self._waits_since = self._clock()
        self._waits_for, self._waits_at_most = reason, at_most

    @property
    def not_ready(self) -> str | None:
        """What the worker waits for before it can judge answers, or None."""
        return f"waiting for {self._waits_for}" if self._waits_for else None

    def stuck_for(self, tp: TP) -> float:
        """Return for how many seconds the partition has had answers waiting without a commit."""
        return max(0.0, self._clock() - self._stuck_since.get(tp, self._clock()))

    def problem(self) -> str | None:
        """Return what is wrong in a sentence, or None when the worker gets on."""
        unseen = self._clock() - self._observed_at
        if unseen > self._limit:
            return f"the brokers or the event loop have not answered for {unseen:.0f} s"
        waited = self._clock() - self._waits_since
        if self._waits_for and self._waits_at_most and waited > self._waits_at_most:
            return f"has been waiting for {self._waits_for} for {waited:.0f} s"
        for tp in self._stuck_since:
            if self._last[tp].lag and (stuck := self.stuck_for(tp)) > self._limit:
                return f"partition {tp.partition} has answers waiting and no commit for {stuck:.0f} s"
        return None

    def _stands_still(self, tp: TP, seen: Progress) -> bool:
        before = self._last.get(tp)
        return before is not None and seen.lag > 0 and before.lag > 0 and before.committed == seen.committed
