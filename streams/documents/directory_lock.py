"""A directory that one process at a time may use."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from scoring.storage.file_lock import take_lock
from streams.settings import WrongSettings


def lock_directory(directory: Path, name: str, setting: str) -> IO[bytes]:
    """Create ``directory`` and take its lock, which the returned file holds until it is closed.

    The kernel drops the lock with the process, however that ends, so none can be left behind.

    Args:
        directory: made when it is not there.
        name: of the file in it that is locked.
        setting: what names the directory, for the message.

    Raises:
        WrongSettings: in one line: another worker holds the lock, or the directory cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / name).open("ab")
    except OSError as error:
        raise WrongSettings(f"{setting}: cannot write to {directory}: {error.strerror}") from error
    try:
        if take_lock(lock):
            return lock
    except OSError as error:
        lock.close()
        raise WrongSettings(f"{setting}: cannot lock a file in {directory}: {error.strerror}") from error
    lock.close()
    raise WrongSettings(
        f"{setting}: {directory} is in use by another worker; give each worker a directory of its own"
    )
