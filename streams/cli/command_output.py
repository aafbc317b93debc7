"""Output and exit codes of commands: results on standard output, all else on standard error."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Mapping
from enum import IntEnum
from importlib.util import find_spec
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from streams.observability.failures import EXIT_INVALID_SETTINGS, EXIT_SOFTWARE, EXIT_UNREACHABLE

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class ExitCode(IntEnum):
    """The exit codes of commands. The last two follow the convention of 128 plus the signal's number."""

    DONE = 0
    BAD_INPUT = 1
    WRONG_USAGE = EXIT_INVALID_SETTINGS
    UNREACHABLE = EXIT_UNREACHABLE
    SOFTWARE = EXIT_SOFTWARE
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class CommandFailed(Exception):
    """A command cannot continue; the message is one line for its user."""

    def __init__(self, message: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


class UsageError(CommandFailed):
    """Options exclude each other, or cannot be served here."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.WRONG_USAGE)


def say(message: str) -> None:
    """Print one line for the user on standard error."""
    sys.stderr.write(f"truthgate: {printable(message)}\n")
    sys.stderr.flush()


def plural(count: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun: ``1 answer``, ``2 answers``; ``many`` is an irregular plural."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def write_line(line: str) -> None:
    """Write one line of results to standard output."""
    sys.stdout.write(line + "\n")


def json_line(value: Mapping[str, Any]) -> str:
    """Encode ``value`` as one line of JSON, in Unicode, with its keys in their order."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def write_json(value: Mapping[str, Any]) -> None:
    """Write ``value`` as one line of JSON to standard output; see :func:`json_line`."""
    write_line(json_line(value))


def printable(text: str) -> str:
    """Replace control and direction characters, line ends too, by spaces: one character by one.

    Topics hold text of others; an escape sequence in it could rewrite the screen.
    """
    return "".join(" " if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} else c for c in text)


def progress_bar(what: str, total: int | None, *, shown: bool = True) -> Progress:
    """Return a progress bar with one task; it appears on standard error if that is a terminal."""
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


def indexing_bar(shared: Progress | None = None) -> Callable[[int, int], None]:
    """Return a callback that takes the number of indexed documents and of all, and updates a bar.

    ``shared`` is a bar that is displayed already: rich allows one at a time.
    """
    bar = shared or progress_bar("indexing documents", None)
    tasks = [] if shared else list(bar.task_ids)

    def show(done: int, total: int) -> None:
        if not tasks:
            tasks.append(bar.add_task("indexing documents"))
        if not shared:
            bar.start()
        bar.update(tasks[0], completed=done, total=total)
        if done == total and not shared:
            bar.stop()

    return show


class OutputFailed(UsageError):
    """Standard output cannot be written; a closed pipe stays a BrokenPipeError."""


class _StdoutFile(FileIO):
    """Raises OutputFailed for standard output: any other OSError of a command is a defect."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputFailed(f"standard output cannot be written: {error.strerror}") from error


def check_standard_output() -> None:
    """Make standard output UTF-8, and let it raise OutputFailed, as this does if there is none."""
    if sys.stdout is None:
        raise OutputFailed("standard output is closed")
    if not isinstance(sys.stdout, TextIOWrapper):
        return
    buffer = BufferedWriter(_StdoutFile(sys.stdout.fileno(), "w", closefd=False))
    at_once = sys.stdout.line_buffering or sys.stdout.write_through
    sys.stdout = TextIOWrapper(buffer, encoding="utf-8", line_buffering=at_once)


def require_package(package: str, extra: str) -> None:
    """Raise UsageError, naming the extra, if an optional package is not installed."""
    if find_spec(package) is None:
        raise UsageError(f"this needs {package}: pip install 'truthgate[{extra}]'")
