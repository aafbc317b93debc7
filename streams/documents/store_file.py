"""The SQLite file of the documents store, and the lock of its directory."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import IO

import structlog

from scoring.cache.shared_database import SQLITE_FULL, error_name, is_corruption
from scoring.cache.shared_files import try_lock
from streams.settings import InvalidSettings


def lock_directory(directory: Path, name: str, setting: str) -> IO[bytes]:
    """Create ``directory`` and take its lock, which the returned file holds until it is closed.

    The kernel drops the lock with the process, however that ends, so none can be left behind.

    Args:
        directory: made when it is not there.
        name: of the file in it that is locked.
        setting: what names the directory, for the message.

    Raises:
        InvalidSettings: in one line: another worker holds the lock, or the directory cannot be written.
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
        f"{setting}: {directory} is in use by another worker; give each worker a directory of its own"
    )


APPLICATION_ID = 0x74677464  # "tgtd", marks the file as ours in SQLite's header
LAYOUT_VERSION = 2  # raise it with every change of SCHEMA: older files are then built anew

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
    """Leave a sound database of this layout in ``directory`` and return its path.

    A file that is damaged, foreign or of another layout is set aside, and an empty one made: the
    topic has everything that was in it but past versions. One that only cannot be read at the moment, as
    with a full disk, stays where it is. The caller holds the directory's lock.

    Raises:
        InvalidSettings: the database cannot be read or created.
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


def not_usable(path: Path, error: OSError | sqlite3.Error) -> InvalidSettings:
    """Say in one line that the database cannot be opened or made, and why."""
    reason = error_name(error) if isinstance(error, sqlite3.Error) else error.strerror
    if reason == SQLITE_FULL:
        return InvalidSettings(f"{SETTING}: no space left on {path.parent}")
    return InvalidSettings(f"{SETTING}: cannot open or make {path}: {reason}")


def connect(path: Path) -> sqlite3.Connection:
    """Open the database for use in more than one thread; SQLite itself serialises the calls.

    WAL lets readers go on while a batch is written. ``synchronous=NORMAL`` can lose the last
    batches when the machine (not the process) dies, and then the offsets that go with them: they
    are read again.
    """
    connection = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _find_fault(path: Path) -> str | None:
    """Say what is wrong with an existing file, or None; raises sqlite3.Error where that cannot be told."""
    if path.stat().st_size == 0:
        return "empty"
    try:
        # Not by connect(): that would turn a foreign database to WAL.
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
        pass  # a text that is no UTF-8 any more raises, which SQLite's own check does not see
    return None


def _set_aside(path: Path) -> None:
    # Renamed, not deleted: a wrong setting may have pointed at somebody's own database.
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        file = path.with_name(name)
        if file.exists():
            file.replace(path.with_name(f"{name}.set-aside"))


def _create(path: Path) -> None:
    # Made under another name: a process killed here leaves no half-made database behind.
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
        connection.executescript(f"BEGIN; {SCHEMA} COMMIT;")
    unfinished.replace(path)
