"""The meaning of a failure of the index: that it is slow, that its surroundings are at fault, or damage."""

from __future__ import annotations

import sqlite3
from enum import Enum, auto

from scoring.storage.sqlite_errors import error_name, is_no_text
from streams.failures import as_logged
from streams.retrieval.embedder import EmbeddingFailed
from streams.retrieval.index_file import DamagedIndex, NoIndex

# A file with our mark and without our tables (SQLITE_ERROR) was not left so by us.
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_PRIMARY = 0xFF  # of SQLite's error codes; the rest tells more


class Fault(Enum):
    """What a failure proves."""

    SLOW = auto()
    """Time was up; the index may be as sound as ever."""
    SURROUNDINGS = auto()
    """A full disk, a missing right, no vectors: the index is not at fault."""
    DAMAGE = auto()
    """Files are missing, or hold what cannot be in them."""


def fault_of(error: BaseException) -> Fault:
    """Tell what a failed search or change of the index proves."""
    match error:
        case NoIndex() | DamagedIndex() | FileNotFoundError():
            return Fault.DAMAGE
        case TimeoutError():
            return Fault.SLOW
        case sqlite3.Error() if is_no_text(error):
            return Fault.DAMAGE
        case sqlite3.Error():
            code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
            return Fault.DAMAGE if code in _DAMAGE else Fault.SLOW if code in _LOCKED else Fault.SURROUNDINGS
        case _:
            return Fault.SURROUNDINGS


def described(error: BaseException) -> str:
    """Describe what went wrong: by a code of ours or of SQLite's, or as :func:`as_logged` tells it."""
    match error:
        case EmbeddingFailed() | NoIndex() | DamagedIndex():
            return str(error)
        case sqlite3.Error():
            return error_name(error)
        case _:
            return as_logged(error)
