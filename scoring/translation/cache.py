"""Translations of documents, kept on disk: a restart does not translate them again."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from scoring.storage.sqlite_file import error_name, is_damage, is_foreign, remove
from scoring.translation.errors import TranslatorMisconfigured

APPLICATION_ID = 0x74677472  # "tgtr", marks the file as ours in SQLite's header
#: Raise it when the layout changes, or what is cut into sentences or taken for nonsense.
VERSION = 2

_SCHEMA = """
CREATE TABLE IF NOT EXISTS translations (
    key BLOB NOT NULL PRIMARY KEY,
    translation TEXT NOT NULL,
    used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS by_use ON translations (used_at);
"""
_DAY_SECONDS = 86_400
_MEGABYTE = 1_000_000
# What dropping brings the file down to, so that not every new translation drops some.
_AFTER_DROPPING = 0.9
_MOST_ASKED_AT_ONCE = 500
# Another process may be writing; the event loop waits meanwhile.
_BUSY_SECONDS = 0.5

#: A key, its copy in the index, and what SQLite needs for a row.
_ROW_BYTES = 120
_INSERT = "INSERT OR REPLACE INTO translations VALUES (?, ?, ?)"
_SELECT = "SELECT key, translation, used_at FROM translations WHERE key IN"
_TOUCH = "UPDATE translations SET used_at = ? WHERE key = ?"
# Not the size of the file: what is dropped leaves gaps in it, which are filled again.
_MEASURE = f"SELECT count(*) * {_ROW_BYTES} + coalesce(sum(length(translation)), 0) FROM translations"  # noqa: S608
_DROP = (
    "DELETE FROM translations WHERE key IN "
    "(SELECT key FROM translations ORDER BY used_at LIMIT (SELECT count(*) FROM translations) / 10 + 1)"
)


class TranslationCache:
    """Translations by content, in an SQLite file that several processes may share.

    Only hashes of the originals are kept. What has not been used for longest is dropped, by the day.
    A file of ours that is damaged, or of an older layout, is begun anew.

    Args:
        path: the file; its folder is made when it is not there.
        megabytes: how large it may grow, about.
        on_error: called with SQLite's name of an error. The cache then holds nothing for this
            call; translating goes on.
        clock: seconds since 1970.

    Raises:
        TranslatorMisconfigured: the file cannot be made, or is not a cache of translations.
    """

    def __init__(
        self,
        path: Path,
        megabytes: int,
        on_error: Callable[[str], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._most_bytes = megabytes * _MEGABYTE
        self._on_error = on_error
        self._clock = clock
        self._lock = threading.Lock()
        self._open = True
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = _opened(path)
            self._size = self._measured()
        except (OSError, sqlite3.Error) as error:
            raise TranslatorMisconfigured(f"cannot use {path}: {error}") from error

    def close(self) -> None:
        """Close the file; from now on nothing is found and nothing kept. May be called twice."""
        with self._lock:
            self._open = False
            self._database.close()

    def find(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Return those of the translations that are there."""
        found: dict[bytes, str] = {}
        wanted = list(dict.fromkeys(keys))
        with self._lock, self._reporting():
            for start in range(0, len(wanted), _MOST_ASKED_AT_ONCE):
                found |= self._find(wanted[start : start + _MOST_ASKED_AT_ONCE])
        return found

    def keep(self, translations: Mapping[bytes, str]) -> None:
        """Keep translations, and drop the oldest where there are too many."""
        now = int(self._clock())
        rows = [(key, translation, now) for key, translation in translations.items()]
        with self._lock, self._reporting(), self._database:
            self._database.executemany(_INSERT, rows)
            self._size += sum(_ROW_BYTES + len(translation) for translation in translations.values())
            self._shrink()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if self._open:
                self._on_error(error_name(error))

    def _find(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        query = f"{_SELECT} ({','.join('?' * len(keys))})"
        rows = self._database.execute(query, keys).fetchall()
        now = int(self._clock())
        unused = [(now, key) for key, _, used_at in rows if used_at < now - _DAY_SECONDS]
        if unused:
            with self._reporting(), self._database:
                self._database.executemany(_TOUCH, unused)
        return {key: translation for key, translation, _ in rows}

    def _shrink(self) -> None:
        if self._size <= self._most_bytes:
            return
        self._size = self._measured()  # other processes may have kept and dropped some too
        while self._size > self._most_bytes * _AFTER_DROPPING:
            self._database.execute(_DROP)
            self._size = self._measured()

    def _measured(self) -> int:
        (size,) = self._database.execute(_MEASURE).fetchone()
        return int(size)


def key_of(*parts: str) -> bytes:
    """Return the key of a text: a hash of it and of what else its translation depends on."""
    return hashlib.sha256("\0".join((str(VERSION), *parts)).encode("utf-8", "surrogatepass")).digest()


def _opened(path: Path) -> sqlite3.Connection:
    if is_foreign(path, APPLICATION_ID):
        raise TranslatorMisconfigured(f"{path} is there, and is not a cache of translations")
    try:
        return _connected(path)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        remove(path)  # ours, and damaged
        return _connected(path)


def _connected(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        _check(database)
        if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            database.executescript("DROP TABLE IF EXISTS translations;")
        database.executescript(f"{_SCHEMA} PRAGMA user_version = {VERSION};")
    except BaseException:
        database.close()
        raise
    return database


def _check(database: sqlite3.Connection) -> None:
    if database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise sqlite3.DatabaseError("damaged")
