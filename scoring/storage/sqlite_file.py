"""SQLite files of ours that hold what can be made again: telling them from others', and beginning anew."""

from __future__ import annotations

import sqlite3
from pathlib import Path

_MAGIC = b"SQLite format 3\0"
# Where SQLite's header holds the number that names the application.
_APPLICATION = slice(68, 72)


def is_foreign(path: Path, application_id: int) -> bool:
    """Say whether a file is there that is not ours; raises OSError where it cannot be read.

    By the header alone: what is damaged behind it does not make it somebody else's. One of zeros is what a
    power failure may leave of a new file.
    """
    if not path.exists():
        return False
    with path.open("rb") as file:
        header = file.read(_APPLICATION.stop)
    ours = header.startswith(_MAGIC) and header[_APPLICATION] == application_id.to_bytes(4, "big")
    return any(header) and not ours


def is_blank(path: Path) -> bool:
    """Say whether a file that is there does not tell whose it is: it is empty, or begins with zeros."""
    with path.open("rb") as file:
        return not any(file.read(_APPLICATION.stop))


def remove(path: Path) -> None:
    """Remove a database and what belongs to it, as far as it is there; raises OSError."""
    for name in (path.name, *(f"{path.name}-{part}" for part in ("wal", "shm", "journal"))):
        path.with_name(name).unlink(missing_ok=True)


def is_damage(error: sqlite3.Error) -> bool:
    """Say whether an error tells of a file that can only be begun anew."""
    # What is locked, full or not readable at the moment is operational.
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)


def error_name(error: sqlite3.Error) -> str:
    """Return SQLite's name of an error, such as ``SQLITE_FULL``; it holds nothing of the data."""
    return getattr(error, "sqlite_errorname", type(error).__name__)
