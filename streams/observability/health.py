"""Health: rules over observed progress, without I/O."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from faust.types import TP

from streams.observability.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE, InfrastructureFailure


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """The observed state of one partition: its committed offset and its lag.

    ``in_progress``: whether work on one of its answers has begun, so that its timeouts run.
    """

    committed: int
    lag: int
    in_progress: bool = True


class Health:
    """Collects observations and reports failures.

    A worker is unhealthy if one of its partitions has waiting answers and its committed offset has not
    moved for ``stall_timeout`` seconds, if its event loop or Kafka has been silent for that long, or if
    it has waited longer than permitted for a requirement, e.g. its consumer group. A partition without an
    answer in progress, while another one with a backlog advances, only waits for its turn: the worker has
    more work than it can do, and a restart would make that worse.

    If Kafka has been silent for ``kafka_timeout`` seconds, the worker is only unready: a restart would
    not help. Other waiting times do not count meanwhile, because nothing can be done.

    The methods may be called from any thread: each writes or reads one reference.
    """

    def __init__(
        self, stall_timeout: float, kafka_timeout: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stall_timeout = stall_timeout
        self._kafka_timeout = min(kafka_timeout, stall_timeout)
        self._clock = clock
        self._beat_at = clock()
        self._kafka_answered_at: float | None = None
        self._kafka_says: str | None = None
        self._stuck_since: Mapping[TP, float] = {}
        self._last: Mapping[TP, PartitionProgress] = {}
        self._group: Mapping[int, tuple[PartitionProgress, float]] = {}
        self._waits_for: str | None = "the start"
        self._waits_since = clock()
        self._waits_at_most: float | None = stall_timeout
        self._impairments: tuple[Callable[[], str | None], ...] = ()

    def record_heartbeat(self) -> None:
        """Record that the event loop is running."""
        self._beat_at = self._clock()

    def kafka_answered(self) -> None:
        """Record that the brokers have just answered."""
        now = self._clock()
        if self.kafka_failure():
            silence = self.kafka_silence or 0.0
            self._stuck_since = {tp: min(now, since + silence) for tp, since in self._stuck_since.items()}
            self._waits_since = min(now, self._waits_since + silence)
        self._kafka_answered_at, self._kafka_says = now, None

    def kafka_failed(self, error_type: str) -> None:
        """Record that the brokers did not answer, with the class of the exception."""
        self._kafka_says = error_type

    def kafka_unmonitored(self) -> None:
        """Record that the brokers are no longer asked, so their silence means nothing."""
        self._kafka_answered_at = None

    def observe(self, progress: Mapping[TP, PartitionProgress]) -> None:
        """Record the state of the partitions that this worker owns, as reported by the brokers."""
        self.kafka_answered()
        now = self._clock()
        self._stuck_since = {
            tp: self._stuck_since.get(tp, now)
            if self._is_stalled(tp, seen) and not self._is_queued(seen, progress)
            else now
            for tp, seen in progress.items()
        }
        self._last = dict(progress)

    def observe_group(self, progress: Mapping[int, PartitionProgress]) -> None:
        """Record the state of all partitions of the topic, owned by a worker or not; empty: not asked for."""
        now = self._clock()
        self._group = {
            partition: (seen, self._group_stuck_since(partition, seen, now))
            for partition, seen in progress.items()
        }

    def _group_stuck_since(self, partition: int, seen: PartitionProgress, now: float) -> float:
        before, since = self._group.get(partition, (None, now))
        stuck = before and before.lag and seen.lag and before.committed == seen.committed
        return since if stuck else now

    def set_waiting_for(self, reason: str | None, timeout: float | None = None) -> None:
        """Record what the worker waits for before it can judge answers, or None if it is ready.

        Waiting for one reason longer than ``timeout`` seconds is a failure; None if something else
        limits it.
        """
        if reason != self._waits_for:
            self._waits_since = self._clock()
        self._waits_for, self._waits_at_most = reason, timeout

    @property
    def kafka_silence(self) -> float | None:
        """The seconds since the brokers last answered, None while they are not asked."""
        answered_at = self._kafka_answered_at
        return None if answered_at is None else self._clock() - answered_at

    def kafka_failure(self) -> InfrastructureFailure | None:
        """Return the failure of brokers that do not answer, or None if they do."""
        silence = self.kafka_silence
        if silence is None or silence <= self._kafka_timeout:
            return None
        says = f" ({self._kafka_says})" if self._kafka_says else ""
        return InfrastructureFailure(f"Kafka has not answered for {silence:.0f} s{says}", EXIT_UNREACHABLE)

    def add_impairment_check(self, check: Callable[[], str | None]) -> None:
        """Add a check for what a ready worker cannot do; called from any thread.

        Neither a restart nor another worker would help, so an impairment does not make the worker
        unready.
        """
        self._impairments = (*self._impairments, check)

    @property
    def impairments(self) -> tuple[str, ...]:
        """What a ready worker cannot do, one sentence each."""
        return tuple(found for check in self._impairments if (found := check()))

    @property
    def unready_reason(self) -> str | None:
        """Why the worker cannot judge answers now, or None if it can."""
        if failure := self.failure() or self.kafka_failure():
            return str(failure)
        return f"waiting for {self._waits_for}" if self._waits_for else None

    def partition_progress(self) -> dict[TP, tuple[int, float]]:
        """Return lag and seconds without a commit of each owned partition; nothing while Kafka is silent.

        The state before the silence says nothing about now, and would look healthy forever.
        """
        if self.kafka_failure():
            return {}
        return {tp: (seen.lag, self._stuck_for(tp) if seen.lag else 0.0) for tp, seen in self._last.items()}

    def group_progress(self) -> dict[int, tuple[int, float]]:
        """Return lag and seconds without a commit of all partitions, as :meth:`partition_progress` does.

        A partition that only waits for its turn has not been committed either.
        """
        if self.kafka_failure():
            return {}
        now = self._clock()
        return {
            partition: (seen.lag, now - since if seen.lag else 0.0)
            for partition, (seen, since) in self._group.items()
        }

    def failure(self) -> InfrastructureFailure | None:
        """Return the failure that the worker must exit for, or None."""
        blocked = self._clock() - self._beat_at
        if blocked > self._stall_timeout:
            return _broken(f"the event loop has been blocked for {blocked:.0f} s")
        if silent := self.kafka_failure():
            return silent if (self.kafka_silence or 0.0) > self._stall_timeout else None
        waited = self._clock() - self._waits_since
        if self._waits_for and self._waits_at_most and waited > self._waits_at_most:
            return _broken(f"has been waiting for {self._waits_for} for {waited:.0f} s")
        for tp, (_, stuck) in self.partition_progress().items():
            if stuck > self._stall_timeout:
                return _broken(
                    f"partition {tp.partition} has answers waiting and no commit for {stuck:.0f} s"
                )
        return None

    def _stuck_for(self, tp: TP) -> float:
        now = self._clock()
        return max(0.0, now - self._stuck_since.get(tp, now))

    def _is_stalled(self, tp: TP, seen: PartitionProgress) -> bool:
        before = self._last.get(tp)
        return before is not None and seen.lag > 0 and before.lag > 0 and before.committed == seen.committed

    def _is_queued(self, seen: PartitionProgress, progress: Mapping[TP, PartitionProgress]) -> bool:
        return not seen.in_progress and any(self._makes_progress(tp, other) for tp, other in progress.items())

    def _makes_progress(self, tp: TP, seen: PartitionProgress) -> bool:
        before = self._last.get(tp)
        return before is not None and seen.lag > 0 and before.committed < seen.committed


def _broken(what: str) -> InfrastructureFailure:
    return InfrastructureFailure(what, EXIT_SOFTWARE)
