"""A local copy of the documents topic, with the offsets up to which it holds, in one SQLite file."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from schemas.records import KnowledgeDocument
from streams.enrichment.store_file import SETTING, connect, error_name, lock_directory, prepare_database
from streams.errors import EXIT_SOFTWARE, InfrastructureFailure

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_SELECT = (
    'SELECT document_id, language, title, text, url, updated_at, partition, "offset"'
    " FROM documents WHERE document_id = ?"
)
# A key moves to another partition when partitions are added, and its old record stays behind in
# the old one: there the record's time decides. Within a partition the later record always wins.
_UPSERT = """
INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (document_id) DO UPDATE SET
    language = excluded.language, title = excluded.title, text = excluded.text, url = excluded.url,
    updated_at = excluded.updated_at, partition = excluded.partition, "offset" = excluded."offset",
    timestamp = excluded.timestamp
WHERE excluded.partition = documents.partition OR excluded.timestamp >= documents.timestamp
"""
_VERSIONS = 'SELECT document_id, partition, "offset", timestamp FROM documents'
_DELETE = "DELETE FROM documents WHERE document_id = ? AND (partition = ? OR timestamp <= ?)"
_NOTE_UNREADABLE = "INSERT OR IGNORE INTO unreadable VALUES (?)"
_FORGET_UNREADABLE = "DELETE FROM unreadable WHERE document_id = ?"
_SET_NEXT_OFFSET = "INSERT OR REPLACE INTO next_offsets VALUES (?, ?)"


class StoreFailed(InfrastructureFailure):
    """The store cannot be read or written any more: its disk is full, gone or damaged."""

    def __init__(self, error: sqlite3.Error) -> None:
        super().__init__(f"{SETTING}: the store of documents failed: {error_name(error)}", EXIT_SOFTWARE)


@dataclass(frozen=True, slots=True)
class Origin:
    """The topic that a store is a copy of. ``topic_id`` is empty where the broker tells none."""

    cluster_id: str
    topic: str
    topic_id: str

    def is_same(self, other: Origin) -> bool:
        """Whether both are one topic, as far as they tell: while brokers are upgraded only some tell ids."""
        if (self.cluster_id, self.topic) != (other.cluster_id, other.topic):
            return False
        return not (self.topic_id and other.topic_id) or self.topic_id == other.topic_id


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document and its version: the place in the topic that it came from."""

    document: KnowledgeDocument
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Version:
    """The record that a document came from; another version of it has another."""

    partition: int
    offset: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class Change:
    """One record of the topic: the new document of an id, or None when there is none any more.

    ``timestamp`` is the record's, in milliseconds since 1970. ``unreadable`` says that there is a
    document, but not one that this worker can read.
    """

    document_id: str
    document: KnowledgeDocument | None
    partition: int
    offset: int
    timestamp: int
    unreadable: bool = False


class Snapshot:
    """The documents at one moment. Raises sqlite3.Error where the file cannot be read."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def versions(self) -> dict[str, Version]:
        """Return the version of every document by its id."""
        return {document_id: Version(*place) for document_id, *place in self._database.execute(_VERSIONS)}

    def get(self, document_id: str) -> StoredDocument | None:
        """Return a document, or None when there is none."""
        row = self._database.execute(_SELECT, (document_id,)).fetchone()
        return _stored(*row) if row else None


class DocumentStore:
    """The documents by id, and where to read on.

    Documents and next offsets change in one transaction, so a process that is killed at any point
    leaves them in step. :meth:`get` may be called while another thread is in :meth:`apply`.

    Args:
        directory: made when it is not there; one process at a time may use it.
        clock: seconds since 1970.

    Raises:
        StoreNotUsable: the directory is in use by another worker or cannot be written.
    """

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._writing = threading.Lock()
        self._lock = lock_directory(directory)
        try:
            self._path = prepare_database(directory)
            self._writer, self._reader = connect(self._path), connect(self._path)
        except BaseException:
            self._lock.close()
            raise
        self._next_offsets: dict[int, int] = dict(self._writer.execute("SELECT * FROM next_offsets"))

    def close(self) -> None:
        """Close the file and give the directory free. May be called twice."""
        with self._writing:
            self._reader.close()
            self._writer.close()
            self._lock.close()

    def get(self, document_id: str) -> StoredDocument | None:
        """Return the newest version of a document, or None when there is none.

        Raises:
            StoreFailed: the file cannot be read.
        """
        try:
            row = self._reader.execute(_SELECT, (document_id,)).fetchone()
        except sqlite3.Error as error:
            raise StoreFailed(error) from error
        return _stored(*row) if row else None

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Give the documents as the first look finds them, for reading many in a thread of one's own.

        It has a connection of its own: on a shared one, a statement that is being read keeps what others
        read at its own older state.

        Raises:
            StoreFailed: the file cannot be read.
        """
        try:
            with closing(connect(self._path)) as database:
                database.execute("BEGIN")
                yield Snapshot(database)
        except sqlite3.Error as error:
            raise StoreFailed(error) from error

    def __len__(self) -> int:
        count: int = self._reader.execute("SELECT count(*) FROM documents").fetchone()[0]
        return count

    @property
    def next_offsets(self) -> Mapping[int, int]:
        """The offset to read next, by partition; empty for a store that has read nothing."""
        return dict(self._next_offsets)

    @property
    def unreadable(self) -> int:
        """How many documents are missing because their newest version could not be read."""
        count: int = self._reader.execute("SELECT count(*) FROM unreadable").fetchone()[0]
        return count

    @property
    def origin(self) -> Origin | None:
        """The topic that the documents came from, or None when the store is new."""
        row = self._reader.execute("SELECT cluster_id, topic, topic_id FROM origin").fetchone()
        return Origin(*row) if row else None

    @property
    def age(self) -> float:
        """Seconds since the store was last known to miss nothing; negative when the clock went back."""
        row = self._reader.execute("SELECT complete_at FROM origin").fetchone()
        return self._clock() - row[0] if row else 0.0

    def reset(self, origin: Origin) -> None:
        """Forget every document and offset, and begin a copy of ``origin``."""
        with self._transaction() as database:
            database.execute("DELETE FROM documents")
            database.execute("DELETE FROM unreadable")
            database.execute("DELETE FROM next_offsets")
            # An empty store misses nothing that was deleted before now.
            database.execute(
                "INSERT OR REPLACE INTO origin VALUES (0, ?, ?, ?, ?)",
                (origin.cluster_id, origin.topic, origin.topic_id, self._clock()),
            )
        self._next_offsets = {}

    def confirm(self, complete_at: float) -> None:
        """Note that the store holds all that the topic held at ``complete_at`` (seconds since 1970)."""
        with self._transaction() as database:
            database.execute("UPDATE origin SET complete_at = ?", (complete_at,))

    def apply(self, changes: Sequence[Change], next_offsets: Mapping[int, int]) -> list[str]:
        """Take in a batch of changes and the offsets to read after it: both or, on failure, neither.

        Changes below the offset that the store had reached are skipped, so a batch that is
        delivered again changes nothing.

        Returns:
            The ids of the documents that are now there or newer.

        Raises:
            StoreFailed: the file cannot be written.
        """
        fresh = [change for change in changes if change.offset >= self._next_offsets.get(change.partition, 0)]
        ahead = {p: n for p, n in next_offsets.items() if n > self._next_offsets.get(p, -1)}
        with self._transaction() as database:
            for change in fresh:
                _write(database, change)
            database.executemany(_SET_NEXT_OFFSET, ahead.items())
        self._next_offsets.update(ahead)
        return [change.document_id for change in fresh if change.document is not None]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                try:
                    yield self._writer
                    self._writer.execute("COMMIT")
                finally:
                    if self._writer.in_transaction:
                        self._writer.execute("ROLLBACK")
            except sqlite3.Error as error:
                raise StoreFailed(error) from error


def _write(database: sqlite3.Connection, change: Change) -> None:
    document = change.document
    database.execute(_NOTE_UNREADABLE if change.unreadable else _FORGET_UNREADABLE, (change.document_id,))
    if document is None:
        database.execute(_DELETE, (change.document_id, change.partition, change.timestamp))
        return
    database.execute(
        _UPSERT,
        (
            change.document_id,
            document.language,
            document.title,
            document.text,
            document.url,
            (document.updated_at - _EPOCH) // _MICROSECOND,
            change.partition,
            change.offset,
            change.timestamp,
        ),
    )


def _stored(
    document_id: str,
    language: str,
    title: str,
    text: str,
    url: str | None,
    updated_at: int,
    partition: int,
    offset: int,
) -> StoredDocument:
    updated = _EPOCH + updated_at * _MICROSECOND
    return StoredDocument(
        KnowledgeDocument(document_id, language, title, text, updated, url), partition, offset
    )
