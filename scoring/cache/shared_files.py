"""Files that several processes share: a lock that the kernel releases, and atomic replacement."""

import fcntl
import os
from pathlib import Path
from typing import Protocol


class _HasFileno(Protocol):
    def fileno(self) -> int: ...


def try_lock(file: int | _HasFileno) -> bool:
    """Lock an open file until it is closed, without waiting.

    Returns:
        whether it is locked now; not when somebody else holds its lock.

    Raises:
        OSError: it cannot be locked, as on a file system without locks.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_atomically(path: Path, text: str) -> None:
    """Write a text in place of what is at a path, so that it is there whole even after a power failure.

    Raises:
        OSError: it cannot be written; what was there still is.
    """
    partial = path.with_name(f"{path.name}.part")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
