"""A bounded file of blobs by key that the processes of one worker share, and that may fail at any time."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from errno import errorcode
from hashlib import blake2b
from pathlib import Path

from scoring.storage.shared_database import Layout, SharedDatabase, Unusable
from scoring.storage.sqlite_file import error_name, is_damage

APPLICATION_ID = 0x74677470  # "tgtp", marks the file as ours in SQLite's header
_LAYOUT = Layout(
    APPLICATION_ID,
    version=1,
    # Blobs of some 3 kB would leave a third of SQLite's usual pages empty.
    page_size=16_384,
    schema="""
CREATE TABLE blobs (
    key BLOB NOT NULL PRIMARY KEY,
    used_at REAL NOT NULL,
    blob BLOB NOT NULL
) STRICT;
CREATE INDEX by_use ON blobs (used_at);
""",
)
_PUT = "INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)"
_GET = "SELECT used_at, blob FROM blobs WHERE key = ?"
_TOUCH = "UPDATE blobs SET used_at = ? WHERE key = ?"
# What dropping leaves free is filled again, so it does not count.
_SIZE = (
    "SELECT (page_count - freelist_count) * page_size "
    "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
_DROP = "DELETE FROM blobs WHERE key IN (SELECT key FROM blobs ORDER BY used_at LIMIT ?)"
# In steps, so that no more is dropped than must be; not all at once, so that no answer waits for it.
_DROPPED_AT_ONCE = 10
_MOST_STEPS = 10

# A larger one would take the place of too many others, and what it leaves free the file keeps.
_LARGEST_SHARE = 8

_MEGABYTE = 1_000_000
_SUM_BYTES = 8
#: How long a file that failed is left alone, so that it costs no answer more than that.
_REST_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in the file, and when it was last noted as used, in seconds since 1970."""

    blob: bytes
    used_at: float


class KeptFile:
    """Blobs by key, in an SQLite file; what has not been used for longest is dropped.

    No method raises for the state of the file. Where it cannot be read or written, nothing is found and
    nothing kept, the reason is among the ``failures``, and the file is left alone for ten seconds. A damaged
    file, or one of an older layout, is begun anew; one that is not ours is not touched. Each blob is
    found only as it was put, whatever happens to the file. Only the owner may read the file.

    Args:
        path: the file, and no link to one; its folder is made when it is not there.
        megabytes: how large it may grow, about, with what belongs to it. A blob of more than an eighth of
            that is not kept.
        rest_seconds: how long it is left alone after a failure.
    """

    def __init__(self, path: Path, megabytes: int, rest_seconds: float = _REST_SECONDS) -> None:
        self._most_bytes = megabytes * _MEGABYTE
        self._database = SharedDatabase(path, _LAYOUT, self._most_bytes)
        self._rest = rest_seconds
        self._failures: list[str] = []
        self._try_again_at: float | None = time.monotonic()
        self._write_again_at = time.monotonic()
        with self._failing_softly():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._opened()

    def close(self) -> None:
        """Close the file; from now on nothing is found and nothing kept. May be called twice."""
        self._database.disconnect()
        self._try_again_at = None

    def failures(self) -> tuple[str, ...]:
        """Return the names of what has failed since they were asked for, such as ``SQLITE_FULL``."""
        failures, self._failures = tuple(self._failures), []
        return failures

    def failed(self, name: str) -> None:
        """Note that something in the file cannot be used."""
        self._failures.append(name)

    def get(self, key: bytes) -> Found | None:
        """Return the blob of a key, or None."""
        with self._failing_softly():
            if (database := self._opened()) and (row := database.execute(_GET, (key,)).fetchone()):
                return self._checked(key, *row)
        return None

    def put(self, blobs: Mapping[bytes, bytes], now: float) -> bool:
        """Keep blobs, drop others where there are too many, and say whether the file takes any.

        Those that are too large for it, alone or together, are left out; to put them again is of no use.
        """
        rows = [(key, now, _sum(key, blob) + blob) for key, blob in self._fitting(blobs)]
        with self._failing_softly(writing=True):
            if database := self._writable():
                with database:
                    # First, so that what is put has its place in what is dropped, and the file need not grow.
                    self._shrink(database, sum(len(content) for _, _, content in rows))
                    database.executemany(_PUT, rows)
                return True
        return False

    def touch(self, key: bytes, now: float) -> bool:
        """Note that the blob of a key is in use, and say whether it is there."""
        with self._failing_softly(writing=True):
            if database := self._writable():
                with database:
                    return database.execute(_TOUCH, (now, key)).rowcount > 0
        return False

    def _checked(self, key: bytes, used_at: object, content: object) -> Found | None:
        if isinstance(content, bytes) and isinstance(used_at, float):
            blob = content[_SUM_BYTES:]
            if _sum(key, blob) == content[:_SUM_BYTES]:
                return Found(blob, used_at)
        self.failed("DAMAGED_ENTRY")
        return None

    def _fitting(self, blobs: Mapping[bytes, bytes]) -> Iterator[tuple[bytes, bytes]]:
        left = self._most_bytes
        for key, blob in blobs.items():
            if len(blob) > self._most_bytes // _LARGEST_SHARE or len(blob) > left:
                self.failed("TOO_LARGE")
            else:
                left -= len(blob)
                yield key, blob

    def _shrink(self, database: sqlite3.Connection, needed: int) -> None:
        for _ in range(_MOST_STEPS):
            (size,) = database.execute(_SIZE).fetchone()
            if size + needed <= self._most_bytes:
                return
            database.execute(_DROP, (_DROPPED_AT_ONCE,))

    @contextmanager
    def _failing_softly(self, writing: bool = False) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if writing and self._database.is_connected and error_name(error).startswith("SQLITE_BUSY"):
                self._give_up_writing()
            else:
                self._give_up(error_name(error), is_damage(error))
        except Unusable as error:
            self._give_up(str(error))
        except OSError as error:
            self._give_up(errorcode.get(error.errno or 0, type(error).__name__))

    def _give_up(self, name: str, is_damaged: bool = False) -> None:
        self.failed(name)
        self._database.disconnect(is_damaged)
        self._try_again_at = time.monotonic() + self._rest

    def _give_up_writing(self) -> None:
        # Others are writing; what is there can be read meanwhile.
        self.failed("SQLITE_BUSY")
        self._write_again_at = time.monotonic() + self._rest

    def _writable(self) -> sqlite3.Connection | None:
        return self._opened() if time.monotonic() >= self._write_again_at else None

    def _opened(self) -> sqlite3.Connection | None:
        """Return the database, None while it rests or when it is closed."""
        if self._try_again_at is None or time.monotonic() < self._try_again_at:
            return None
        if self._database.was_replaced:
            self.failed("REPLACED")
        return self._database.connection()


def _sum(key: bytes, blob: bytes) -> bytes:
    return blake2b(key + blob, digest_size=_SUM_BYTES).digest()
