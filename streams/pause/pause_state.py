"""The pauses in force, from the records of the topic `controls`."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from aiokafka import ConsumerRecord

from schemas import Codec, DecodeError, Pause
from scoring.policy import Pauses, PauseScope
from scoring.values.exchange import MessageType
from streams.kafka.topic_reader import Freshness

#: Without a schema registry, whatever the settings say: pausing must not depend on one.
CODEC: Final = Codec()

_ANY: Final = "*"


class PauseStatus(StrEnum):
    """The status of a scope in its record; workers take any other value as paused."""

    PAUSED = "paused"
    RESUMED = "resumed"


class UnreadablePause(Exception):
    """A record that cannot be read; ``error_type`` is a stable code."""

    def __init__(self, error_type: str) -> None:
        super().__init__(error_type)
        self.error_type = error_type


def pause_key(scope: PauseScope) -> bytes:
    """Return the key of a scope's records, such as ``instruction/nl``; ``*`` stands for any."""
    return f"{scope.message_type or _ANY}/{scope.language or _ANY}".encode()


def pause_scope(pause: Pause) -> PauseScope:
    """Return the scope of a record; raises ValueError for an unknown message type or language."""
    message_type = MessageType(pause.message_type) if pause.message_type is not None else None
    return PauseScope(message_type, pause.language)


def read_pause(record: ConsumerRecord) -> Pause | None:
    """Read a record; None for a tombstone, which deletes the pause of its key.

    Raises:
        UnreadablePause: it is not a pause, comes from a later release, or has the key of another scope.
    """
    if record.value is None:
        return None
    try:
        pause = CODEC.decode(record.value, Pause)
        key = pause_key(pause_scope(pause))
    except DecodeError as error:
        raise UnreadablePause(error.code) from error
    except ValueError as error:
        raise UnreadablePause("unknown_scope") from error
    if key != record.key:
        raise UnreadablePause("key_mismatch")
    return pause


#: The label for any message type or language.
ALL: Final = "all"


def scope_labels(scope: PauseScope) -> tuple[str, str]:
    """Return message type and language of a scope as labels."""
    return scope.message_type or ALL, scope.language or ALL


def describe_scope(scope: PauseScope) -> str:
    """Name the answers that a scope covers, such as ``instruction answers in nl``."""
    kind = scope.message_type or ALL
    return f"{kind} answers in {scope.language}" if scope.language else f"{kind} answers"


#: A worker trusts what it has read for this long without word from the brokers; then it sends nothing. Longer
#: than a cluster takes to elect another leader, and the longest that a worker can miss a pause.
STALE_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class PauseEntry:
    """The last record of a key in a partition; ``error`` is the code of why it cannot be read.

    ``record`` is None then, and for a tombstone.
    """

    partition: int
    key: bytes
    offset: int
    record: Pause | None
    error: str | None = None

    @property
    def scope(self) -> PauseScope | None:
        """The scope, or None if the record has none that can be read."""
        return pause_scope(self.record) if self.record else None

    @property
    def resumed(self) -> bool:
        """Whether it ends a pause."""
        return self.record is not None and self.record.status == PauseStatus.RESUMED


def read_entry(record: ConsumerRecord) -> PauseEntry:
    """Read a record as an entry."""
    place = record.partition, record.key or b"", record.offset
    try:
        return PauseEntry(*place, read_pause(record))
    except UnreadablePause as unreadable:
        return PauseEntry(*place, None, unreadable.error_type)


class PauseState:
    """The last record of each key, and the pauses that a policy gets from them.

    Each partition counts by itself: after partitions were added, a key may be in two of them, and nothing
    says which record is the later one; so a scope that is paused in either of them is paused.

    Args:
        clock: seconds since 1970.

    Attributes:
        freshness: when the topic was last read to its end.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.freshness = Freshness(STALE_SECONDS, clock)
        self._entries: dict[tuple[int, bytes], PauseEntry] = {}
        self._scopes: frozenset[PauseScope] = frozenset()
        self._readable = True

    def apply(self, records: Iterable[ConsumerRecord]) -> tuple[PauseEntry, ...]:
        """Apply records in their order, and return the entry of each."""
        taken = tuple(map(read_entry, records))
        for entry in taken:
            place = entry.partition, entry.key
            self._entries.pop(place, None)  # so that it moves to the end
            if entry.record or entry.error:
                self._entries[place] = entry
        if taken:
            self._scopes = frozenset(entry.scope for entry in self.active if entry.scope)
            self._readable = all(entry.record for entry in self.active)
        return taken

    @property
    def known(self) -> bool:
        """Whether the topic was read to its end recently, and every record is readable."""
        return self._readable and self.freshness.is_current

    def impairment(self) -> str | None:
        """Return the impairment that readiness reports, or None if the pauses are known."""
        return None if self.known else "pauses are unknown: nothing is sent"

    @property
    def pauses(self) -> Pauses:
        """The pauses in force, for a policy."""
        return Pauses(self._scopes, self.known)

    @property
    def active(self) -> tuple[PauseEntry, ...]:
        """Pauses in force and unreadable records, the oldest first."""
        return tuple(entry for entry in self._entries.values() if not entry.resumed)
