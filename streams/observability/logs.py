"""Structured log lines on standard error. Customers' texts never appear in them.

A library does not know what is private: it puts into its lines the records that it handles, and exceptions
whose text quotes them. Lines of our own say only what they mean to.
"""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Final

import structlog
from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
    RebalanceInProgressError,
)
from opentelemetry.trace import format_span_id, format_trace_id, get_current_span
from structlog.tracebacks import extract
from structlog.typing import EventDict

from streams.settings import LogSettings

#: The coordinator of a group is made when the first group of a cluster comes, and moves when a broker does.
_COORDINATOR: Final = (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
)
#: Beginnings of lines of aiokafka, each with the errors that it must be about, if with any. What does not
#: mend itself is told by the worker in its own words: it is not ready, or ends.
_HARMLESS: Final[dict[str, tuple[type[BaseException], ...]]] = {
    "Group Coordinator Request failed": _COORDINATOR,
    "FindCoordinator Request failed": _COORDINATOR,
    # It follows from another line that has the reason; alone it says no more than that the coordinator moved.
    "Marking the coordinator dead": (),
    "Heartbeat failed for group %s because it is rebalancing": (),
    "Heartbeat failed for group %s: generation id": (),
    "OffsetCommit failed for group %s due to group error": (RebalanceInProgressError,),
}


class FalseAlarmFilter(logging.Filter):
    """Makes lines for debugging of false alarms.

    Args:
        level: what is below is not written.
    """

    def __init__(self, level: int) -> None:
        super().__init__()
        self._level = level

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record in place; say whether it is still to be written."""
        if record.name.startswith("aiokafka.") and _is_harmless(record):
            record.levelno, record.levelname = logging.DEBUG, logging.getLevelName(logging.DEBUG)
        return record.levelno >= self._level


def _is_harmless(record: logging.LogRecord) -> bool:
    arguments = record.args if isinstance(record.args, tuple) else ()
    for beginning, errors in _HARMLESS.items():
        if str(record.msg).startswith(beginning):
            return not errors or any(isinstance(each, errors) for each in arguments)
    return False


class EmptyErrorFilter(logging.Filter):
    """Puts the type of an error without a text in its place."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record in place; it is written in any case."""
        if isinstance(record.args, tuple):
            record.args = tuple(map(_type_if_empty, record.args))
        return True


def _type_if_empty(argument: object) -> object:
    return type(argument).__name__ if isinstance(argument, BaseException) and not str(argument) else argument


#: Their lines repeat for as long as a collector is away: one a minute is enough to know.
_REPETITIVE = ("opentelemetry", "grpc")
_MINUTE_SECONDS = 60.0

#: Where exceptions come from whose text is about connections and files, not about what is sent.
_SAFE_MODULES = ("aiokafka.", "ssl.")

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


class PrivacyFilter(logging.Filter):
    """Takes values and exceptions out of the arguments of libraries' lines, before these are put together."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record in place; it is never refused."""
        if isinstance(record.msg, dict):  # ours
            return True
        if isinstance(record.args, Mapping):
            record.args = {name: _redacted(value) for name, value in record.args.items()}
        elif record.args:
            record.args = tuple(map(_redacted, record.args))
        elif record.name == "asyncio":
            # It writes tasks and callbacks into its lines with all that they hold.
            record.msg = str(record.msg).partition("\n")[0].partition("(")[0]
        return True


class OncePerMinuteFilter(logging.Filter):
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


def redact_traceback(_: Any, __: str, event: EventDict) -> EventDict:
    """Render the traceback of a library's line with the classes of its exceptions, without their texts.

    A processor of structlog, for the lines of others.
    """
    if info := event.pop("exc_info", None):
        event["exception"] = "\n".join(_traceback(info))
    return event


def _redacted(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    if isinstance(value, BaseException) and not _has_safe_text(value):
        return type(value).__name__
    return value


def _has_safe_text(error: BaseException) -> bool:
    return isinstance(error, OSError) or type(error).__module__.startswith(_SAFE_MODULES)


def _traceback(info: _ExcInfo) -> Iterator[str]:
    """Give the lines of a traceback, what was raised last at its end."""
    kind, error, where = info
    spoken = {f"{type(one).__name__}: {one}" for one in _chain(error) if _has_safe_text(one)}
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


#: Libraries whose everyday lines say nothing to an operator; their warnings stay. Those of clients of HTTP
#: have URLs in them, and with some translators URLs have texts in them.
_QUIET = (
    *("aiokafka", "faust", "mode", "asyncio", "aiohttp", "opentelemetry", "grpc"),
    *("httpcore", "httpcore2", "httpx", "httpx2", "urllib3"),
)

#: Their warnings quote the headers of records, which may hold anything.
_SILENT = ("opentelemetry.trace", "opentelemetry.attributes")


def configure_logging(settings: LogSettings) -> None:
    """Send all log lines, the libraries' too, through one renderer to standard error."""
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        add_trace_context,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    for each in (FalseAlarmFilter(level), EmptyErrorFilter(), OncePerMinuteFilter(), PrivacyFilter()):
        handler.addFilter(each)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, redact_traceback], processors=_rendering(settings)
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.captureWarnings(capture=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    for name in _SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def add_trace_context(_: Any, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Name the trace that the line belongs to, where there is one, as W3C Trace Context writes it."""
    context = get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = format_trace_id(context.trace_id)
        event["span_id"] = format_span_id(context.span_id)
    return event


def _rendering(settings: LogSettings) -> list[structlog.typing.Processor]:
    # Tracebacks are rendered without local variables: these hold questions and answers.
    terminal = sys.stderr.isatty()
    if settings.format == "console" or (settings.format == "auto" and terminal):
        return [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.dev.ConsoleRenderer(
                colors=terminal and not os.environ.get("NO_COLOR"),
                exception_formatter=structlog.dev.plain_traceback,
            ),
        ]
    return [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ]
