"""The SQLite file that several processes share, and that is begun anew when it is damaged."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scoring.storage.file_lock import take_lock
from scoring.storage.sqlite_errors import is_damage
from scoring.storage.sqlite_file import is_foreign, remove

_VERSION = 3  # raise it with every change of the schema: a file of another one is begun anew
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
PRAGMA user_version = {_VERSION};
COMMIT;
"""

# How long a call waits for another process that is writing, which takes it a millisecond.
_BUSY_SECONDS = 0.05
_OPENING_SECONDS = 0.25
_POLL_SECONDS = 0.005
# What is written waits in a file of its own, until it has so many pages, or this share of all there may be.
_WAITING_PAGES = 256
_WAITING_SHARE = 8
_RIGHTS = 0o600
_OPEN_OR_MAKE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW


class Unusable(Exception):
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

    def __init__(self, path: Path, application_id: int, most_bytes: int) -> None:
        self._path = path
        self._application_id = application_id
        self._waiting_pages = max(1, min(_WAITING_PAGES, most_bytes // _WAITING_SHARE // _PAGE_BYTES))
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
        return self._connection is not None and _number(self._path) != self._number

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
            with _locked(self._path.with_name(f"{self._path.name}.lock")):
                self._connection = self._opened()
            self._number = _number(self._path)
        return self._connection

    def disconnect(self, is_damaged: bool = False) -> None:
        """Close the file; one that is damaged is begun anew when it is opened next."""
        self._is_damaged = is_damaged
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if is_foreign(self._path, self._application_id, _RIGHTS):
            raise Unusable("FOREIGN")
        # Another process may have begun it anew already.
        if self._is_damaged and _number(self._path) == self._number:
            remove(self._path)
        self._is_damaged = False
        try:
            return self._connected()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        remove(self._path)
        return self._connected()

    def _connected(self) -> sqlite3.Connection:
        # Made here and not by SQLite, which would let others read it. What belongs to it has its rights.
        with os.fdopen(os.open(self._path, _OPEN_OR_MAKE, _RIGHTS), "rb") as file:
            os.fchmod(file.fileno(), _RIGHTS)
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(f"PRAGMA wal_autocheckpoint = {self._waiting_pages}")
        connection.execute(f"PRAGMA journal_size_limit = {self._waiting_pages * _PAGE_BYTES}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute(f"PRAGMA application_id = {self._application_id}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
        elif version != _VERSION:
            raise sqlite3.DatabaseError("of another version")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes from opening the file, or from beginning it anew, at the same time."""
    deadline = time.monotonic() + _OPENING_SECONDS
    with os.fdopen(os.open(path, _OPEN_OR_MAKE, _RIGHTS), "rb") as lock:
        while not take_lock(lock):
            if time.monotonic() > deadline:
                raise Unusable("OPENING_LOCKED")
            time.sleep(_POLL_SECONDS)
        yield


def _number(path: Path) -> int | None:
    """Return the number of the file at a path, None where there is none."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None
