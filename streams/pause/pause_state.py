"""What is paused now, by the records of the topic `controls`."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from aiokafka import ConsumerRecord

from schemas import Codec, DecodeError, Hold
from scoring.policy import Pauses, PauseScope
from scoring.values.exchange import MessageType

#: Without a registry, whatever the settings say: who wants to stop sending must not have to wait for one.
CODEC: Final = Codec()

_ANY: Final = "*"


class PauseStatus(StrEnum):
    """What the record of a scope says; whatever else is there counts as held."""

    PAUSED = "held"
    RESUMED = "resumed"


class UnreadablePause(Exception):
    """A record of which cannot be told what it holds; ``error_type`` is a stable code."""

    def __init__(self, error_type: str) -> None:
        super().__init__(error_type)
        self.error_type = error_type


def pause_key(scope: PauseScope) -> bytes:
    """Return the key of a scope's records, such as ``instruction/nl``; ``*`` stands for any."""
    return f"{scope.message_type or _ANY}/{scope.language or _ANY}".encode()


def pause_scope(hold: Hold) -> PauseScope:
    """Return the answers that a record is about; raises ValueError for a type or language that is none."""
    message_type = MessageType(hold.message_type) if hold.message_type is not None else None
    return PauseScope(message_type, hold.language)


def read_pause(record: ConsumerRecord) -> Hold | None:
    """Read a record; None where it takes away what the key had before.

    Raises:
        Unreadable: it is none of ours, of a later release, or stands under another key than its own.
    """
    if record.value is None:
        return None
    try:
        hold = CODEC.decode(record.value, Hold)
        key = pause_key(pause_scope(hold))
    except DecodeError as error:
        raise UnreadablePause(error.code) from error
    except ValueError as error:
        raise UnreadablePause("unknown_scope") from error
    if key != record.key:
        raise UnreadablePause("key_mismatch")
    return hold


#: In a label, any message type or language.
ALL: Final = "all"


def scope_labels(scope: PauseScope) -> tuple[str, str]:
    """Give message type and language of a scope as labels."""
    return scope.message_type or ALL, scope.language or ALL


def describe_scope(scope: PauseScope) -> str:
    """Name the answers that a scope covers, such as ``instruction answers in nl``."""
    kind = scope.message_type or ALL
    return f"{kind} answers in {scope.language}" if scope.language else f"{kind} answers"


#: For so long what was read is believed without a sign of the brokers that nothing else came; then everything
#: is held. Longer than a cluster takes to name another leader, and the longest that a hold may be overlooked.
STALE_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class PauseEntry:
    """The last record of a key in a partition; where it cannot be read, ``error`` says in a code why.

    ``hold`` is None then, and where the record took away what was there before.
    """

    partition: int
    key: bytes
    offset: int
    record: Hold | None
    error: str | None = None

    @property
    def scope(self) -> PauseScope | None:
        """The answers that it is about, or None where that cannot be told."""
        return pause_scope(self.record) if self.record else None

    @property
    def resumed(self) -> bool:
        """Whether it holds nothing."""
        return self.record is not None and self.record.status == PauseStatus.RESUMED


def read_entry(record: ConsumerRecord) -> PauseEntry:
    """Read a record as the entry that it makes."""
    place = record.partition, record.key or b"", record.offset
    try:
        return PauseEntry(*place, read_pause(record))
    except UnreadablePause as unreadable:
        return PauseEntry(*place, None, unreadable.error_type)


class PauseState:
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
        self._entries: dict[tuple[int, bytes], PauseEntry] = {}
        self._complete_at: float | None = None
        self._scopes: frozenset[PauseScope] = frozenset()
        self._readable = True

    def apply(self, records: Iterable[ConsumerRecord]) -> tuple[PauseEntry, ...]:
        """Take records in, in their order, and return what each of them says now."""
        taken = tuple(map(read_entry, records))
        for entry in taken:
            place = entry.partition, entry.key
            self._entries.pop(place, None)  # so that it comes last
            if entry.record or entry.error:
                self._entries[place] = entry
        if taken:
            self._scopes = frozenset(entry.scope for entry in self.active if entry.scope)
            self._readable = all(entry.record for entry in self.active)
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
    def pauses(self) -> Pauses:
        """What a policy must not send now."""
        return Pauses(self._scopes, self.known)

    @property
    def active(self) -> tuple[PauseEntry, ...]:
        """What holds something, the oldest first; also what cannot be read."""
        return tuple(entry for entry in self._entries.values() if not entry.resumed)
