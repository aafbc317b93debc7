"""Health: pure rules over observed progress, with an injected clock."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from faust.types import TP

from streams.observability.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE, InfrastructureFailure


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """What was seen of one partition: the committed offset and whether answers wait behind it.

    ``in_work``: whether work on one of them has begun, so that its time limits count.
    """

    committed: int
    lag: int
    in_progress: bool = True


class Health:
    """Collects observations and says what is wrong, if anything.

    A worker is unhealthy when a partition of its own has answers waiting and its committed
    offset has not moved for ``stall_timeout`` seconds, when its event loop or Kafka has been silent
    for that long, or when it has waited longer than it may for what it needs, such as its consumer group.
    A partition of which no answer is in work, while another one with a backlog gets on, only waits for its
    turn: the worker has more to do than it can, and ending it would make that worse.

    Kafka that has been silent for ``kafka_timeout`` seconds makes it unready, and nothing else: a restart
    would not help. Nobody can do anything meanwhile, so no other wait is measured in that time.

    The methods may be called from any thread: each writes or reads one reference.
    """

    def __init__(
        self, stall_timeout: float, kafka_timeout: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = stall_timeout
        self._kafka_limit = min(kafka_timeout, stall_timeout)
        self._clock = clock
        self._beat_at = clock()
        self._kafka_answered_at: float | None = None
        self._kafka_says: str | None = None
        self._stuck_since: Mapping[TP, float] = {}
        self._last: Mapping[TP, PartitionProgress] = {}
        self._waits_for: str | None = "the start"
        self._waits_since = clock()
        self._waits_at_most: float | None = stall_timeout
        self._impairments: tuple[Callable[[], str | None], ...] = ()

    def record_heartbeat(self) -> None:
        """Note that the event loop goes round."""
        self._beat_at = self._clock()

    def kafka_answered(self) -> None:
        """Note that the brokers have just told what they were asked."""
        now = self._clock()
        if self.kafka_failure():
            silence = self.kafka_silence or 0.0
            self._stuck_since = {tp: min(now, since + silence) for tp, since in self._stuck_since.items()}
            self._waits_since = min(now, self._waits_since + silence)
        self._kafka_answered_at, self._kafka_says = now, None

    def kafka_failed(self, error_type: str) -> None:
        """Note that the brokers did not tell what they were asked, with the class of the exception."""
        self._kafka_says = error_type

    def kafka_unmonitored(self) -> None:
        """Note that nobody asks the brokers any more, so that their silence means nothing."""
        self._kafka_answered_at = None

    def observe(self, progress: Mapping[TP, PartitionProgress]) -> None:
        """Take in the state of the partitions that this worker owns now, as the brokers have told it."""
        self.kafka_answered()
        now = self._clock()
        self._stuck_since = {
            tp: self._stuck_since.get(tp, now)
            if self._is_stalled(tp, seen) and not self._waits_for_others(seen, progress)
            else now
            for tp, seen in progress.items()
        }
        self._last = dict(progress)

    def set_waiting_for(self, reason: str | None, timeout: float | None = None) -> None:
        """Say what the worker waits for before it can judge answers, or None when it is ready.

        Waiting for the same reason for longer than ``at_most`` seconds is a problem; None where
        something else limits the wait.
        """
        if reason != self._waits_for:
            self._waits_since = self._clock()
        self._waits_for, self._waits_at_most = reason, timeout

    @property
    def kafka_silence(self) -> float | None:
        """For how many seconds the brokers have told nothing, None while nobody asks them."""
        answered_at = self._kafka_answered_at
        return None if answered_at is None else self._clock() - answered_at

    def kafka_failure(self) -> InfrastructureFailure | None:
        """Return what to say of brokers that do not answer, or None when they do."""
        silence = self.kafka_silence
        if silence is None or silence <= self._kafka_limit:
            return None
        says = f" ({self._kafka_says})" if self._kafka_says else ""
        return InfrastructureFailure(f"Kafka has not answered for {silence:.0f} s{says}", EXIT_UNREACHABLE)

    def add_impairment_check(self, check: Callable[[], str | None]) -> None:
        """Have ``by`` asked, from any thread, what keeps a worker that is ready from doing all it should.

        No restart and no other worker would help, so it makes nothing unready.
        """
        self._impairments = (*self._impairments, check)

    @property
    def impairments(self) -> tuple[str, ...]:
        """What a worker cannot do though it is ready; a sentence each."""
        return tuple(found for by in self._impairments if (found := by()))

    @property
    def unready_reason(self) -> str | None:
        """Why the worker cannot judge answers now, or None when it can."""
        if failure := self.failure() or self.kafka_failure():
            return str(failure)
        return f"waiting for {self._waits_for}" if self._waits_for else None

    def partition_progress(self) -> dict[TP, tuple[int, float]]:
        """Return lag and seconds without a commit of each own partition; nothing while Kafka is silent.

        What was true before the silence says nothing of now, and would look well for ever.
        """
        if self.kafka_failure():
            return {}
        return {tp: (seen.lag, self._stuck_for(tp) if seen.lag else 0.0) for tp, seen in self._last.items()}

    def failure(self) -> InfrastructureFailure | None:
        """Return what is wrong, for which the worker has to end, or None when it gets on."""
        stood = self._clock() - self._beat_at
        if stood > self._limit:
            return _broken(f"the event loop has stood still for {stood:.0f} s")
        if silent := self.kafka_failure():
            return silent if (self.kafka_silence or 0.0) > self._limit else None
        waited = self._clock() - self._waits_since
        if self._waits_for and self._waits_at_most and waited > self._waits_at_most:
            return _broken(f"has been waiting for {self._waits_for} for {waited:.0f} s")
        for tp, (_, stuck) in self.partition_progress().items():
            if stuck > self._limit:
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

    def _waits_for_others(self, seen: PartitionProgress, progress: Mapping[TP, PartitionProgress]) -> bool:
        return not seen.in_progress and any(self._makes_progress(tp, other) for tp, other in progress.items())

    def _makes_progress(self, tp: TP, seen: PartitionProgress) -> bool:
        before = self._last.get(tp)
        return before is not None and seen.lag > 0 and before.committed < seen.committed


def _broken(what: str) -> InfrastructureFailure:
    return InfrastructureFailure(what, EXIT_SOFTWARE)
