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
        False if another process holds the lock.

    Raises:
        OSError: the file system has no locks, for example.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def write_atomically(path: Path, text: str) -> None:
    """Replace the text of a file; even a power failure leaves the old or the new text, whole.

    Raises:
        OSError: it cannot be written; the old text stays.
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
