"""When the local copy of the documents cannot be read on, but has to be built anew."""

from __future__ import annotations

from aiokafka import TopicPartition

from streams.documents.store import DocumentStore
from streams.kafka.topic_reader import TopicLog


def rebuild_reason(store: DocumentStore, log: TopicLog, max_age: float, reader: str) -> str | None:
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
    if not log.is_same((origin,)):
        return "another_topic"
    if not 0 <= store.age <= max_age:  # a clock that went back proves nothing about the age
        return "too_old"
    for number, offset in store.next_offsets.items():
        at = TopicPartition(origin.topic, number)
        # Beyond the end: not the log that was read. Before the beginning: records went unread.
        if at not in log.ends or not log.begins[at] <= offset <= log.ends[at]:
            return "offset_out_of_range"
    if store.unreadable_only_before(reader):
        return "unreadable_documents"
    return None
