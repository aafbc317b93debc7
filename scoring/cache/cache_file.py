"""A bounded key-value cache in an SQLite file that processes share."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from errno import errorcode
from hashlib import blake2b
from pathlib import Path

from scoring.cache.shared_database import DatabaseUnusableError, SharedDatabase, error_name, is_corruption

#: The application ids in SQLite's header, one for each kind of cache.
PARSE_CACHE_ID = 0x74677470  # "tgtp"
TRANSLATION_CACHE_ID = 0x74677472  # "tgtr"
OPINION_CACHE_ID = 0x74676F70  # "tgop"

#: The precision of "least recently used". A finer one would write with every answer.
TOUCH_INTERVAL_SECONDS = 3_600.0

_PUT = "INSERT OR REPLACE INTO results VALUES (?, ?, ?)"
_GET = "SELECT used_at, content FROM results WHERE key = ?"
_TOUCH = "UPDATE results SET used_at = ? WHERE key = ?"
# Free pages are reused, so they do not count.
_SIZE = (
    "SELECT (page_count - freelist_count) * page_size "
    "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
_EVICT = "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY used_at LIMIT ?)"
# Small steps evict no more than necessary; a limited number of steps keeps every answer's wait short.
_EVICTED_PER_STEP = 10
_MAX_EVICTION_STEPS = 10
# A larger entry would evict too many others, and the file never shrinks again.
_MAX_ENTRY_FRACTION = 8
_CHECKSUM_BYTES = 8
# A failed file is not tried again for so long.
_RETRY_SECONDS = 10.0


class CacheFile:
    """Results by key in an SQLite file; the least recently used are evicted.

    Thread-safe. No method raises for the state of the file: where it cannot be read or written, nothing is
    found or stored, the error's name is added to the ``failures``, and the file is not tried again for ten
    seconds. A damaged file, or one with an older schema, is rebuilt; a file of another application is never
    touched. A checksum guards every result. Only the owner may read the file.

    Args:
        path: the file, not a symbolic link; its folder is created.
        application_id: the kind of cache; a file with another id is foreign.
        max_mib: the approximate bound on the file and its journal. A result above an eighth of it is not
            stored.
        clock: seconds since 1970.
        retry_seconds: the pause after a failure.
    """

    def __init__(
        self,
        path: Path,
        application_id: int,
        max_mib: int,
        clock: Callable[[], float] = time.time,
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        self._max_bytes = max_mib * 1024 * 1024
        self._database = SharedDatabase(path, application_id, self._max_bytes)
        self._clock = clock
        self._retry_seconds = retry_seconds
        self._lock = threading.RLock()
        self._failures: list[str] = []
        self._is_closed = False
        self._retry_at = self._write_retry_at = time.monotonic()
        with self._recording_errors():
            self._open_connection()

    def close(self) -> None:
        """Close the file for good; idempotent."""
        with self._lock:
            self._database.disconnect()
            self._is_closed = True

    def take_failures(self) -> tuple[str, ...]:
        """Return and clear the names of the errors so far, such as ``SQLITE_FULL``."""
        with self._lock:
            failures, self._failures = tuple(self._failures), []
        return failures

    def record_failure(self, name: str) -> None:
        """Add an error's name to the failures."""
        self._failures.append(name)

    def find(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the stored results among these keys, and mark them as used."""
        found: dict[bytes, bytes] = {}
        stale: list[bytes] = []
        stale_before = self._clock() - TOUCH_INTERVAL_SECONDS
        with self._recording_errors():
            if database := self._open_connection():
                for key in keys:
                    if (row := database.execute(_GET, (key,)).fetchone()) is None:
                        continue
                    used_at, content = row
                    if not isinstance(content, bytes) or content[:_CHECKSUM_BYTES] != _checksum(
                        key, content[_CHECKSUM_BYTES:]
                    ):
                        self.record_failure("DAMAGED_ENTRY")
                        continue
                    found[key] = content[_CHECKSUM_BYTES:]
                    if used_at < stale_before:
                        stale.append(key)
        if stale:
            self.touch(stale)
        return found

    def put(self, results: Mapping[bytes, bytes]) -> bool:
        """Store results and evict others as needed; return whether the file is writable.

        Results that are too large, alone or together, are skipped; putting them again does not help.
        """
        now = self._clock()
        with self._recording_errors(writing=True):
            rows, free_bytes = [], self._max_bytes
            for key, result in results.items():
                if len(result) > min(free_bytes, self._max_bytes // _MAX_ENTRY_FRACTION):
                    self.record_failure("TOO_LARGE")
                else:
                    free_bytes -= len(result)
                    rows.append((key, now, _checksum(key, result) + result))
            if database := self._writable_connection():
                with database:
                    # Evict first: new rows then fill the freed pages, and the file need not grow.
                    self._evict(database, sum(len(content) for _, _, content in rows))
                    database.executemany(_PUT, rows)
                return True
        return False

    def touch(self, keys: Iterable[bytes]) -> bool:
        """Mark results as used; return whether any of them is stored."""
        now = self._clock()
        with self._recording_errors(writing=True):
            if database := self._writable_connection():
                with database:
                    return database.executemany(_TOUCH, [(now, key) for key in keys]).rowcount > 0
        return False

    def _evict(self, database: sqlite3.Connection, needed_bytes: int) -> None:
        for _ in range(_MAX_EVICTION_STEPS):
            (size,) = database.execute(_SIZE).fetchone()
            if size + needed_bytes <= self._max_bytes:
                return
            database.execute(_EVICT, (_EVICTED_PER_STEP,))

    @contextmanager
    def _recording_errors(self, writing: bool = False) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                name = error_name(error)
                if writing and self._database.is_connected and name.startswith("SQLITE_BUSY"):
                    # Another process is writing; reading still works.
                    self.record_failure("SQLITE_BUSY")
                    self._write_retry_at = time.monotonic() + self._retry_seconds
                else:
                    self._suspend(name, is_corruption(error))
            except DatabaseUnusableError as error:
                self._suspend(str(error))
            except OSError as error:
                self._suspend(errorcode.get(error.errno or 0, type(error).__name__))

    def _suspend(self, name: str, is_damaged: bool = False) -> None:
        self.record_failure(name)
        self._database.disconnect(is_damaged)
        self._retry_at = time.monotonic() + self._retry_seconds

    def _writable_connection(self) -> sqlite3.Connection | None:
        return self._open_connection() if time.monotonic() >= self._write_retry_at else None

    def _open_connection(self) -> sqlite3.Connection | None:
        """Return the connection; None after ``close`` or during the pause after a failure."""
        if self._is_closed or time.monotonic() < self._retry_at:
            return None
        if self._database.was_replaced:
            self.record_failure("REPLACED")
        return self._database.connection()


def _checksum(key: bytes, result: bytes) -> bytes:
    return blake2b(key + result, digest_size=_CHECKSUM_BYTES).digest()
