"""The versions of each document in the order in which they were in force, as rows of one SQLite table.

A version is in force from its record's timestamp until that of the next record of its key. The record's
timestamp counts, not the document's ``updated_at``: whoever rolls back to an older text publishes it with the
older ``updated_at`` again. Columns (times in milliseconds since 1970):

- ``since``: when the version came into force. Within a partition it never decreases, whichever clock stamped
  the records, and it is never later than the time of reading: otherwise a clock that is ahead, or counts in
  microseconds, would keep later records from ever coming into force.
- ``repeated``: the time of the last consecutive record of this partition with the same content.
- ``until``: when the next record superseded it; NULL for the current version. A deletion without a later
  record has its own time here, because it is not a version.
- ``version`` and the content: NULL for a deletion, and for a document that cannot be read.

Across partitions, when a key moves because partitions were added, ``since`` decides, then the higher
partition. So the order of reading does not matter, except for records with a future timestamp. One limit: a
record that is read late and falls between two records of equal content in another partition is skipped, even
a deletion: the document then counts as present in between.

``forgotten`` has the ids of documents with pruned versions. Versions that compaction removed before they
were read leave no trace: gaps between offsets are normal.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from schemas.records import KnowledgeDocument
from streams.documents.versions import DocumentChange, DocumentVersion, VersionedDocument, version_name

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MILLISECOND = timedelta(milliseconds=1)

_CURRENT = "SELECT * FROM versions WHERE document_id = ? AND until IS NULL"
_BY_VERSION = "SELECT * FROM versions WHERE document_id = ? AND version = ? LIMIT 1"
_AT = """
SELECT * FROM versions WHERE document_id = ? AND since <= ?
ORDER BY since DESC, partition DESC, "offset" DESC LIMIT 1
"""
_OLDEST = """
SELECT * FROM versions WHERE document_id = ? AND version IS NOT NULL
ORDER BY since, partition, "offset" LIMIT 1
"""
_ALL_CURRENT = 'SELECT document_id, partition, "offset", since, version FROM versions WHERE until IS NULL'
_COUNT_CHANGED = "SELECT count(DISTINCT document_id) FROM versions WHERE since > ?"
_COUNT = "SELECT count(*) FROM versions WHERE until IS NULL"

# The plus prevents SQLite from sorting what the index already has in order.
_LAST_OF_PARTITION = """
SELECT repeated FROM versions WHERE document_id = ? AND +partition = ?
ORDER BY since DESC, partition DESC, "offset" DESC LIMIT 1
"""
_BEFORE = """
SELECT rowid, partition, repeated, version FROM versions
WHERE document_id = ? AND (since, partition, "offset") < (?, ?, ?)
ORDER BY since DESC, partition DESC, "offset" DESC LIMIT 1
"""
_AFTER = """
SELECT since FROM versions WHERE document_id = ? AND (since, partition, "offset") > (?, ?, ?)
ORDER BY since, partition, "offset" LIMIT 1
"""
_INSERT = "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SUPERSEDE = "UPDATE versions SET until = ? WHERE rowid = ?"
_REPEAT = "UPDATE versions SET repeated = ?, url = ?, updated_at = ? WHERE rowid = ?"
_NEWEST_TIME = """
SELECT repeated FROM versions WHERE document_id = ?
ORDER BY since DESC, partition DESC, "offset" DESC LIMIT 1
"""
_PULL_BACK = """
UPDATE versions SET since = min(since, :now), repeated = min(repeated, :now), until = min(until, :now)
WHERE document_id = :id AND (since > :now OR repeated > :now)
"""
_NOTE_UNREADABLE = "INSERT OR REPLACE INTO unreadable VALUES (?, ?)"
_FORGET_UNREADABLE = "DELETE FROM unreadable WHERE document_id = ?"
# The oldest first: otherwise a deletion could be removed before the version that it deleted.
_PRUNE = (
    "DELETE FROM versions WHERE rowid IN"
    " (SELECT rowid FROM versions WHERE until < ? ORDER BY until, since LIMIT ?)"
    " RETURNING document_id"
)
_NOTE_FORGOTTEN = "INSERT OR IGNORE INTO forgotten VALUES (?)"
_IS_FORGOTTEN = "SELECT 1 FROM forgotten WHERE document_id = ?"

_RowKey: TypeAlias = tuple[str, int, int, int]  # document_id, since, partition, offset


class _PrecedingRow(NamedTuple):
    """The row before a position in the order."""

    rowid: int
    partition: int
    repeated: int
    version: str | None


class VersionTimeline:
    """The table of versions behind one connection; raises sqlite3.Error if the file cannot be used."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def get(self, document_id: str) -> VersionedDocument | None:
        """Return the current version of a document, or None if there is none."""
        row = self._database.execute(_CURRENT, (document_id,)).fetchone()
        return _from_row(row) if row else None

    def get_version(self, document_id: str, version: str) -> VersionedDocument | None:
        """Return a version of a document by its name, or None if it is not stored."""
        row = self._database.execute(_BY_VERSION, (document_id, version)).fetchone()
        return _from_row(row) if row else None

    def versions(self) -> dict[str, DocumentVersion]:
        """Return the current version of every document by its id."""
        return {
            document_id: DocumentVersion(*version)
            for document_id, *version in self._database.execute(_ALL_CURRENT)
        }

    def __len__(self) -> int:
        count: int = self._database.execute(_COUNT).fetchone()[0]
        return count

    def share_changed(self, since: int) -> float:
        """Return the share of the documents that have a version or a deletion from after ``since``.

        A document that is published again unchanged counts once compaction has removed its earlier record
        before this store read it.
        """
        changed: int = self._database.execute(_COUNT_CHANGED, (since,)).fetchone()[0]
        return changed / max(changed, len(self), 1)

    def version_at(self, document_id: str, at: datetime) -> VersionedDocument | None:
        """Return the version of a document that was in force at an aware time.

        If every stored record is later, it is the oldest stored version, a substitute if older ones
        were pruned. None if the document was deleted or unreadable at the time, or is unknown.
        """
        if row := self._row_at(document_id, at):
            return _from_row(row)
        row = self._database.execute(_OLDEST, (document_id,)).fetchone()
        oldest = _from_row(row) if row else None
        if oldest and self._database.execute(_IS_FORGOTTEN, (document_id,)).fetchone():
            return replace(oldest, is_substitute=True)
        return oldest

    def was_deleted(self, document_id: str, at: datetime) -> bool:
        """Return whether a document was verifiably deleted or unreadable at an aware time."""
        row = self._row_at(document_id, at)
        return row is not None and _from_row(row) is None

    def write(self, change: DocumentChange, now: int) -> None:
        """Insert one record, read at ``now`` (milliseconds since 1970), into the order of versions."""
        place = (change.document_id, self._since(change, now), change.partition, change.offset)
        found = self._database.execute(_BEFORE, place).fetchone()
        before = _PrecedingRow(*found) if found else None
        if before and (before.repeated, before.partition) > place[1:3]:
            return
        later = self._database.execute(_AFTER, place).fetchone()
        if later is None and change.unreadable:
            self._database.execute(_NOTE_UNREADABLE, (change.document_id, change.reader_id))
        elif later is None:
            self._database.execute(_FORGET_UNREADABLE, (change.document_id,))
        self._insert(change, place, before, later[0] if later else None)

    def prune(self, before: int, limit: int) -> int:
        """Delete up to ``limit`` versions that were superseded before a time; returns their number."""
        forgotten = self._database.execute(_PRUNE, (before, limit)).fetchall()
        self._database.executemany(_NOTE_FORGOTTEN, forgotten)
        return len(forgotten)

    def _row_at(self, document_id: str, at: datetime) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._database.execute(
            _AT, (document_id, (at - _EPOCH) // _MILLISECOND)
        ).fetchone()
        return row

    def _since(self, change: DocumentChange, now: int) -> int:
        newest = self._database.execute(_NEWEST_TIME, (change.document_id,)).fetchone()
        if newest and newest[0] > now:  # stored while this worker's clock was ahead
            self._database.execute(_PULL_BACK, {"id": change.document_id, "now": now})
        since = min(change.timestamp, now)
        last = self._database.execute(_LAST_OF_PARTITION, (change.document_id, change.partition)).fetchone()
        return max(since, last[0]) if last else since

    def _insert(
        self, change: DocumentChange, key: _RowKey, before: _PrecedingRow | None, later: int | None
    ) -> None:
        since, document = key[1], change.document
        name = version_name(document) if document else None
        if before and (before.partition, before.version) == (change.partition, name):
            self._database.execute(_REPEAT, (since, *_unversioned_values(document), before.rowid))
            return
        if before:
            self._database.execute(_SUPERSEDE, (since, before.rowid))
        until = later if document or later is not None else since
        self._database.execute(_INSERT, (*key, since, until, name, *_content(document)))


def _content(document: KnowledgeDocument | None) -> tuple[Any, ...]:
    if document is None:
        return (None,) * 6
    unversioned = _unversioned_values(document)
    return (document.language, document.title, document.text, *unversioned, document.auto_send)


def _unversioned_values(document: KnowledgeDocument | None) -> tuple[str | None, int | None]:
    """Return what a version's name does not cover: the URL and the time, in microseconds since 1970."""
    if document is None:
        return None, None
    return document.url, (document.updated_at - _EPOCH) // _MICROSECOND


def _from_row(row: Sequence[Any]) -> VersionedDocument | None:
    document_id, _, _, _, _, _, version, language, title, text, url, updated_at, auto_send = row
    if version is None:
        return None
    updated = _EPOCH + updated_at * _MICROSECOND
    document = KnowledgeDocument(document_id, language, title, text, updated, url, bool(auto_send))
    return VersionedDocument(document, version)
