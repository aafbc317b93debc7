"""SQLite files of the stores: created, checked for damage, and set aside when they cannot be used."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Final

import structlog

from scoring.cache.shared_database import error_name, is_corruption
from streams.observability.failures import EXIT_UNREACHABLE, InfrastructureFailure, exit_code
from streams.settings import InvalidSettings
from streams.storage.directory import no_space

log = structlog.get_logger(__name__)

#: Only the owner may read what customers wrote.
_FILE_MODE: Final = 0o600
_JOURNALS: Final = ("-wal", "-shm")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFormat:
    """What the file of a store must be like.

    Args:
        setting: the setting of its directory, for messages.
        application_id: marks a file as ours in SQLite's header.
        layout: to be raised with every change of ``schema``: a file with another layout is replaced.
        schema: the statements that create the tables.
        pragmas: of each connection, such as ``synchronous = FULL``.
        content_check: a query that is read to its end: it fails for damage that SQLite's own check does not
            detect.
    """

    setting: str
    application_id: int
    layout: int
    schema: str
    pragmas: tuple[str, ...] = ()
    content_check: str = ""


def open_store_file(path: Path, store_format: StoreFormat) -> sqlite3.Connection:
    """Open the file of a store, or create it, and return the connection; see :func:`connect`.

    A file that is damaged, foreign or of another layout is set aside, and an empty one takes its place. A
    file that is only unreadable at the moment, e.g. with a full disk, stays. The caller holds the lock of the
    directory.

    Raises:
        InvalidSettings: the file cannot be read or created.
        InfrastructureFailure: its disk is full.
    """
    try:
        if path.exists() and (fault := _find_fault(path, store_format)):
            set_aside(path, fault)
        if not path.exists():
            _create(path, store_format)
        return connect(path, store_format)
    except (OSError, sqlite3.Error) as error:
        raise not_usable(path, error, store_format.setting) from error


def connect(path: Path, store_format: StoreFormat) -> sqlite3.Connection:
    """Open an existing file for use in several threads; SQLite serialises the calls.

    WAL lets readers continue while a batch is written.
    """
    connection = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
    try:
        for pragma in ("journal_mode = WAL", *store_format.pragmas):
            connection.execute(f"PRAGMA {pragma}")
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


def set_aside(path: Path, reason: str) -> None:
    """Rename a file with its journals: somebody may still need it, or it is another application's.

    What was set aside before stays, under another number.
    """
    names = (path.with_stem(f"{path.stem}.set-aside{number}") for number in chain([""], count(2)))
    move_store_file(path, next(each for each in names if not each.exists()))
    log.warning("store_set_aside", path=str(path), reason=reason)


def move_store_file(path: Path, to: Path) -> None:
    """Rename a file that nobody has open, with its journals."""
    for suffix in ("", *_JOURNALS):
        file = path.with_name(f"{path.name}{suffix}")
        if file.exists():
            file.replace(to.with_name(f"{to.name}{suffix}"))


def not_usable(
    path: Path, error: OSError | sqlite3.Error, setting: str
) -> InvalidSettings | InfrastructureFailure:
    """Return the error for a file that cannot be opened or created."""
    if exit_code(error) == EXIT_UNREACHABLE:
        return no_space(setting, path.parent)
    reason = error_name(error) if isinstance(error, sqlite3.Error) else error.strerror
    return InvalidSettings(f"{setting}: cannot open or create {path}: {reason}")


def _find_fault(path: Path, store_format: StoreFormat) -> str | None:
    """Return the fault of an existing file, or None; raises sqlite3.Error if that cannot be determined."""
    if path.stat().st_size == 0:
        return "empty"
    try:
        # Not with connect(), which would switch a foreign database to WAL.
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            if connection.execute("PRAGMA application_id").fetchone()[0] != store_format.application_id:
                return "foreign"
            layout = connection.execute("PRAGMA user_version").fetchone()[0]
            if layout != store_format.layout:
                return "another_layout"
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return "damaged"
            for _ in connection.execute(store_format.content_check):
                pass
    except sqlite3.DatabaseError as error:
        if not is_corruption(error):
            raise
        return error_name(error)
    return None


def _create(path: Path, store_format: StoreFormat) -> None:
    # Under another name: a killed process leaves no incomplete file behind.
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(_FILE_MODE)
    marks = (
        f"PRAGMA application_id = {store_format.application_id}; PRAGMA user_version = {store_format.layout};"
    )
    with closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
        connection.executescript(f"BEGIN; {store_format.schema} {marks} COMMIT;")
    # Journals of a file that somebody removed belong to no other one.
    for suffix in _JOURNALS:
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
    unfinished.replace(path)
