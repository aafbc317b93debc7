"""Files that processes share: locks, atomic replacement, and SQLite files that are rebuilt when unusable."""

import fcntl
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

#: SQLite's error name for a full disk.
SQLITE_FULL: Final = "SQLITE_FULL"

_MAGIC = b"SQLite format 3\0"
_APPLICATION_ID = slice(68, 72)  # where SQLite's header has it


def is_corruption(error: sqlite3.Error) -> bool:
    """Return whether an error shows a file that can only be rebuilt."""
    # Operational errors are temporary: the file is locked, the disk is full, and so on.
    is_operational = isinstance(error, sqlite3.OperationalError)
    return isinstance(error, sqlite3.DatabaseError) and (is_decoding_error(error) or not is_operational)


def is_decoding_error(error: sqlite3.Error) -> bool:
    """Return whether a text is not UTF-8, which Python detects, so the error has no SQLite code."""
    return str(error).startswith("Could not decode to UTF-8")


def error_name(error: sqlite3.Error) -> str:
    """Return SQLite's name of an error, such as ``SQLITE_FULL``; it contains no data."""
    return getattr(error, "sqlite_errorname", type(error).__name__)


def is_foreign(path: Path, application_id: int, mode: int | None = None) -> bool:
    """Return whether the file at a path belongs to another application.

    Only the header decides: damage behind it does not make a file foreign. A header of zeros, as a crash may
    leave, is ours, but only with our owner and ``mode`` where a mode is given.

    Raises:
        OSError: the path cannot be read, for example a folder.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return True
    with path.open("rb") as file:
        header = file.read(_APPLICATION_ID.stop)
    if any(header):
        return not header.startswith(_MAGIC) or header[_APPLICATION_ID] != application_id.to_bytes(4, "big")
    return mode is not None and (status.st_uid, stat.S_IMODE(status.st_mode)) != (os.geteuid(), mode)


def remove_database(path: Path) -> None:
    """Remove a database and its journal files where they exist; raises OSError."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)


_SCHEMA_VERSION = 1  # raise it with every change of the schema: files with another version are rebuilt
# SQLite's default of 4 kB would waste a third of each page on results of about 3 kB.
_PAGE_BYTES = 16_384
# One transaction, since a process may be killed after any statement.
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE results (
    key BLOB NOT NULL PRIMARY KEY,
    used_at REAL NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE INDEX by_use ON results (used_at);
PRAGMA user_version = {_SCHEMA_VERSION};
COMMIT;
"""

# The wait for another process that is writing; a write takes about a millisecond.
_BUSY_SECONDS = 0.05
_OPEN_TIMEOUT_SECONDS = 0.25
_POLL_SECONDS = 0.005
# The write-ahead log is checkpointed at so many pages, or at this fraction of the file's bound.
_CHECKPOINT_PAGES = 256
_CHECKPOINT_FRACTION = 8
_FILE_MODE = 0o600
_OPEN_OR_CREATE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW


class DatabaseUnusableError(Exception):
    """The file cannot be used as it is; the message is an error name."""


class SharedDatabase:
    """One process's connection to a shared file of results, opened on demand.

    Writes are not synced: after a power failure a damaged file is rebuilt, as after any other damage. Other
    processes lose nothing else: they keep using the replaced file until they look again. Only the owner may
    read the file. Foreign files are not touched, and symbolic links not followed.

    Args:
        path: the file; its folder is created.
        application_id: marks the kind of file in SQLite's header.
        max_bytes: the bound on the file, of which SQLite's log takes a small part.
    """

    def __init__(self, path: Path, application_id: int, max_bytes: int) -> None:
        self._path = path
        self._application_id = application_id
        self._checkpoint_pages = max(
            1, min(_CHECKPOINT_PAGES, max_bytes // _CHECKPOINT_FRACTION // _PAGE_BYTES)
        )
        self._connection: sqlite3.Connection | None = None
        self._inode_number: int | None = None
        self._is_damaged = False

    @property
    def is_connected(self) -> bool:
        """Whether a connection is open."""
        return self._connection is not None

    @property
    def was_replaced(self) -> bool:
        """Whether the path has another file than the open one; raises OSError."""
        return self._connection is not None and _inode(self._path) != self._inode_number

    def connection(self) -> sqlite3.Connection:
        """Return the connection to the file now at the path.

        Raises:
            DatabaseUnusableError: the file is foreign, or others have been opening it for too long.
            OSError: the file or its folder cannot be created or read.
            sqlite3.Error: the file cannot be opened.
        """
        if self._connection is None or self.was_replaced:
            self.disconnect(self._is_damaged)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with _opening_lock(self._path.with_name(f"{self._path.name}.lock")):
                self._connection = self._open()
            self._inode_number = _inode(self._path)
        return self._connection

    def disconnect(self, is_corrupt: bool = False) -> None:
        """Close the connection; a corrupt file is rebuilt at the next opening."""
        self._is_damaged = is_corrupt
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if is_foreign(self._path, self._application_id, _FILE_MODE):
            raise DatabaseUnusableError("FOREIGN")
        # Another process may have rebuilt it already.
        if self._is_damaged and _inode(self._path) == self._inode_number:
            remove_database(self._path)
        self._is_damaged = False
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if not is_corruption(error):
                raise
        remove_database(self._path)
        return self._connect()

    def _connect(self) -> sqlite3.Connection:
        # Created here, since SQLite would make it readable for others; its journals inherit the mode.
        with os.fdopen(os.open(self._path, _OPEN_OR_CREATE, _FILE_MODE), "rb") as file:
            os.fchmod(file.fileno(), _FILE_MODE)
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            self._configure(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _configure(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(f"PRAGMA wal_autocheckpoint = {self._checkpoint_pages}")
        connection.execute(f"PRAGMA journal_size_limit = {self._checkpoint_pages * _PAGE_BYTES}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute(f"PRAGMA application_id = {self._application_id}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
        elif version != _SCHEMA_VERSION:
            raise sqlite3.DatabaseError("another schema version")


@contextmanager
def _opening_lock(path: Path) -> Iterator[None]:
    """Keep other processes from opening or rebuilding the file at the same time."""
    deadline = time.monotonic() + _OPEN_TIMEOUT_SECONDS
    with os.fdopen(os.open(path, _OPEN_OR_CREATE, _FILE_MODE), "rb") as lock:
        while not try_lock(lock):
            if time.monotonic() > deadline:
                raise DatabaseUnusableError("OPENING_LOCKED")
            time.sleep(_POLL_SECONDS)
        yield


def _inode(path: Path) -> int | None:
    """Return the inode number of the file at a path; None where there is none."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def try_lock(file: int | IO[Any]) -> bool:
    """Lock an open file until it is closed, without waiting.

    Returns:
        False if another process holds the lock.

    Raises:
        OSError: the file system has no locks, for example.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_atomically(path: Path, text: str) -> None:
    """Replace the text of a file; even a power failure leaves the old or the new text, whole.

    Raises:
        OSError: it cannot be written; the old text stays.
    """
    partial = path.with_name(f"{path.name}.part")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
