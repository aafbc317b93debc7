"""Locks between the processes of a test run, which wait for one another while one of them makes something."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_SECONDS = 0.2


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock of ``path``, for which at most so many seconds are waited.

    Raises TimeoutError when another process has it for longer.
    """
    end = time.monotonic() + seconds
    with path.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError(f"another process held {path} for {seconds:g} s") from None
                time.sleep(_POLL_SECONDS)
        yield
