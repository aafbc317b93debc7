"""The SQLite file of the document store, and the lock of its directory."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

import structlog

from scoring.cache.shared_database import error_name, is_corruption, try_lock
from streams.observability.failures import EXIT_UNREACHABLE, InfrastructureFailure, exit_code
from streams.settings import InvalidSettings


def lock_directory(directory: Path, name: str, setting: str) -> IO[bytes]:
    """Create a directory and lock it; the returned file holds the lock until it is closed.

    The kernel releases the lock when the process ends, in whatever way, so none is left behind.

    Args:
        directory: created if missing.
        name: the file in it that is locked.
        setting: the setting of the directory, for messages.

    Raises:
        InvalidSettings: another worker holds the lock, or the directory cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / name).open("ab")
    except OSError as error:
        raise InvalidSettings(f"{setting}: cannot write to {directory}: {error.strerror}") from error
    try:
        if try_lock(lock):
            return lock
    except OSError as error:
        lock.close()
        raise InvalidSettings(f"{setting}: cannot lock a file in {directory}: {error.strerror}") from error
    lock.close()
    raise InvalidSettings(
        f"{setting}: {directory} is in use by another worker; give each worker its own directory"
    )


def check_writable(directory: Path, setting: str) -> None:
    """Check that a directory can be created, or written to with all that is in it; leave nothing there.

    Args:
        directory: which a worker creates if it is missing.
        setting: the setting of the directory, for messages.

    Raises:
        InvalidSettings: something in it cannot be read or written, or it cannot be created.
        InfrastructureFailure: its disk is full.
    """
    # A link that leads nowhere exists too: no directory can be created in its place.
    existing = next(each for each in (directory, *directory.absolute().parents) if os.path.lexists(each))
    try:
        with TemporaryFile(dir=existing) as file:
            file.write(b"x")
    except OSError as error:
        if exit_code(error) == EXIT_UNREACHABLE:
            raise _no_space(setting, existing) from error
        raise InvalidSettings(f"{setting}: cannot write to {directory}: {error.strerror}") from error
    for path in directory.rglob("*"):
        if not os.access(path, os.R_OK | os.W_OK, effective_ids=True):
            raise InvalidSettings(f"{setting}: cannot write to {path}: it belongs to another user")


APPLICATION_ID = 0x74677464  # "tgtd", marks the file as ours in SQLite's header
LAYOUT_VERSION = 2  # raise it with every change of SCHEMA: files with another version are rebuilt

DATABASE_NAME = "documents.sqlite3"
LOCK_NAME = "documents.lock"
SETTING = "documents.store"

SCHEMA = f"""
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
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {LAYOUT_VERSION};
"""

log = structlog.get_logger(__name__)


def prepare_database(directory: Path) -> Path:
    """Ensure that ``directory`` has a valid database of this layout, and return its path.

    A file that is damaged, foreign or of another layout is set aside and replaced by an empty one: the topic
    has everything that was in it except past versions. A file that is only unreadable at the moment, e.g.
    with a full disk, stays. The caller holds the directory's lock.

    Raises:
        InvalidSettings: the database cannot be read or created.
        InfrastructureFailure: its disk is full.
    """
    path = directory / DATABASE_NAME
    try:
        if path.exists() and (fault := _find_fault(path)):
            _set_aside(path)
            log.warning("documents_store_set_aside", path=str(path), reason=fault)
        if not path.exists():
            _create(path)
    except (OSError, sqlite3.Error) as error:
        raise not_usable(path, error) from error
    return path


def not_usable(path: Path, error: OSError | sqlite3.Error) -> InvalidSettings | InfrastructureFailure:
    """Return the error for a database that cannot be opened or created."""
    if exit_code(error) == EXIT_UNREACHABLE:
        return _no_space(SETTING, path.parent)
    reason = error_name(error) if isinstance(error, sqlite3.Error) else error.strerror
    return InvalidSettings(f"{SETTING}: cannot open or create {path}: {reason}")


def _no_space(setting: str, directory: Path) -> InfrastructureFailure:
    return InfrastructureFailure(f"{setting}: no space left on {directory}", EXIT_UNREACHABLE)


def connect(path: Path) -> sqlite3.Connection:
    """Open the database for use in several threads; SQLite serialises the calls.

    WAL lets readers continue while a batch is written. ``synchronous=NORMAL`` can lose the last batches when
    the machine (not the process) dies, together with their offsets: they are read again.
    """
    connection = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Commit what is done in the context, or nothing of it, also if the commit itself fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _find_fault(path: Path) -> str | None:
    """Return the fault of an existing file, or None; raises sqlite3.Error if that cannot be determined."""
    if path.stat().st_size == 0:
        return "empty"
    try:
        # Not with connect(), which would switch a foreign database to WAL.
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            return _fault_of_database(connection)
    except sqlite3.DatabaseError as error:
        if not is_corruption(error):
            raise
        return error_name(error)


def _fault_of_database(connection: sqlite3.Connection) -> str | None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        return "foreign"
    if connection.execute("PRAGMA user_version").fetchone()[0] != LAYOUT_VERSION:
        return "another_layout"
    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        return "damaged"
    for _ in connection.execute("SELECT document_id, version, language, title, text, url FROM versions"):
        pass  # raises for a text that is not UTF-8, which SQLite's own check does not detect
    return None


def _set_aside(path: Path) -> None:
    # Renamed, not deleted: a wrong setting may point to another application's database.
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        file = path.with_name(name)
        if file.exists():
            file.replace(path.with_name(f"{name}.set-aside"))


def _create(path: Path) -> None:
    # Created under another name: a killed process leaves no incomplete database behind.
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
        connection.executescript(f"BEGIN; {SCHEMA} COMMIT;")
    unfinished.replace(path)
