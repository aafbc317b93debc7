"""Standard output that says so when it cannot be written: a full disk, a closed descriptor."""

from __future__ import annotations

import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING

from streams.cli.exits import WrongUsage

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputFailed(WrongUsage):
    """Standard output cannot be written; a pipe whose reader left is a BrokenPipeError as ever."""


class _Checked(FileIO):
    """Raises what only standard output raises: any other OSError of a command is a defect."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputFailed(f"standard output cannot be written: {error.strerror}") from error


def check_standard_output() -> None:
    """Make standard output UTF-8, as JSON is whatever the locale, and let it raise OutputFailed.

    Raises:
        OutputFailed: this process was started without one.
    """
    if sys.stdout is None:
        raise OutputFailed("standard output is closed")
    if not isinstance(sys.stdout, TextIOWrapper):
        return
    buffer = BufferedWriter(_Checked(sys.stdout.fileno(), "w", closefd=False))
    at_once = sys.stdout.line_buffering or sys.stdout.write_through
    sys.stdout = TextIOWrapper(buffer, encoding="utf-8", line_buffering=at_once)
