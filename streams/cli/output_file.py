"""Files that commands write: each has its name only when it is whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from streams.cli.exits import CommandFailed, ExitCode, WrongUsage
from streams.cli.lines import opened


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give where to write what is to stand at ``path``: beside it until it is whole, then in its place.

    A device or a pipe is written as it is, and a link stays one.

    Raises:
        CommandFailed: it cannot be written.
    """
    try:
        if not _is_ordinary(path):
            yield path
            return
        partial = _partial_file(path)
        with _gone_unless_whole(partial):
            yield partial
            partial.replace(_resolved(path))
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def _gone_unless_whole(partial: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        # What failed first is told: a file system that has become read-only does not let go of it either.
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


@contextmanager
def open_output(path: Path | None) -> Iterator[TextIO]:
    """Give where results are written: the file, which has its name when it is whole, or standard output.

    Raises:
        CommandFailed: the file cannot be written.
    """
    if path is None:
        yield sys.stdout
        return
    with whole_file(path) as partial, partial.open("w", encoding="utf-8") as file:
        yield file


def refuse_unwritable(path: Path) -> None:
    """Look whether a file can be made at ``path``, before the work whose results it is to hold.

    Raises:
        CommandFailed: it cannot.
    """
    try:
        if _is_ordinary(path):
            partial = _partial_file(path)
            partial.touch()
            partial.unlink()
    except OSError as error:
        raise _unwritable(path, error) from error


def refuse_overwriting(output: Path | None, inputs: Iterable[Path | None], option: str = "--output") -> None:
    """Look whether ``output``, which an option names, or the file beside it, is one of the inputs.

    Raises:
        WrongUsage: it is.
    """
    for path in inputs:
        if path and output and any(_is_same(each, opened(path)) for each in (output, _partial_file(output))):
            raise WrongUsage(f"{option} {output} would overwrite the input {path}")


def _is_ordinary(path: Path) -> bool:
    return path.is_file() or not path.exists()


def _unwritable(path: Path, error: OSError) -> CommandFailed:
    return CommandFailed(f"{path} cannot be written: {error.strerror}", ExitCode.WRONG_USAGE)


def _partial_file(path: Path) -> Path:
    whole = _resolved(path)
    return whole.with_name(whole.name + ".part")


def _resolved(path: Path) -> Path:
    # pathlib's own raises RuntimeError for a circle of links before Python 3.13.
    return Path(os.path.realpath(path))


def _is_same(output: Path, path: Path) -> bool:
    try:
        return output.is_file() and output.samefile(path)
    except OSError:  # not there, or not to be looked at: opening it will tell
        return False
