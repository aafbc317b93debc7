"""SQLite files of ours that hold what can be made again: telling them from others', and beginning anew."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_MAGIC = b"SQLite format 3\0"
# Where SQLite's header holds the number that names the application.
_APPLICATION = slice(68, 72)


def is_foreign(path: Path, application_id: int, rights: int | None = None) -> bool:
    """Say whether what is at a path is not ours; raises OSError where it cannot be read, as a folder cannot.

    By the header alone: what is damaged behind it does not make it somebody else's. A file that does not tell
    whose it is, as a crash or a power failure may leave a new one, is ours; but where ours have ``rights``
    that others' have not, only if it has them.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        return True
    with path.open("rb") as file:
        header = file.read(_APPLICATION.stop)
    if any(header):
        return not header.startswith(_MAGIC) or header[_APPLICATION] != application_id.to_bytes(4, "big")
    return rights is not None and (found.st_uid, stat.S_IMODE(found.st_mode)) != (os.geteuid(), rights)


def remove(path: Path) -> None:
    """Remove a database and what belongs to it, as far as it is there; raises OSError."""
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
