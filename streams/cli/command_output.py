"""Output and exit codes of commands: results on standard output, all else on standard error."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Mapping
from enum import IntEnum
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from streams.observability.failures import EXIT_INVALID_SETTINGS, EXIT_SOFTWARE, EXIT_UNREACHABLE

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class ExitCode(IntEnum):
    """What the shell learns. The last two follow the custom of 128 plus the signal's number."""

    DONE = 0
    BAD_INPUT = 1
    WRONG_USAGE = EXIT_INVALID_SETTINGS
    UNREACHABLE = EXIT_UNREACHABLE
    SOFTWARE = EXIT_SOFTWARE
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class CommandFailed(Exception):
    """A command cannot go on; the message is one line for the person who ran it."""

    def __init__(self, message: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


class UsageError(CommandFailed):
    """Options that do not go together, or that cannot be served here."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.WRONG_USAGE)


def say(message: str) -> None:
    """Tell the person one line on standard error."""
    sys.stderr.write(f"truthgate: {printable(message)}\n")
    sys.stderr.flush()


def plural(count: int, one: str, many: str | None = None) -> str:
    """Give a count with its noun, ``1 answer`` or ``2 answers``; ``many`` where an "s" is not enough."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def write_line(line: str) -> None:
    """Write one line of results to standard output."""
    sys.stdout.write(line + "\n")


def json_line(value: Mapping[str, Any]) -> str:
    """Give ``value`` as one line of JSON, in Unicode, with its keys in their given order."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def printable(text: str) -> str:
    """Make text safe for a terminal: control and direction characters, line ends too, become spaces.

    What a topic holds was written by others; an escape sequence in it could rewrite the screen.
    """
    return "".join(" " if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} else c for c in text)


def progress_bar(what: str, total: int | None, *, shown: bool = True) -> Progress:
    """Give a progress bar with one task, on standard error, and only when that is a terminal."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not (shown and console.is_terminal),
    )
    bar.add_task(what, total=total)
    return bar


def indexing_bar(beside: Progress | None = None) -> Callable[[int, int], None]:
    """Give what shows how far indexing is, called with how many documents are done and how many there are.

    ``beside`` is a bar that is shown already: there can be but one at a time.
    """
    bar = beside or progress_bar("indexing documents", None)
    tasks = [] if beside else list(bar.task_ids)

    def show(done: int, total: int) -> None:
        if not tasks:
            tasks.append(bar.add_task("indexing documents"))
        if not beside:
            bar.start()
        bar.update(tasks[0], completed=done, total=total)
        if done == total and not beside:
            bar.stop()

    return show


class OutputFailed(UsageError):
    """Standard output cannot be written; a pipe whose reader left is a BrokenPipeError as ever."""


class _StdoutFile(FileIO):
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
    buffer = BufferedWriter(_StdoutFile(sys.stdout.fileno(), "w", closefd=False))
    at_once = sys.stdout.line_buffering or sys.stdout.write_through
    sys.stdout = TextIOWrapper(buffer, encoding="utf-8", line_buffering=at_once)
