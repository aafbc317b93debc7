"""The versions of each document in the order in which they were in force, as rows of one SQLite table.

A version is in force from its record's timestamp until that of the next record of its key. The
record's timestamp counts, not the document's ``updated_at``: who rolls back to an older text publishes
it with the older ``updated_at`` again. A row holds (times in milliseconds since 1970):

- ``since``: when the version came into force. Within a partition no record is earlier than the one
  before it, whatever clock stamped it, and none is later than the time at which it was read: a clock that
  is ahead, or counts in microseconds, would otherwise keep what follows from ever coming into force.
- ``repeated``: the time of the last record, in a row of them in this partition, that had the same content.
- ``until``: when the next record took its place; NULL for the version that is current. That of a
  deletion that is the last record is its own time, because it is nobody's version.
- ``version`` and the content: NULL for a deletion, and for a document that cannot be read.

Between partitions, where a key moves when partitions are added, ``since`` decides, and then the higher
partition, so that the order of reading does not matter, save for records with a time still to come. One
thing is not kept: a record that is read late, and lies between two records of equal content in another
partition, is passed over, even a deletion: the document then counts as there between the two.

Where versions were pruned, ``forgotten`` has the document's id. What the topic's compaction removed before
it was read leaves no trace: gaps between offsets are normal.
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
_COUNT = "SELECT count(*) FROM versions WHERE until IS NULL"

# The plus keeps SQLite from sorting what the index has in order.
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
# The older first: else a deletion could go before the version that it deleted.
_PRUNE = (
    "DELETE FROM versions WHERE rowid IN"
    " (SELECT rowid FROM versions WHERE until < ? ORDER BY until, since LIMIT ?)"
    " RETURNING document_id"
)
_NOTE_FORGOTTEN = "INSERT OR IGNORE INTO forgotten VALUES (?)"
_IS_FORGOTTEN = "SELECT 1 FROM forgotten WHERE document_id = ?"

_RowKey: TypeAlias = tuple[str, int, int, int]  # document_id, since, partition, offset


class _PrecedingRow(NamedTuple):
    """The row before a place."""

    rowid: int
    partition: int
    repeated: int
    version: str | None


def current(database: sqlite3.Connection, document_id: str) -> VersionedDocument | None:
    """Return the newest version of a document, or None when there is none."""
    row = database.execute(_CURRENT, (document_id,)).fetchone()
    return _from_row(row) if row else None


def get_version(database: sqlite3.Connection, document_id: str, version: str) -> VersionedDocument | None:
    """Return a version of a document by its name, or None where it is not kept."""
    row = database.execute(_BY_VERSION, (document_id, version)).fetchone()
    return _from_row(row) if row else None


def current_versions(database: sqlite3.Connection) -> dict[str, DocumentVersion]:
    """Return the newest version of every document by its id."""
    return {
        document_id: DocumentVersion(*version) for document_id, *version in database.execute(_ALL_CURRENT)
    }


def count_current(database: sqlite3.Connection) -> int:
    """Return how many documents there are now."""
    count: int = database.execute(_COUNT).fetchone()[0]
    return count


def version_at(database: sqlite3.Connection, document_id: str, at: datetime) -> VersionedDocument | None:
    """Return the version of a document that was in force at an aware time.

    Where every kept record is later, that is the oldest version kept; it is a ``substitute`` where older
    ones were pruned. None when the document was deleted or unreadable then, or is not known.
    """
    if row := _row_at(database, document_id, at):
        return _from_row(row)
    row = database.execute(_OLDEST, (document_id,)).fetchone()
    oldest = _from_row(row) if row else None
    if oldest and database.execute(_IS_FORGOTTEN, (document_id,)).fetchone():
        return replace(oldest, is_substitute=True)
    return oldest


def was_deleted(database: sqlite3.Connection, document_id: str, at: datetime) -> bool:
    """Say whether a document is known to have been deleted or unreadable at an aware time."""
    row = _row_at(database, document_id, at)
    return row is not None and _from_row(row) is None


def write(database: sqlite3.Connection, change: DocumentChange, now: int) -> None:
    """Put one record, read at ``now`` (milliseconds since 1970), into its place in the order."""
    place = (change.document_id, _since(database, change, now), change.partition, change.offset)
    found = database.execute(_BEFORE, place).fetchone()
    before = _PrecedingRow(*found) if found else None
    if before and (before.repeated, before.partition) > place[1:3]:
        return
    later = database.execute(_AFTER, place).fetchone()
    if later is None:
        _note_unreadable(database, change)
    _insert(database, change, place, before, later[0] if later else None)


def prune(database: sqlite3.Connection, before: int, limit: int) -> int:
    """Forget versions that were superseded before a time, ``most`` at once; returns how many."""
    forgotten = database.execute(_PRUNE, (before, limit)).fetchall()
    database.executemany(_NOTE_FORGOTTEN, forgotten)
    return len(forgotten)


def _row_at(database: sqlite3.Connection, document_id: str, at: datetime) -> tuple[Any, ...] | None:
    row: tuple[Any, ...] | None = database.execute(
        _AT, (document_id, (at - _EPOCH) // _MILLISECOND)
    ).fetchone()
    return row


def _since(database: sqlite3.Connection, change: DocumentChange, now: int) -> int:
    newest = database.execute(_NEWEST_TIME, (change.document_id,)).fetchone()
    if newest and newest[0] > now:  # stored while the worker's own clock was ahead
        database.execute(_PULL_BACK, {"id": change.document_id, "now": now})
    since = min(change.timestamp, now)
    last = database.execute(_LAST_OF_PARTITION, (change.document_id, change.partition)).fetchone()
    return max(since, last[0]) if last else since


def _insert(
    database: sqlite3.Connection,
    change: DocumentChange,
    key: _RowKey,
    before: _PrecedingRow | None,
    later: int | None,
) -> None:
    since, document = key[1], change.document
    name = version_name(document) if document else None
    if before and (before.partition, before.version) == (change.partition, name):
        database.execute(_REPEAT, (since, *_unversioned_values(document), before.rowid))
        return
    if before:
        database.execute(_SUPERSEDE, (since, before.rowid))
    until = later if document or later is not None else since
    database.execute(_INSERT, (*key, since, until, name, *_content(document)))


def _note_unreadable(database: sqlite3.Connection, change: DocumentChange) -> None:
    if change.unreadable:
        database.execute(_NOTE_UNREADABLE, (change.document_id, change.reader_id))
    else:
        database.execute(_FORGET_UNREADABLE, (change.document_id,))


def _content(document: KnowledgeDocument | None) -> tuple[Any, ...]:
    if document is None:
        return (None,) * 6
    unversioned = _unversioned_values(document)
    return (document.language, document.title, document.text, *unversioned, document.auto_send)


def _unversioned_values(document: KnowledgeDocument | None) -> tuple[str | None, int | None]:
    """Give what is no part of a version's name: the address and the time, in microseconds since 1970."""
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
