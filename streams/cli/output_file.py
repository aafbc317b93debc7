"""Files that commands write: each has its name only when it is whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streams.cli.exits import CommandFailed, ExitCode


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give where to write what is to stand at ``path``: beside it until it is whole, then in its place.

    A device or a pipe is written as it is, and a link stays one.

    Raises:
        CommandFailed: it cannot be written.
    """
    ordinary = path.is_file() or not path.exists()
    partial = partial_file(path) if ordinary else path
    try:
        yield partial
        if ordinary:
            partial.replace(path.resolve())
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}", ExitCode.WRONG_USAGE) from error
    finally:
        if ordinary and partial.is_file():
            partial.unlink()


def partial_file(path: Path) -> Path:
    """Name the file that stands beside ``path``, or what it links to, while it is written."""
    whole = path.resolve()
    return whole.with_name(whole.name + ".part")
