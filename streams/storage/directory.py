"""A directory that one process at a time may use."""

import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from scoring.cache.shared_database import try_lock
from streams.observability.failures import EXIT_UNREACHABLE, InfrastructureFailure, exit_code
from streams.settings import InvalidSettings


def lock_directory(directory: Path, name: str, setting: str) -> IO[bytes]:
    """Create a directory and lock it; the returned file holds the lock until it is closed.

    The kernel releases the lock when the process ends, in whatever way, so none is left behind.

    Args:
        directory: created if missing.
        name: the file in it that is locked.
        setting: the setting of the directory, for messages.

    Raises:
        InvalidSettings: another worker holds the lock, or the directory cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / name).open("ab")
    except OSError as error:
        raise InvalidSettings(f"{setting}: cannot write to {directory}: {error.strerror}") from error
    try:
        if try_lock(lock):
            return lock
    except OSError as error:
        lock.close()
        raise InvalidSettings(f"{setting}: cannot lock a file in {directory}: {error.strerror}") from error
    lock.close()
    raise InvalidSettings(
        f"{setting}: {directory} is in use by another worker; give each worker its own directory"
    )


def check_writable(directory: Path, setting: str) -> None:
    """Check that a directory can be created, or written to with all that is in it; leave nothing there.

    Args:
        directory: which a worker creates if it is missing.
        setting: the setting of the directory, for messages.

    Raises:
        InvalidSettings: something in it cannot be read or written, or it cannot be created.
        InfrastructureFailure: its disk is full.
    """
    # A link that leads nowhere exists too: no directory can be created in its place.
    existing = next(each for each in (directory, *directory.absolute().parents) if os.path.lexists(each))
    try:
        with TemporaryFile(dir=existing) as file:
            file.write(b"x")
    except OSError as error:
        if exit_code(error) == EXIT_UNREACHABLE:
            raise no_space(setting, existing) from error
        raise InvalidSettings(f"{setting}: cannot write to {directory}: {error.strerror}") from error
    for path in directory.rglob("*"):
        if not os.access(path, os.R_OK | os.W_OK, effective_ids=True):
            raise InvalidSettings(f"{setting}: cannot write to {path}: it belongs to another user")


def no_space(setting: str, directory: Path) -> InfrastructureFailure:
    """Return the failure of a full disk."""
    return InfrastructureFailure(f"{setting}: no space left on {directory}", EXIT_UNREACHABLE)
