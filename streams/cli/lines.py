"""JSONL input of the commands: good lines go on, bad ones are named with their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from rich.progress import Progress

from schemas.jsonl import BadLine, Clock, read_jsonl, utc_now
from streams.cli.exits import CommandFailed, ExitCode
from streams.cli.options import STANDARD_INPUT
from streams.cli.output import say

T = TypeVar("T")
Place = int | str

_STANDARD_INPUT = Path("/dev/stdin")


class Complaints:
    """Names what is wrong with the input, and remembers that something was."""

    def __init__(self, source: str) -> None:
        self.count = 0
        self._source = source

    def about(self, place: Place, reason: str) -> None:
        """Say on standard error what is wrong, and where: a line's number from 1, or a name."""
        self.count += 1
        say(f"{self._source}, {f'line {place}' if isinstance(place, int) else place}: {reason}")

    def without_bad(self, lines: Iterable[tuple[int, T | BadLine]]) -> Iterator[tuple[int, T]]:
        """Pass the good lines on and complain about the others."""
        for number, line in lines:
            if isinstance(line, BadLine):
                self.about(number, line.reason)
            else:
                yield number, line

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends."""
        return ExitCode.BAD_INPUT if self.count else ExitCode.DONE


def opened(path: Path) -> Path:
    """Give the path to read for a FILE argument: ``-`` is standard input."""
    return _STANDARD_INPUT if path == STANDARD_INPUT else path


def read(
    path: Path, record_type: type[T], bar: Progress | None = None, clock: Clock = utc_now
) -> Iterator[tuple[int, T | BadLine]]:
    """Read records line by line, moving the bar; ``clock`` is for lines without a time.

    Raises:
        CommandFailed: the file cannot be read.
    """
    try:
        for numbered in read_jsonl(opened(path), record_type, clock):
            yield numbered
            if bar is not None:
                bar.advance(bar.task_ids[0])
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}") from error


def count(*paths: Path) -> int | None:
    """Count the lines of files for a progress bar; None with a pipe, which cannot be read twice."""
    return sum(map(_lines, paths)) if all(path.is_file() for path in paths) else None


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
