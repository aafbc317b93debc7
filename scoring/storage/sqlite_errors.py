"""The errors of SQLite: their names, and which of them tell of damage."""

from __future__ import annotations

import sqlite3
from typing import Final

#: The name of the error that there is no space left.
FULL: Final = "SQLITE_FULL"


def is_damage(error: sqlite3.Error) -> bool:
    """Say whether an error tells of a file that can only be begun anew."""
    # What is locked, full or not readable at the moment is operational.
    is_operational = isinstance(error, sqlite3.OperationalError)
    return isinstance(error, sqlite3.DatabaseError) and (is_no_text(error) or not is_operational)


def is_no_text(error: sqlite3.Error) -> bool:
    """Say whether what should be a text is not UTF-8: Python finds that, so it has no code of SQLite's."""
    return str(error).startswith("Could not decode to UTF-8")


def error_name(error: sqlite3.Error) -> str:
    """Return SQLite's name of an error, such as ``SQLITE_FULL``; it holds nothing of the data."""
    return getattr(error, "sqlite_errorname", type(error).__name__)
