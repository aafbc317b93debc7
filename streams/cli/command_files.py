"""Files that commands read and write: numbered lines in, whole files out."""

import os
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO, TypeVar

from rich.progress import Progress

from schemas import ChatbotAnswer, RatedAnswer
from schemas.jsonl import BadLine, Clock, read_jsonl, utc_now
from schemas.records import Verdict
from scoring.values.rules import Reason
from streams.cli.command_output import CommandFailed, ExitCode, UsageError, plural, say
from streams.cli.common_options import STANDARD_INPUT

T = TypeVar("T")
SourceLocation = int | str

_STANDARD_INPUT = Path("/dev/stdin")
_LINES_NAMED = 10
_FIELDS_NAMED = 10
_ANY_INDEX = re.compile(r"\[\d+\]")


class InputErrors:
    """Names what is wrong with the input, and remembers that something was."""

    def __init__(self, source: str) -> None:
        self.count = 0
        self._source = source

    def report(self, location: SourceLocation, reason: str) -> None:
        """Say on standard error what is wrong, and where: a line's number from 1, or a name."""
        self.count += 1
        say(f"{self._source}, {f'line {location}' if isinstance(location, int) else location}: {reason}")

    def good_lines(self, lines: Iterable[tuple[int, T | BadLine]]) -> Iterator[tuple[int, T]]:
        """Pass the good lines on and complain about the others."""
        for number, line in lines:
            if isinstance(line, BadLine):
                self.report(number, line.reason)
            else:
                yield number, line

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends."""
        return ExitCode.BAD_INPUT if self.count else ExitCode.DONE


def input_path(path: Path) -> Path:
    """Give the path to read for a FILE argument: ``-`` is standard input."""
    return _STANDARD_INPUT if path == STANDARD_INPUT else path


def read_records(
    path: Path, record_type: type[T], bar: Progress | None = None, clock: Clock = utc_now
) -> Iterator[tuple[int, T | BadLine]]:
    """Read records line by line, moving the bar; ``clock`` is for lines without a time.

    At the end say on standard error which fields were ignored, in which line first and how often, which
    lines have the id of an answer of another line, and whether there was no line.

    Raises:
        CommandFailed: the file cannot be read.
    """
    ignored, repeated, number = _IgnoredFields(), _RepeatedIds(), 0
    try:
        for number, record in read_jsonl(input_path(path), record_type, clock, ignored.note):
            repeated.note(number, record)
            yield number, record
            if bar is not None:
                bar.advance(bar.task_ids[0])
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}") from error
    if not number:
        say(f"{path}: there is no line in it")
    ignored.tell(path)
    repeated.tell(path)


def line_numbers(lines: Collection[int]) -> str:
    """Name lines by their numbers, the first ten and how many more there are, such as ``line 3, 7``."""
    first = ", ".join(map(str, sorted(lines)[:_LINES_NAMED]))
    return f"line {_and_more(first, len(lines) - _LINES_NAMED)}"


class _IgnoredFields:
    """The fields that were ignored, of each the first line and how many there were."""

    def __init__(self) -> None:
        self._firsts: dict[str, int] = {}
        self._counts: Counter[str] = Counter()

    def note(self, number: int, field: str) -> None:
        name = _ANY_INDEX.sub("[]", field)
        if len(self._firsts) < _FIELDS_NAMED:
            self._firsts.setdefault(name, number)
        self._counts[name if name in self._firsts else ""] += 1

    def tell(self, path: Path) -> None:
        fields = (
            f"{name} ({_and_more(f'line {first}', self._counts[name] - 1)})"
            for name, first in self._firsts.items()
        )
        if self._firsts:
            say(f"{path}: fields that are ignored: {_and_more(', '.join(fields), self._counts[''])}")


class _RepeatedIds:
    """The lines of answers whose id an earlier line has, with that line's number."""

    def __init__(self) -> None:
        self._firsts: dict[str, int] = {}
        self._lines: dict[int, int] = {}

    def note(self, number: int, record: object) -> None:
        answer = record.answer if isinstance(record, RatedAnswer) else record
        if isinstance(answer, ChatbotAnswer):
            first = self._firsts.setdefault(answer.answer_id, number)
            if first != number:
                self._lines[number] = first

    def tell(self, path: Path) -> None:
        if self._lines:
            named = [f"line {line} has that of line {first}" for line, first in self._lines.items()]
            some = _and_more(", ".join(named[:_LINES_NAMED]), len(named) - _LINES_NAMED)
            say(f"{path}: {plural(len(named), 'repeated answer id')} ({some})")


def _and_more(named: str, rest: int) -> str:
    return f"{named} and {rest} more" if rest > 0 else named


def count_lines(*paths: Path) -> int | None:
    """Count the lines of files for a progress bar; None with a pipe, which cannot be read twice."""
    return sum(map(_lines, paths)) if all(path.is_file() for path in paths) else None


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
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
        with _removed_on_error(partial):
            yield partial
            partial.replace(_resolved(path))
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def _removed_on_error(partial: Path) -> Iterator[None]:
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
    with atomic_write(path) as partial, partial.open("w", encoding="utf-8") as file:
        yield file


def check_writable(path: Path) -> None:
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


def check_not_overwriting(
    output: Path | None, inputs: Iterable[Path | None], option: str = "--output"
) -> None:
    """Look whether ``output``, which an option names, or the file beside it, is one of the inputs.

    Raises:
        UsageError: it is.
    """
    for path in inputs:
        if (
            path
            and output
            and any(_is_same(each, input_path(path)) for each in (output, _partial_file(output)))
        ):
            raise UsageError(f"{option} {output} would overwrite the input {path}")


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


class MissingDocuments:
    """Takes the verdicts of one file in, and tells which of its answers name documents that are not there.

    Args:
        source: the file, as it is named.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._lines: list[int] = []
        self._example = ""

    def add(self, number: int, verdict: Verdict) -> None:
        """Take in what became of the answer of a line: its number from 1."""
        if missing := verdict.missing_context_ids:
            self._lines.append(number)
            self._example = self._example or missing[0]

    def report(self) -> None:
        """Say how many answers there are and where, if any."""
        if self._lines:
            count, lines = plural(len(self._lines), "answer"), line_numbers(self._lines)
            say(
                f"{self._source}: {count} with documents that are not there, such as {self._example} "
                f"({lines}): degraded {Reason.CONTEXT_MISSING}"
            )

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends: such answers go to review, since what they rest on could not be looked at."""
        return ExitCode.BAD_INPUT if self._lines else ExitCode.DONE
