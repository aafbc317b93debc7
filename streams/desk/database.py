"""SQLite files of the desk: created, checked for damage, and set aside when they cannot be used."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import structlog

from scoring.cache.shared_database import error_name, is_corruption
from streams.observability.failures import EXIT_UNREACHABLE, InfrastructureFailure, exit_code
from streams.settings import InvalidSettings

log = structlog.get_logger(__name__)

_APPLICATION_ID: Final = 0x74676473  # "tgds", marks the files as ours in SQLite's header
#: Only the owner may read what customers wrote.
_FILE_MODE: Final = 0o600


def open_database(path: Path, schema: str, layout: int) -> sqlite3.Connection:
    """Open a file for use in several threads; every committed transaction survives a power failure.

    A file that is damaged, foreign or of another layout is renamed, and an empty one takes its place. The
    caller holds the lock of the folder. Raises InvalidSettings, or InfrastructureFailure for a full disk.
    """
    try:
        if path.exists() and (fault := _find_fault(path, layout)):
            set_aside(path, fault)
        if not path.exists():
            _create(path, schema, layout)
        return connect(path)
    except (OSError, sqlite3.Error) as error:
        if exit_code(error) == EXIT_UNREACHABLE:
            raise InfrastructureFailure(f"desk.store: no space left on {path.parent}") from error
        reason = error_name(error) if isinstance(error, sqlite3.Error) else error.strerror
        raise InvalidSettings(f"desk.store: cannot open or create {path}: {reason}") from error


def connect(path: Path) -> sqlite3.Connection:
    """Open an existing file."""
    connection = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def set_aside(path: Path, reason: str) -> None:
    """Rename a file with its journals, so that nothing is lost that somebody may still need."""
    for suffix in ("", "-wal", "-shm"):
        file = path.with_name(f"{path.name}{suffix}")
        if file.exists():
            file.replace(path.with_name(f"{path.stem}.set-aside{path.suffix}{suffix}"))
    log.warning("desk_store_set_aside", path=str(path), reason=reason)


def _find_fault(path: Path, layout: int) -> str | None:
    if path.stat().st_size == 0:
        return "empty"
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
                return "foreign"
            if connection.execute("PRAGMA user_version").fetchone()[0] != layout:
                return "another_layout"
            return None if connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok" else "damaged"
    except sqlite3.DatabaseError as error:
        if not is_corruption(error):
            raise
        return error_name(error)


def _create(path: Path, schema: str, layout: int) -> None:
    # Under another name: a killed process leaves no incomplete file behind.
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(_FILE_MODE)
    with closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
        marks = f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {layout};"
        connection.executescript(f"BEGIN; {schema} {marks} COMMIT;")
    # Journals of a file that somebody removed belong to no other one.
    for suffix in ("-wal", "-shm"):
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
    unfinished.replace(path)
