"""A bounded file of results by key, shared by processes."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from errno import errorcode
from hashlib import blake2b
from pathlib import Path

from scoring.cache.shared_database import DatabaseUnusableError, SharedDatabase, error_name, is_corruption

#: What is kept in a file, as SQLite's header names it.
PARSE_CACHE_ID = 0x74677470  # "tgtp"
TRANSLATION_CACHE_ID = 0x74677472  # "tgtr"
OPINION_CACHE_ID = 0x74676F70  # "tgop"

#: How exactly it is known what was used last. Noting it more often would write with every answer.
TOUCH_INTERVAL_SECONDS = 3_600.0

_PUT = "INSERT OR REPLACE INTO results VALUES (?, ?, ?)"
_GET = "SELECT used_at, content FROM results WHERE key = ?"
_TOUCH = "UPDATE results SET used_at = ? WHERE key = ?"
# What dropping leaves free is filled again, so it does not count.
_SIZE = (
    "SELECT (page_count - freelist_count) * page_size "
    "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
_EVICT = "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY used_at LIMIT ?)"
# In steps, so that no more is dropped than must be; not all at once, so that no answer waits for it.
_EVICTED_PER_STEP = 10
_MAX_EVICTION_STEPS = 10
# A larger one would take the place of too many others, and what it leaves free the file keeps.
_MAX_ENTRY_FRACTION = 8
_MIB = 1024 * 1024
_CHECKSUM_BYTES = 8
# How long a file that failed is left alone, so that it costs no answer more than that.
_RETRY_SECONDS = 10.0


class CacheFile:
    """Results by key, in an SQLite file; what has not been used for longest is dropped.

    No method raises for the state of the file. Where it cannot be read or written, nothing is found and
    nothing kept, the reason is among the ``failures``, and the file is left alone for ten seconds. A damaged
    file, or one of an older layout, is begun anew; one that is not ours is not touched. Each result is
    found only as it was put, whatever happens to the file. Only the owner may read the file. Several
    threads may use it.

    Args:
        path: the file, and no link to one; its folder is made when it is not there.
        application_id: what is kept in it; one that keeps something else is not ours.
        mib: how many MiB it may grow to, about, with what belongs to it. A result of more than an eighth of
            that is not kept.
        clock: seconds since 1970.
        rest_seconds: how long it is left alone after a failure.
    """

    def __init__(
        self,
        path: Path,
        application_id: int,
        max_mib: int,
        clock: Callable[[], float] = time.time,
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        self._most_bytes = max_mib * _MIB
        self._database = SharedDatabase(path, application_id, self._most_bytes)
        self._clock = clock
        self._rest = retry_seconds
        self._using = threading.RLock()
        self._failures: list[str] = []
        self._is_closed = False
        self._try_again_at = self._write_again_at = time.monotonic()
        with self._recording_errors():
            self._open_connection()

    def close(self) -> None:
        """Close the file; from now on nothing is found and nothing kept. May be called twice."""
        with self._using:
            self._database.disconnect()
            self._is_closed = True

    def take_failures(self) -> tuple[str, ...]:
        """Return the names of what has failed since they were asked for, such as ``SQLITE_FULL``."""
        with self._using:
            failures, self._failures = tuple(self._failures), []
        return failures

    def record_failure(self, name: str) -> None:
        """Note that something in the file cannot be used."""
        self._failures.append(name)

    def find(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return those of the results that are there, and note that they are in use."""
        found: dict[bytes, bytes] = {}
        noted_long_ago: list[bytes] = []
        before = self._clock() - TOUCH_INTERVAL_SECONDS
        with self._recording_errors():
            if database := self._open_connection():
                for key in keys:
                    used_at, content = database.execute(_GET, (key,)).fetchone() or (before, None)
                    if content is not None and (result := self._verified(key, content)) is not None:
                        found[key] = result
                        if used_at < before:
                            noted_long_ago.append(key)
        if noted_long_ago:
            self.touch(noted_long_ago)
        return found

    def put(self, results: Mapping[bytes, bytes]) -> bool:
        """Keep results, drop others where there are too many, and say whether the file takes any.

        Those that are too large for it, alone or together, are left out; to put them again is of no use.
        """
        now = self._clock()
        with self._recording_errors(writing=True):
            rows = [
                (key, now, _checksum(key, result) + result) for key, result in self._entries_that_fit(results)
            ]
            if database := self._writable_connection():
                with database:
                    # First, so that what is put has its place in what is dropped, and the file need not grow.
                    self._evict(database, sum(len(content) for _, _, content in rows))
                    database.executemany(_PUT, rows)
                return True
        return False

    def touch(self, keys: Iterable[bytes]) -> bool:
        """Note that the results of these keys are in use, and say whether any of them is there."""
        now = self._clock()
        with self._recording_errors(writing=True):
            if database := self._writable_connection():
                with database:
                    return database.executemany(_TOUCH, [(now, key) for key in keys]).rowcount > 0
        return False

    def _verified(self, key: bytes, content: object) -> bytes | None:
        if (
            isinstance(content, bytes)
            and _checksum(key, content[_CHECKSUM_BYTES:]) == content[:_CHECKSUM_BYTES]
        ):
            return content[_CHECKSUM_BYTES:]
        self.record_failure("DAMAGED_ENTRY")
        return None

    def _entries_that_fit(self, results: Mapping[bytes, bytes]) -> Iterator[tuple[bytes, bytes]]:
        left = self._most_bytes
        for key, result in results.items():
            if len(result) > self._most_bytes // _MAX_ENTRY_FRACTION or len(result) > left:
                self.record_failure("TOO_LARGE")
            else:
                left -= len(result)
                yield key, result

    def _evict(self, database: sqlite3.Connection, needed_bytes: int) -> None:
        for _ in range(_MAX_EVICTION_STEPS):
            (size,) = database.execute(_SIZE).fetchone()
            if size + needed_bytes <= self._most_bytes:
                return
            database.execute(_EVICT, (_EVICTED_PER_STEP,))

    @contextmanager
    def _recording_errors(self, writing: bool = False) -> Iterator[None]:
        with self._using:
            try:
                yield
            except sqlite3.Error as error:
                name = error_name(error)
                if writing and self._database.is_connected and name.startswith("SQLITE_BUSY"):
                    # Others are writing; what is there can be read meanwhile.
                    self.record_failure("SQLITE_BUSY")
                    self._write_again_at = time.monotonic() + self._rest
                else:
                    self._suspend(name, is_corruption(error))
            except DatabaseUnusableError as error:
                self._suspend(str(error))
            except OSError as error:
                self._suspend(errorcode.get(error.errno or 0, type(error).__name__))

    def _suspend(self, name: str, is_damaged: bool = False) -> None:
        self.record_failure(name)
        self._database.disconnect(is_damaged)
        self._try_again_at = time.monotonic() + self._rest

    def _writable_connection(self) -> sqlite3.Connection | None:
        return self._open_connection() if time.monotonic() >= self._write_again_at else None

    def _open_connection(self) -> sqlite3.Connection | None:
        """Return the database, None while it rests or when it is closed."""
        if self._is_closed or time.monotonic() < self._try_again_at:
            return None
        if self._database.was_replaced:
            self.record_failure("REPLACED")
        return self._database.connection()


def _checksum(key: bytes, result: bytes) -> bytes:
    return blake2b(key + result, digest_size=_CHECKSUM_BYTES).digest()
