"""SQLite files of ours that hold what can be made again: telling them from others', and beginning anew."""

from __future__ import annotations

from pathlib import Path

_MAGIC = b"SQLite format 3\0"
# Where SQLite's header holds the number that names the application.
_APPLICATION = slice(68, 72)


def header_of(path: Path) -> bytes:
    """Return what a file begins with, as far as it tells whose it is; raises OSError."""
    with path.open("rb") as file:
        return file.read(_APPLICATION.stop)


def is_of(header: bytes, application_id: int) -> bool:
    """Say whether a file that begins so is a database of this application."""
    return header.startswith(_MAGIC) and header[_APPLICATION] == application_id.to_bytes(4, "big")


def is_foreign(path: Path, application_id: int) -> bool:
    """Say whether a file is there that is not ours; raises OSError where it cannot be read.

    By the header alone: what is damaged behind it does not make it somebody else's. One of zeros is what a
    power failure may leave of a new file.
    """
    if not path.exists():
        return False
    header = header_of(path)
    return any(header) and not is_of(header, application_id)


def remove(path: Path) -> None:
    """Remove a database and what belongs to it, as far as it is there; raises OSError."""
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(f"{path.name}{end}").unlink(missing_ok=True)
