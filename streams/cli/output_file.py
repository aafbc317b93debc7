"""Files that commands write: each has its name only when it is whole."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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
    ordinary = path.is_file() or not path.exists()
    partial = _partial_file(path) if ordinary else path
    try:
        yield partial
        if ordinary:
            partial.replace(path.resolve())
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}", ExitCode.WRONG_USAGE) from error
    finally:
        if ordinary and partial.is_file():
            partial.unlink()


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


def refuse_overwriting(output: Path | None, inputs: Iterable[Path | None]) -> None:
    """Look whether ``output``, or the file beside it, is one of the inputs.

    Raises:
        WrongUsage: it is.
    """
    for path in inputs:
        if path and output and any(_is_same(each, opened(path)) for each in (output, _partial_file(output))):
            raise WrongUsage(f"--output {output} would overwrite the input {path}")


def _partial_file(path: Path) -> Path:
    whole = path.resolve()
    return whole.with_name(whole.name + ".part")


def _is_same(output: Path, path: Path) -> bool:
    try:
        return output.is_file() and output.samefile(path)
    except OSError:  # not there, or not to be looked at: opening it will tell
        return False
