"""The local copy of the documents topic with its offsets, and the reasons to rebuild it."""

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
from scoring.company_terms import CompanyTerms
from streams.documents.timeline import VersionTimeline
from streams.documents.versions import DocumentChange, VersionedDocument
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicSnapshot
from streams.observability.failures import InfrastructureFailure, exit_code
from streams.observability.instruments import Instruments, MetricLabel
from streams.storage.directory import lock_directory
from streams.storage.store_file import StoreFormat, connect, not_usable, open_store_file, transaction

SETTING = "documents.store"
DATABASE_NAME = "documents.sqlite3"
LAYOUT_VERSION = 2
_LOCK_NAME = "documents.lock"
_SCHEMA = """
CREATE TABLE versions (
    document_id TEXT NOT NULL,
    since INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    repeated INTEGER NOT NULL,
    until INTEGER,
    version TEXT,
    language TEXT,
    title TEXT,
    text TEXT,
    url TEXT,
    updated_at INTEGER,
    auto_send INTEGER
) STRICT;
CREATE UNIQUE INDEX versions_in_order ON versions (document_id, since, partition, "offset");
CREATE INDEX versions_current ON versions (document_id, partition, "offset", since, version, until)
    WHERE until IS NULL;
CREATE INDEX versions_superseded ON versions (until, since) WHERE until IS NOT NULL;
CREATE TABLE unreadable (
    document_id TEXT NOT NULL PRIMARY KEY,
    reader TEXT NOT NULL
) STRICT;
CREATE TABLE forgotten (
    document_id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE next_offsets (
    partition INTEGER NOT NULL PRIMARY KEY,
    next_offset INTEGER NOT NULL
) STRICT;
CREATE TABLE origin (
    only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 0),
    cluster_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    topic_id TEXT NOT NULL,
    complete_at REAL NOT NULL
) STRICT;
"""
_FORMAT = StoreFormat(
    setting=SETTING,
    application_id=0x74677464,  # "tgtd"
    layout=LAYOUT_VERSION,
    schema=_SCHEMA,
    # Can lose the last batches when the machine (not the process) dies, together with their offsets: they are
    # read again.
    pragmas=("synchronous = NORMAL",),
    # Fails for a text that is not UTF-8.
    content_check="SELECT document_id, version, language, title, text, url FROM versions",
)
_SET_NEXT_OFFSET = "INSERT OR REPLACE INTO next_offsets VALUES (?, ?)"


class StoreFailed(InfrastructureFailure):
    """The store cannot be read or written any more: its disk is full or missing, or the file is damaged."""

    def __init__(self, error: sqlite3.Error) -> None:
        reason = error_name(error)
        cause = "no space left" if reason == SQLITE_FULL else reason
        super().__init__(f"{SETTING}: the document store failed: {cause}", exit_code(error))


class DocumentStore:
    """The documents by id with their past versions, and the offsets to read next.

    Documents and offsets change in one transaction, so a process that is killed at any point leaves them
    consistent. :meth:`get` may be called while another thread is in :meth:`apply`. Reads and writes raise
    StoreFailed if the file cannot be read or written.

    Args:
        directory: created if missing; one process at a time may use it.
        clock: seconds since 1970.

    Raises:
        InvalidSettings: another worker uses the directory, it cannot be written, or the file in it cannot be
            read at the moment.
    """

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._writing = threading.Lock()
        self._lock = lock_directory(directory, _LOCK_NAME, SETTING)
        try:
            self._path = directory / DATABASE_NAME
            self._open()
        except BaseException:
            self._lock.close()
            raise

    def _open(self) -> None:
        self._writer = open_store_file(self._path, _FORMAT)
        try:
            self._reader = connect(self._path, _FORMAT)
            self._written, self._timeline = VersionTimeline(self._writer), VersionTimeline(self._reader)
            self._next_offsets: dict[int, int] = dict(self._writer.execute("SELECT * FROM next_offsets"))
            # In memory as well, since it is asked for with every answer.
            (self._complete_at,) = self._writer.execute("SELECT max(complete_at) FROM origin").fetchone()
        except sqlite3.Error as error:
            raise not_usable(self._path, error, SETTING) from error

    def close(self) -> None:
        """Close the file and release the directory. May be called twice."""
        with self._writing:
            self._reader.close()
            self._writer.close()
            self._lock.close()

    def get(self, document_id: str) -> VersionedDocument | None:
        """Return the current version of a document, or None if there is none."""
        with _as_store_failed():
            return self._timeline.get(document_id)

    def get_version(self, document_id: str, version: str) -> KnowledgeDocument | None:
        """Return a version of a document by its name, or None if the store does not have it."""
        with _as_store_failed():
            found = self._timeline.get_version(document_id, version)
        return found.document if found else None

    def version_at(self, document_id: str, at: datetime) -> VersionedDocument | None:
        """Return the version of a document that was in force at an aware time.

        If only later versions are stored, it is the oldest of them: the document arrived after the answer
        that needs it, or an older version is gone. It is marked as substitute if older versions were pruned;
        versions that compaction removed before this store read them (it is new or was rebuilt) are unknown.
        None if the document was deleted or unreadable at the time, except for a deletion that was read late
        and falls between two records of equal content in another partition, which is skipped.
        """
        with _as_store_failed():
            return self._timeline.version_at(document_id, at)

    def was_deleted(self, document_id: str, at: datetime) -> bool:
        """Return whether a document was verifiably deleted or unreadable at an aware time."""
        with _as_store_failed():
            return self._timeline.was_deleted(document_id, at)

    @contextmanager
    def snapshot(self) -> Iterator[VersionTimeline]:
        """Yield the documents as of the first read, for reading many in another thread; raises StoreFailed.

        It has its own connection: on a shared one, a statement in progress would keep other readers at its
        older state.
        """
        with _as_store_failed(), closing(connect(self._path, _FORMAT)) as database:
            database.execute("BEGIN")
            yield VersionTimeline(database)

    def share_changed(self, since: int) -> float:
        """Return the share of the documents that were added, changed or deleted after ``since``, in [0, 1].

        ``since`` is in milliseconds since 1970. May be called in another thread; raises StoreFailed.
        """
        with self.snapshot() as timeline:
            return timeline.share_changed(since)

    def __len__(self) -> int:
        with _as_store_failed():
            return len(self._timeline)

    @property
    def next_offsets(self) -> Mapping[int, int]:
        """The offset to read next by partition; empty for a new store."""
        return dict(self._next_offsets)

    @property
    def unreadable_count(self) -> int:
        """The number of documents that are missing because their newest version is unreadable."""
        count: int = self._fetch_one("SELECT count(*) FROM unreadable")[0]
        return count

    def has_unreadable_of_other_reader(self, reader_id: str) -> bool:
        """Return whether some of these were tried with other readers only (see ``Codec.reader_id``)."""
        return self._fetch_one("SELECT 1 FROM unreadable WHERE reader <> ? LIMIT 1", reader_id) is not None

    @property
    def origin(self) -> TopicIdentity | None:
        """The topic that the documents came from, or None for a new store."""
        row = self._fetch_one("SELECT cluster_id, topic, topic_id FROM origin")
        return TopicIdentity(*row) if row else None

    @property
    def age(self) -> float:
        """Seconds since the store was last complete; negative if the clock went back."""
        return 0.0 if self._complete_at is None else self._clock() - self._complete_at

    def reset(self, origin: TopicIdentity) -> None:
        """Delete every document and offset, and start a copy of ``origin``."""
        # An empty store misses no deletion from before now.
        complete_at = self._clock()
        with self._transaction() as database:
            for table in ("versions", "unreadable", "forgotten", "next_offsets"):
                database.execute(f"DELETE FROM {table}")  # noqa: S608 - the names are ours
            row = (origin.cluster_id, origin.topic, origin.topic_id, complete_at)
            database.execute("INSERT OR REPLACE INTO origin VALUES (0, ?, ?, ?, ?)", row)
        self._next_offsets, self._complete_at = {}, complete_at

    def mark_complete(self, complete_at: float) -> None:
        """Record that the store had everything that the topic had at ``complete_at`` (seconds since 1970)."""
        with self._transaction() as database:
            database.execute("UPDATE origin SET complete_at = ?", (complete_at,))
        self._complete_at = complete_at

    def apply(self, changes: Sequence[DocumentChange], next_offsets: Mapping[int, int]) -> list[str]:
        """Apply a batch of changes with the offsets to read next, in one transaction.

        Changes below the stored offset are skipped, so a repeated batch changes nothing. No change comes into
        force later than now, whatever its timestamp.

        Returns:
            The ids of the documents that were added or updated.
        """
        fresh = [change for change in changes if change.offset >= self._next_offsets.get(change.partition, 0)]
        ahead = {p: n for p, n in next_offsets.items() if n > self._next_offsets.get(p, -1)}
        now = int(self._clock() * 1000)
        with self._transaction() as database:
            for change in fresh:
                self._written.write(change, now)
            database.executemany(_SET_NEXT_OFFSET, ahead.items())
        self._next_offsets.update(ahead)
        return [change.document_id for change in fresh if change.document is not None]

    def prune(self, seconds: float, limit: int) -> int:
        """Delete versions that were superseded longer ago than ``seconds``, the oldest first.

        Current versions, versions in force within that time, and the marks of pruned documents stay.
        The deletion is one transaction.

        Returns:
            The number of deleted versions; fewer than ``limit`` when none are left.
        """
        before = int((self._clock() - seconds) * 1000)
        with self._transaction():
            return self._written.prune(before, limit)

    def _fetch_one(self, query: str, *parameters: str) -> Any:
        with _as_store_failed():
            return self._reader.execute(query, parameters).fetchone()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._writing, _as_store_failed(), transaction(self._writer) as writer:
            yield writer


@contextmanager
def _as_store_failed() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreFailed(error) from error


def rebuild_reason(store: DocumentStore, log: TopicSnapshot, max_age: float, reader_id: str) -> str | None:
    """Return a stable code for why the store must be rebuilt from the topic, or None to read on.

    Args:
        store: the copy as it was left.
        log: the topic as it is now.
        max_age: seconds. The broker keeps a tombstone for ``delete.retention.ms`` (by default a day) after
            compaction has reached it. A store that was last complete before that may have missed a tombstone
            for good, and would show a deleted document forever.
        reader_id: what values are read with now (:attr:`schemas.Codec.reader_id`). A rebuild loses the past
            versions that compaction has removed from the topic, and writes the dead letters again. So an
            unreadable document justifies one only if another release, or other settings, may read it.
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
        # Beyond the end: another log was read. Before the beginning: records were never read.
        if at not in log.end_offsets or not log.beginning_offsets[at] <= offset <= log.end_offsets[at]:
            return "offset_out_of_range"
    if store.has_unreadable_of_other_reader(reader_id):
        return "unreadable_documents"
    return None


class DocumentMetrics:
    """Metrics of the document store and the company's terms."""

    def __init__(self, instruments: Instruments) -> None:
        self.stored = instruments.gauge(
            "truthgate.documents",
            "Documents in the local store.",
            "A fall: tombstones on the documents topic; the log line `documents_store_rebuilt`.",
            unit="{document}",
        )
        self.bad = instruments.counter(
            "truthgate.bad_documents",
            "Records of the documents topic without a usable document.",
            "The log line `bad_document`; the dead letters; the publisher of the documents.",
            unit="{document}",
        )
        self._terms = instruments.gauge(
            "truthgate.company_terms",
            "Company terms.",
            "None: fewer than 20 documents.",
            MetricLabel("language"),
            unit="{term}",
        )
        self.terms_age = instruments.gauge(
            "truthgate.company_terms_age",
            "Time since the company terms last agreed with the documents or their file.",
            "The log line `company_terms_failed`.",
            unit="s",
        )
        self.terms_failures = instruments.counter(
            "truthgate.company_terms_failures",
            "Failures to build or read the company terms.",
            "The log line `company_terms_failed`; `company_terms.file`.",
        )

    def show_terms(self, terms: CompanyTerms) -> None:
        """Set the number of terms of each language."""
        self._terms.replace({(code,): len(found.counts) for code, found in terms.languages.items()})
