"""SQLite files shared by processes: opened, checked for damage, and rebuilt when unusable."""

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from scoring.cache.shared_files import try_lock

#: The name of the error that there is no space left.
SQLITE_FULL: Final = "SQLITE_FULL"


def is_corruption(error: sqlite3.Error) -> bool:
    """Say whether an error tells of a file that can only be begun anew."""
    # What is locked, full or not readable at the moment is operational.
    is_operational = isinstance(error, sqlite3.OperationalError)
    return isinstance(error, sqlite3.DatabaseError) and (is_decoding_error(error) or not is_operational)


def is_decoding_error(error: sqlite3.Error) -> bool:
    """Say whether what should be a text is not UTF-8: Python finds that, so it has no code of SQLite's."""
    return str(error).startswith("Could not decode to UTF-8")


def error_name(error: sqlite3.Error) -> str:
    """Return SQLite's name of an error, such as ``SQLITE_FULL``; it holds nothing of the data."""
    return getattr(error, "sqlite_errorname", type(error).__name__)


_MAGIC = b"SQLite format 3\0"
# Where SQLite's header holds the number that names the application.
_APPLICATION = slice(68, 72)


def is_foreign(path: Path, application_id: int, mode: int | None = None) -> bool:
    """Say whether what is at a path is not ours; raises OSError where it cannot be read, as a folder cannot.

    By the header alone: what is damaged behind it does not make it somebody else's. A file that does not tell
    whose it is, as a crash or a power failure may leave a new one, is ours; but where ours have ``rights``
    that others' have not, only if it has them.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        return True
    with path.open("rb") as file:
        header = file.read(_APPLICATION.stop)
    if any(header):
        return not header.startswith(_MAGIC) or header[_APPLICATION] != application_id.to_bytes(4, "big")
    return mode is not None and (found.st_uid, stat.S_IMODE(found.st_mode)) != (os.geteuid(), mode)


def remove_database(path: Path) -> None:
    """Remove a database and what belongs to it, as far as it is there; raises OSError."""
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)


_SCHEMA_VERSION = 1  # raise it with every change of the schema: a file of another one is begun anew
# Results of some 3 kB would leave a third of SQLite's usual pages empty.
_PAGE_BYTES = 16_384
# In one transaction, since a process may be killed after each statement.
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

# How long a call waits for another process that is writing, which takes it a millisecond.
_BUSY_SECONDS = 0.05
_OPEN_TIMEOUT_SECONDS = 0.25
_POLL_SECONDS = 0.005
# What is written waits in a file of its own, until it has so many pages, or this share of all there may be.
_CHECKPOINT_PAGES = 256
_CHECKPOINT_FRACTION = 8
_FILE_MODE = 0o600
_OPEN_OR_MAKE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW


class DatabaseUnusableError(Exception):
    """The file cannot be used as it is; the message is the name of the reason."""


class SharedDatabase:
    """The connection of one process to a file of results by key, opened when it is asked for.

    Nothing waits for the disk: what a power failure damages is begun anew, as is what else is damaged. No
    other process loses more than what it had: it goes on with the file that was, until it looks again. Only
    the owner may read the file. What is at its path and not ours is not touched, nor is a link followed.

    Args:
        path: the file; its folder is made when it is not there.
        application_id: marks the file as ours in SQLite's header, and tells what is kept in it.
        most_bytes: what the file is meant to hold; what SQLite keeps beside it is a small part of that.
    """

    def __init__(self, path: Path, application_id: int, max_bytes: int) -> None:
        self._path = path
        self._application_id = application_id
        self._waiting_pages = max(1, min(_CHECKPOINT_PAGES, max_bytes // _CHECKPOINT_FRACTION // _PAGE_BYTES))
        self._connection: sqlite3.Connection | None = None
        self._number: int | None = None
        self._is_damaged = False

    @property
    def is_connected(self) -> bool:
        """Whether the file is open."""
        return self._connection is not None

    @property
    def was_replaced(self) -> bool:
        """Whether the open file is no longer the one at its path; raises OSError."""
        return self._connection is not None and _inode(self._path) != self._number

    def connection(self) -> sqlite3.Connection:
        """Return the connection to the file that is at the path now.

        Raises:
            Unusable: the file is not ours, or others have been opening it for too long.
            OSError: its folder or the file cannot be made or read.
            sqlite3.Error: the file cannot be opened.
        """
        if self._connection is None or self.was_replaced:
            self.disconnect(self._is_damaged)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with _opening_lock(self._path.with_name(f"{self._path.name}.lock")):
                self._connection = self._open()
            self._number = _inode(self._path)
        return self._connection

    def disconnect(self, is_corrupt: bool = False) -> None:
        """Close the file; one that is damaged is begun anew when it is opened next."""
        self._is_damaged = is_corrupt
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if is_foreign(self._path, self._application_id, _FILE_MODE):
            raise DatabaseUnusableError("FOREIGN")
        # Another process may have begun it anew already.
        if self._is_damaged and _inode(self._path) == self._number:
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
        # Made here and not by SQLite, which would let others read it. What belongs to it has its rights.
        with os.fdopen(os.open(self._path, _OPEN_OR_MAKE, _FILE_MODE), "rb") as file:
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
        connection.execute(f"PRAGMA wal_autocheckpoint = {self._waiting_pages}")
        connection.execute(f"PRAGMA journal_size_limit = {self._waiting_pages * _PAGE_BYTES}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute(f"PRAGMA application_id = {self._application_id}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
        elif version != _SCHEMA_VERSION:
            raise sqlite3.DatabaseError("of another version")


@contextmanager
def _opening_lock(path: Path) -> Iterator[None]:
    """Keep other processes from opening the file, or from beginning it anew, at the same time."""
    deadline = time.monotonic() + _OPEN_TIMEOUT_SECONDS
    with os.fdopen(os.open(path, _OPEN_OR_MAKE, _FILE_MODE), "rb") as lock:
        while not try_lock(lock):
            if time.monotonic() > deadline:
                raise DatabaseUnusableError("OPENING_LOCKED")
            time.sleep(_POLL_SECONDS)
        yield


def _inode(path: Path) -> int | None:
    """Return the number of the file at a path, None where there is none."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None
