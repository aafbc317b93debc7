"""The errors of SQLite: their names, and which of them tell of damage."""

from __future__ import annotations

import sqlite3


def is_damage(error: sqlite3.Error) -> bool:
    """Say whether an error tells of a file that can only be begun anew."""
    # What is locked, full or not readable at the moment is operational.
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)


def error_name(error: sqlite3.Error) -> str:
    """Return SQLite's name of an error, such as ``SQLITE_FULL``; it holds nothing of the data."""
    return getattr(error, "sqlite_errorname", type(error).__name__)
