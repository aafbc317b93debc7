"""The lock of a file, which the kernel drops with the process that holds it: none can be left behind."""

from __future__ import annotations

import fcntl
from typing import Protocol


class _Opened(Protocol):
    def fileno(self) -> int: ...


def take_lock(file: int | _Opened) -> bool:
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
