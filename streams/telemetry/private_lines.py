"""Keeps what customers write out of the log lines of libraries, and these from becoming a flood.

A library does not know what is private: it puts into its lines the records that it handles, and exceptions
whose text quotes them. Lines of our own say only what they mean to.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any

from structlog.tracebacks import extract
from structlog.typing import EventDict

#: Their lines repeat for as long as a collector is away: one a minute is enough to know.
_REPETITIVE = ("opentelemetry", "grpc")
_MINUTE_SECONDS = 60.0

#: Where exceptions come from whose text is about connections and files, not about what is sent.
_HARMLESS = ("aiokafka.", "ssl.")

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


class PrivateLines(logging.Filter):
    """Takes values and exceptions out of the arguments of libraries' lines, before these are put together."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record in place; it is never refused."""
        if isinstance(record.msg, dict):  # ours
            return True
        if isinstance(record.args, Mapping):
            record.args = {name: _harmless(value) for name, value in record.args.items()}
        elif record.args:
            record.args = tuple(map(_harmless, record.args))
        elif record.name == "asyncio":
            # It writes tasks and callbacks into its lines with all that they hold.
            record.msg = str(record.msg).partition("\n")[0].partition("(")[0]
        return True


class OncePerMinute(logging.Filter):
    """Lets one line a minute through of each of the libraries that repeat themselves."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether the line is to be written."""
        library = record.name.partition(".")[0]
        if library not in _REPETITIVE:
            return True
        now = self._clock()
        if now - self._last.get(library, -_MINUTE_SECONDS) < _MINUTE_SECONDS:
            return False
        self._last[library] = now
        return True


def private_traceback(_: Any, __: str, event: EventDict) -> EventDict:
    """Render the traceback of a library's line with the classes of its exceptions, without their texts.

    A processor of structlog, for the lines of others.
    """
    if info := event.pop("exc_info", None):
        event["exception"] = "\n".join(_traceback(info))
    return event


def _harmless(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    if isinstance(value, BaseException) and not _speaks(value):
        return type(value).__name__
    return value


def _speaks(error: BaseException) -> bool:
    return isinstance(error, OSError) or type(error).__module__.startswith(_HARMLESS)


def _traceback(info: _ExcInfo) -> Iterator[str]:
    """Give the lines of a traceback, what was raised last at its end."""
    kind, error, where = info
    spoken = {f"{type(one).__name__}: {one}" for one in _chain(error) if _speaks(one)}
    for stack in reversed(extract(kind, error, where, show_locals=False).stacks):
        for frame in stack.frames:
            yield f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}'
        whole = f"{stack.exc_type}: {stack.exc_value}"
        yield whole if whole in spoken else stack.exc_type


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
