"""Which offset of a partition may be committed while events finish in any order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from faust.types import TP


@dataclass(slots=True)
class _Partition:
    """The events of one partition that were delivered and lie at or behind the commit position."""

    delivered: deque[int] = field(default_factory=deque)
    finished: set[int] = field(default_factory=set)
    position: int | None = None

    def finish(self, offset: int) -> None:
        self.finished.add(offset)
        while self.delivered and self.delivered[0] in self.finished:
            done = self.delivered.popleft()
            self.finished.discard(done)
            self.position = done + 1


class OffsetTracker:
    """Follows delivered and finished events and says how far each partition may be committed.

    The committable offset of a partition is the offset of its oldest unfinished event, or the
    one after its last event when all are finished. So an event in work is never committed
    past, however many later ones are done: after a crash it is delivered again.

    Offsets of one partition must be delivered in increasing order, as Kafka does; gaps (from
    compaction or transaction markers) are fine. Not safe for use from several threads.
    """

    def __init__(self) -> None:
        self._partitions: dict[TP, _Partition] = {}

    def deliver(self, tp: TP, offset: int) -> None:
        """Note that work on the event at ``offset`` begins."""
        self._partitions.setdefault(tp, _Partition()).delivered.append(offset)

    def finish(self, tp: TP, offset: int) -> None:
        """Note that the event has its verdict or dead letter; ignored for a forgotten partition."""
        if partition := self._partitions.get(tp):
            partition.finish(offset)

    def in_work(self, tp: TP) -> bool:
        """Say whether an event of the partition is delivered and not finished, or follows one that is not."""
        partition = self._partitions.get(tp)
        return partition is not None and bool(partition.delivered)

    def committable(self, tp: TP) -> int | None:
        """Return the offset to commit (the next one to be read), or None when there is none yet."""
        partition = self._partitions.get(tp)
        return partition.position if partition else None

    def forget(self, tps: Iterable[TP]) -> None:
        """Drop what is known of partitions that now belong to another worker."""
        for tp in tps:
            self._partitions.pop(tp, None)

    def __iter__(self) -> Iterator[TP]:
        return iter(self._partitions)
