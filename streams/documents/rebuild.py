"""When the local copy of the documents cannot be read on, but has to be built anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streams.documents.store import DocumentStore
from streams.kafka.topic_identity import Origin


@dataclass(frozen=True, slots=True)
class Log:
    """The topic as it stands: the first and the next offset of each partition, at ``seen_at``.

    ``seen_at`` is in seconds since 1970, from before the offsets were asked for.
    """

    origin: Origin
    begins: Mapping[int, int]
    ends: Mapping[int, int]
    seen_at: float

    def reached(self, positions: Mapping[int, int]) -> bool:
        """Whether a reader at ``positions`` has read everything up to these ends."""
        return all(positions.get(partition, 0) >= end for partition, end in self.ends.items())


def rebuild_reason(store: DocumentStore, log: Log, max_age: float, reader: str) -> str | None:
    """Say in a stable code why the store must be built anew from the topic, or None to read on.

    Args:
        store: the copy as it was left.
        log: the topic as it is now.
        max_age: seconds. The broker keeps a tombstone for ``delete.retention.ms`` (a day, unless
            set) after the log's cleaning has reached it. A store that was last complete before
            that may have missed a tombstone for good, and would show a deleted document forever.
        reader: what values are read with now (:attr:`schemas.Codec.reads`). A rebuild forgets the past
            versions that compaction has removed from the topic, and writes the dead letters again, so an
            unreadable document is worth one only when another release, or other settings, may read it.
    """
    origin = store.origin
    if origin is None:
        return "new"
    if not origin.is_same(log.origin):
        return "another_topic"
    if not 0 <= store.age <= max_age:  # a clock that went back proves nothing about the age
        return "too_old"
    if not all(_readable(partition, offset, log) for partition, offset in store.next_offsets.items()):
        return "offset_out_of_range"
    if store.unreadable_only_before(reader):
        return "unreadable_documents"
    return None


def _readable(partition: int, offset: int, log: Log) -> bool:
    # Beyond the end: not the log that was read. Before the beginning: records went unread.
    return partition in log.ends and log.begins[partition] <= offset <= log.ends[partition]
