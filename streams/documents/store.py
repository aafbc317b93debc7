"""A local copy of the documents topic with its offsets, and when it must be rebuilt."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from aiokafka import TopicPartition

from schemas import KnowledgeDocument
from scoring.cache.shared_database import SQLITE_FULL, error_name
from streams.documents import timeline
from streams.documents.store_file import (
    LOCK_NAME,
    SETTING,
    connect,
    lock_directory,
    not_usable,
    prepare_database,
)
from streams.documents.versions import DocumentChange, DocumentVersion, VersionedDocument
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicSnapshot
from streams.observability.failures import EXIT_SOFTWARE, InfrastructureFailure

_SET_NEXT_OFFSET = "INSERT OR REPLACE INTO next_offsets VALUES (?, ?)"


class StoreFailed(InfrastructureFailure):
    """The store cannot be read or written any more: its disk is full, gone or damaged."""

    def __init__(self, error: sqlite3.Error) -> None:
        reason = error_name(error)
        told = "no space left" if reason == SQLITE_FULL else reason
        super().__init__(f"{SETTING}: the store of documents failed: {told}", EXIT_SOFTWARE)


class StoreSnapshot:
    """The current documents of one moment. Raises sqlite3.Error where the file cannot be read."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def versions(self) -> dict[str, DocumentVersion]:
        """Return the current version of every document by its id."""
        return timeline.current_versions(self._database)

    def get(self, document_id: str) -> VersionedDocument | None:
        """Return the current version of a document, or None when there is none."""
        return timeline.current(self._database, document_id)


class DocumentStore:
    """The documents by id, current and past versions, and where to read on.

    Documents and next offsets change in one transaction, so a process that is killed at any point
    leaves them in step. :meth:`get` may be called while another thread is in :meth:`apply`. Whatever reads or
    writes raises StoreFailed where the file cannot be read or written.

    Args:
        directory: made when it is not there; one process at a time may use it.
        clock: seconds since 1970.

    Raises:
        InvalidSettings: the directory is in use by another worker or cannot be written, or the file in it
            cannot be read at the moment.
    """

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._writing = threading.Lock()
        self._lock = lock_directory(directory, LOCK_NAME, SETTING)
        try:
            self._path = prepare_database(directory)
            self._open()
        except BaseException:
            self._lock.close()
            raise

    def _open(self) -> None:
        try:
            self._writer, self._reader = connect(self._path), connect(self._path)
            self._next_offsets: dict[int, int] = dict(self._writer.execute("SELECT * FROM next_offsets"))
        except sqlite3.Error as error:
            raise not_usable(self._path, error) from error

    def close(self) -> None:
        """Close the file and give the directory free. May be called twice."""
        with self._writing:
            self._reader.close()
            self._writer.close()
            self._lock.close()

    def get(self, document_id: str) -> VersionedDocument | None:
        """Return the newest version of a document, or None when there is none."""
        with _as_store_failed():
            return timeline.current(self._reader, document_id)

    def get_version(self, document_id: str, version: str) -> KnowledgeDocument | None:
        """Return a version of a document by its name, or None where it is not kept."""
        with _as_store_failed():
            found = timeline.get_version(self._reader, document_id, version)
        return found.document if found else None

    def version_at(self, document_id: str, at: datetime) -> VersionedDocument | None:
        """Return the version of a document that was in force at an aware time.

        Where only later ones are kept it is the oldest of them: the document arrived after the answer that
        needs it, or an older version is not kept. It is a ``substitute`` where older ones were pruned. Those
        that the topic's compaction removed before this store read them (it is new, or was rebuilt) are not
        known of. None when the document was deleted or unreadable then, save for a deletion that was read
        late and lies between two records of equal content in another partition: that is passed over.
        """
        with _as_store_failed():
            return timeline.version_at(self._reader, document_id, at)

    def was_deleted(self, document_id: str, at: datetime) -> bool:
        """Say whether a document is known to have been deleted or unreadable at an aware time."""
        with _as_store_failed():
            return timeline.was_deleted(self._reader, document_id, at)

    @contextmanager
    def snapshot(self) -> Iterator[StoreSnapshot]:
        """Give the documents as the first look finds them, for reading many in a thread of one's own.

        It has a connection of its own: on a shared one, a statement that is being read keeps what others
        read at its own older state.
        """
        with _as_store_failed(), closing(connect(self._path)) as database:
            database.execute("BEGIN")
            yield StoreSnapshot(database)

    def __len__(self) -> int:
        with _as_store_failed():
            return timeline.count_current(self._reader)

    @property
    def next_offsets(self) -> Mapping[int, int]:
        """The offset to read next, by partition; empty for a store that has read nothing."""
        return dict(self._next_offsets)

    @property
    def unreadable_count(self) -> int:
        """How many documents are missing because their newest version could not be read."""
        count: int = self._fetch_one("SELECT count(*) FROM unreadable")[0]
        return count

    def has_unreadable_of_other_reader(self, reader_id: str) -> bool:
        """Say whether some of these were tried with another reader (see :attr:`schemas.Codec.reads`) only."""
        return self._fetch_one("SELECT 1 FROM unreadable WHERE reader <> ? LIMIT 1", reader_id) is not None

    @property
    def origin(self) -> TopicIdentity | None:
        """The topic that the documents came from, or None when the store is new."""
        row = self._fetch_one("SELECT cluster_id, topic, topic_id FROM origin")
        return TopicIdentity(*row) if row else None

    @property
    def age(self) -> float:
        """Seconds since the store was last known to miss nothing; negative when the clock went back."""
        row = self._fetch_one("SELECT complete_at FROM origin")
        return self._clock() - row[0] if row else 0.0

    def reset(self, origin: TopicIdentity) -> None:
        """Forget every document and offset, and begin a copy of ``origin``."""
        with self._transaction() as database:
            for table in ("versions", "unreadable", "forgotten", "next_offsets"):
                database.execute(f"DELETE FROM {table}")  # noqa: S608 - the names are ours
            # An empty store misses nothing that was deleted before now.
            database.execute(
                "INSERT OR REPLACE INTO origin VALUES (0, ?, ?, ?, ?)",
                (origin.cluster_id, origin.topic, origin.topic_id, self._clock()),
            )
        self._next_offsets = {}

    def mark_complete(self, complete_at: float) -> None:
        """Note that the store holds all that the topic held at ``complete_at`` (seconds since 1970)."""
        with self._transaction() as database:
            database.execute("UPDATE origin SET complete_at = ?", (complete_at,))

    def apply(self, changes: Sequence[DocumentChange], next_offsets: Mapping[int, int]) -> list[str]:
        """Take in a batch of changes and the offsets to read after it: both or, on failure, neither.

        Changes below the offset that the store had reached are skipped, so a batch that is
        delivered again changes nothing. None comes into force later than now, whatever its time.

        Returns:
            The ids of the documents that are now there or newer.
        """
        fresh = [change for change in changes if change.offset >= self._next_offsets.get(change.partition, 0)]
        ahead = {p: n for p, n in next_offsets.items() if n > self._next_offsets.get(p, -1)}
        now = int(self._clock() * 1000)
        with self._transaction() as database:
            for change in fresh:
                timeline.write(database, change, now)
            database.executemany(_SET_NEXT_OFFSET, ahead.items())
        self._next_offsets.update(ahead)
        return [change.document_id for change in fresh if change.document is not None]

    def prune(self, seconds: float, limit: int) -> int:
        """Forget versions that were superseded longer ago than this, the oldest first.

        The current versions, and what was in force within that time, stay, and so does the note that
        versions of a document were forgotten.

        Args:
            seconds: how long a version is kept after another took its place.
            limit: how many are forgotten at once, in one transaction.

        Returns:
            How many were forgotten; fewer than ``limit`` when that was all.
        """
        before = int((self._clock() - seconds) * 1000)
        with self._transaction() as database:
            return timeline.prune(database, before, limit)

    def _fetch_one(self, query: str, *parameters: str) -> Any:
        with _as_store_failed():
            return self._reader.execute(query, parameters).fetchone()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing, _as_store_failed():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")


@contextmanager
def _as_store_failed() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreFailed(error) from error


def rebuild_reason(store: DocumentStore, log: TopicSnapshot, max_age: float, reader_id: str) -> str | None:
    """Say in a stable code why the store must be built anew from the topic, or None to read on.

    Args:
        store: the copy as it was left.
        log: the topic as it is now.
        max_age: seconds. The broker keeps a tombstone for ``delete.retention.ms`` (a day, unless
            set) after the log's cleaning has reached it. A store that was last complete before
            that may have missed a tombstone for good, and would show a deleted document forever.
        reader_id: what values are read with now (:attr:`schemas.Codec.reads`). A rebuild forgets the past
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
        if at not in log.end_offsets or not log.beginning_offsets[at] <= offset <= log.end_offsets[at]:
            return "offset_out_of_range"
    if store.has_unreadable_of_other_reader(reader_id):
        return "unreadable_documents"
    return None
