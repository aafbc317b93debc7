"""Files that commands read and write, and concurrent work on their lines with results in their order."""

import asyncio
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import TextIO, TypeVar

from rich.progress import Progress

from schemas import ChatbotAnswer, RatedAnswer
from schemas.jsonl import BadLine, Clock, read_csv, read_jsonl, utc_now
from streams.cli.command_output import CommandFailed, ExitCode, InputErrors, UsageError, and_more, plural, say
from streams.cli.common_options import STANDARD_INPUT
from streams.observability.failures import BadAnswer

T = TypeVar("T")

_MAX_IGNORED_FIELDS = 10
_MAX_REPEATED_IDS = 10
_ANY_INDEX = re.compile(r"\[\d+\]")


def input_path(path: Path) -> Path:
    """Return the path to read for a FILE argument: ``-`` is standard input."""
    return Path("/dev/stdin") if path == STANDARD_INPUT else path


def read_records(
    path: Path, record_type: type[T], bar: Progress | None = None, clock: Clock = utc_now
) -> Iterator[tuple[int, T | BadLine]]:
    """Yield the records of a file with their line numbers, and advance the bar.

    ``clock`` gives the time of lines without one. At the end it reports on standard error ignored fields,
    repeated answer ids, and a file without lines. Raises CommandFailed if the file cannot be read.
    """
    remarks, number = _Remarks(), 0
    try:
        read = read_csv if path.suffix == ".csv" else read_jsonl
        for number, record in read(input_path(path), record_type, clock, remarks.note_field):
            remarks.note_id(number, record)
            yield number, record
            if bar is not None:
                bar.advance(bar.task_ids[0])
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}") from error
    if not number:
        say(f"{path}: the file has no lines")
    remarks.report(path)


class _Remarks:
    """Ignored fields with the first line of each and its count, and the lines that repeat an answer id."""

    def __init__(self) -> None:
        self._fields: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._ids: dict[str, int] = {}
        self._repeated: list[str] = []

    def note_field(self, number: int, field: str) -> None:
        name = _ANY_INDEX.sub("[]", field)
        if len(self._fields) < _MAX_IGNORED_FIELDS:
            self._fields.setdefault(name, number)
        self._counts[name if name in self._fields else ""] += 1

    def note_id(self, number: int, record: object) -> None:
        answer = record.answer if isinstance(record, RatedAnswer) else record
        if isinstance(answer, ChatbotAnswer):
            first = self._ids.setdefault(answer.answer_id, number)
            if first != number:
                self._repeated.append(f"line {number} repeats line {first}")

    def report(self, path: Path) -> None:
        if self._fields:
            fields = (
                f"{name} ({and_more(f'line {first}', self._counts[name] - 1)})"
                for name, first in self._fields.items()
            )
            say(f"{path}: ignored fields: {and_more(', '.join(fields), self._counts[''])}")
        if count := len(self._repeated):
            some = and_more(", ".join(self._repeated[:_MAX_REPEATED_IDS]), count - _MAX_REPEATED_IDS)
            say(f"{path}: {plural(count, 'repeated answer id')} ({some})")


def count_lines(*paths: Path) -> int | None:
    """Count the lines of files for a progress bar; return None if one is a pipe, which is read only once."""
    return sum(map(_lines, paths)) if all(path.is_file() for path in paths) else None


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to ``path``, and move it to ``path`` when the block succeeds.

    A device or a pipe is written directly, and a symbolic link is kept. Raises CommandFailed.
    """
    try:
        if not _is_ordinary(path):
            yield path
            return
        partial = _partial_file(path)
        try:
            yield partial
            partial.replace(os.path.realpath(path))
        except BaseException:
            # The first error is reported: on a file system that became read-only unlinking fails, too.
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def open_output(path: Path | None) -> Iterator[TextIO]:
    """Open the file, which appears when complete, or standard output. Raises CommandFailed if unwritable."""
    if path is None:
        yield sys.stdout
        return
    with atomic_write(path) as partial, partial.open("w", encoding="utf-8") as file:
        yield file


def check_writable(path: Path) -> None:
    """Check, before long work, that its result can be written to ``path``; raises CommandFailed if not."""
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
    """Raise UsageError, naming ``option``, if ``output`` or its temporary file is one of the inputs."""
    outputs = [output, _partial_file(output)] if output else []
    for path, each in product(filter(None, inputs), outputs):
        with suppress(OSError):  # it does not exist or cannot be read: opening it reports that
            if each.is_file() and each.samefile(input_path(path)):
                raise UsageError(f"{option} {output} would overwrite the input {path}")


def _is_ordinary(path: Path) -> bool:
    return path.is_file() or not path.exists()


def _unwritable(path: Path, error: OSError) -> CommandFailed:
    return CommandFailed(f"{path} cannot be written: {error.strerror}", ExitCode.WRONG_USAGE)


def _partial_file(path: Path) -> Path:
    # Path.resolve() raises RuntimeError for a circle of links before Python 3.13.
    return Path(f"{os.path.realpath(path)}.part")


Item = TypeVar("Item")
Result = TypeVar("Result")

_READ_AHEAD = 64


async def aiter_in_thread(items: Iterable[Item]) -> AsyncGenerator[Item, None]:
    """Iterate over ``items``, which may block as a pipe does, without blocking the event loop.

    An exception of ``items`` is raised here. At most 64 items are read ahead.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Item | Exception | None] = asyncio.Queue()
    free = threading.Semaphore(_READ_AHEAD)
    closed = threading.Event()

    def read() -> None:
        last = None
        try:
            for item in items:
                free.acquire()
                if closed.is_set():
                    return
                loop.call_soon_threadsafe(queue.put_nowait, item)
        except Exception as error:  # noqa: BLE001 - raised again by the generator
            last = error
        if not closed.is_set():
            loop.call_soon_threadsafe(queue.put_nowait, last)

    # Not a thread of the executor: Ctrl-C would wait for it until the pipe gives its next line.
    threading.Thread(target=read, daemon=True).start()
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, Exception):
                raise item
            free.release()
            yield item
    finally:
        closed.set()
        free.release()


async def map_good_lines(
    lines: Iterable[tuple[int, Item | BadLine]],
    work: Callable[[Item], Awaitable[Result]],
    limit: int,
    errors: InputErrors,
    failure: str = "the scorer failed on this answer",
) -> AsyncGenerator[tuple[int, Result], None]:
    """Run ``work`` on up to ``limit`` lines concurrently, and yield line numbers and results in their order.

    Bad lines are reported in their turn, and so is a ``failure`` if ``work`` raises BadAnswer. Any other
    exception of ``lines`` or ``work`` ends the iteration and cancels the pending work.
    """
    started: asyncio.Queue[tuple[int, asyncio.Future[Result | BadLine]] | None] = asyncio.Queue(limit)
    pending: set[asyncio.Future[Result | BadLine]] = set()

    async def outcome_of(number: int, item: Item | BadLine) -> Result | BadLine:
        try:
            return item if isinstance(item, BadLine) else await work(item)
        except BadAnswer as error:
            return BadLine(number, f"{failure}: {error.error_class}")

    async def start_all() -> None:
        try:
            async with aclosing(aiter_in_thread(lines)) as source:
                async for number, item in source:
                    task = asyncio.ensure_future(outcome_of(number, item))
                    pending.add(task)
                    await started.put((number, task))
        except Exception as error:  # noqa: BLE001 - raised in its turn
            failed = asyncio.get_running_loop().create_future()
            failed.set_exception(error)
            await started.put((0, failed))
        await started.put(None)

    starting = asyncio.create_task(start_all())
    try:
        while (line := await started.get()) is not None:
            number, task = line
            pending.discard(task)
            if isinstance(outcome := await task, BadLine):
                errors.report(number, outcome.reason)
            else:
                yield number, outcome
    finally:
        # Awaited, too: the resources of the work may be closed as soon as this returns.
        starting.cancel()
        for task in pending:
            task.cancel()
        await asyncio.gather(starting, *pending, return_exceptions=True)
