"""The board of holds: what the topic says is held now, and whether that is known at all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from aiokafka import ConsumerRecord

from schemas import Hold
from scoring.policy import Holds, Scope
from streams.holds.records import Status, Unreadable, read_hold, scope_of

#: For so long what was read is believed without a sign of the brokers that nothing else came; then everything
#: is held. Longer than a cluster takes to name another leader, and the longest that a hold may be overlooked.
STALE_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Entry:
    """The last record of a key in a partition; where it cannot be read, ``error`` says in a code why.

    ``hold`` is None then, and where the record took away what was there before.
    """

    partition: int
    key: bytes
    offset: int
    hold: Hold | None
    error: str | None = None

    @property
    def scope(self) -> Scope | None:
        """The answers that it is about, or None where that cannot be told."""
        return scope_of(self.hold) if self.hold else None

    @property
    def resumed(self) -> bool:
        """Whether it holds nothing."""
        return self.hold is not None and self.hold.status == Status.RESUMED


def entry_of(record: ConsumerRecord) -> Entry:
    """Read a record as the entry that it makes."""
    place = record.partition, record.key or b"", record.offset
    try:
        return Entry(*place, read_hold(record))
    except Unreadable as unreadable:
        return Entry(*place, None, unreadable.error_type)


class HoldBoard:
    """Keeps the last record of each key, and makes of them what a policy is given.

    Each partition counts by itself: where partitions were added, a key may stand in two of them, and nothing
    tells which record is the later one; so what one of them holds is held.

    Args:
        clock: seconds since 1970.
        stale_after: seconds after which what was read is not believed any more.
    """

    def __init__(self, clock: Callable[[], float] = time.time, stale_after: float = STALE_SECONDS) -> None:
        self._clock = clock
        self._stale_after = stale_after
        self._entries: dict[tuple[int, bytes], Entry] = {}
        self._complete_at: float | None = None
        self._scopes: frozenset[Scope] = frozenset()
        self._readable = True

    def take_in(self, records: Iterable[ConsumerRecord]) -> tuple[Entry, ...]:
        """Take records in, in their order, and return what each of them says now."""
        taken = tuple(map(entry_of, records))
        for entry in taken:
            place = entry.partition, entry.key
            self._entries.pop(place, None)  # so that it comes last
            if entry.hold or entry.error:
                self._entries[place] = entry
        if taken:
            self._scopes = frozenset(entry.scope for entry in self.held if entry.scope)
            self._readable = all(entry.hold for entry in self.held)
        return taken

    def confirm(self, complete_at: float | None) -> None:
        """Note when all that the topic held was read; None leaves it as it is."""
        if complete_at is not None:
            self._complete_at = complete_at

    @property
    def known(self) -> bool:
        """Whether what is held is known: all was read, not long ago, and could be read."""
        # A clock that went back proves nothing about the age.
        age = -1 if self._complete_at is None else self._clock() - self._complete_at
        return self._readable and 0 <= age <= self._stale_after

    def impairment(self) -> str | None:
        """Say what readiness tells of it, or None where all is known."""
        return None if self.known else "what is held is not known: nothing is sent"

    @property
    def holds(self) -> Holds:
        """What a policy must not send now."""
        return Holds(self._scopes, self.known)

    @property
    def held(self) -> tuple[Entry, ...]:
        """What holds something, the oldest first; also what cannot be read."""
        return tuple(entry for entry in self._entries.values() if not entry.resumed)
