"""Structured log lines on standard error, without customers' texts.

A library does not know what is private: its lines contain the records that it processes, and exceptions that
quote them. Our own lines contain only intended values.
"""

import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Final

import structlog
from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    KafkaError,
    NotCoordinatorForGroupError,
    RebalanceInProgressError,
)
from opentelemetry.trace import format_span_id, format_trace_id, get_current_span
from structlog.tracebacks import extract
from structlog.typing import EventDict

from streams.observability.log_repetition import LEFT_OUT, RepetitionFilter
from streams.settings import LogSettings

#: A group's coordinator is created with the first group of a cluster, and moves with brokers.
_COORDINATOR: Final = (
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
)
#: Prefixes of aiokafka's lines, with the errors that they must be about, if any. Problems that do not resolve
#: themselves are reported by the worker: it is unready, or exits.
_HARMLESS: Final[dict[str, tuple[type[BaseException], ...]]] = {
    "Group Coordinator Request failed": _COORDINATOR,
    "FindCoordinator Request failed": _COORDINATOR,
    # It follows a line with the reason; alone it only says that the coordinator moved.
    "Marking the coordinator dead": (),
    "Heartbeat failed for group %s because it is rebalancing": (),
    "Heartbeat failed for group %s: generation id": (),
    "OffsetCommit failed for group %s due to group error": (RebalanceInProgressError,),
}
#: asyncio says so of any failed future that nobody waits for. Those of aiokafka fail with the connection,
#: which other lines report.
_ABANDONED: Final = "Future exception was never retrieved"


class FalseAlarmFilter(logging.Filter):
    """Lowers false alarms to level debug, and drops aiokafka's abandoned futures.

    Args:
        level: lower levels are not written.
    """

    def __init__(self, level: int) -> None:
        super().__init__()
        self._level = level

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record in place; return whether it is to be written."""
        if _is_abandoned(record):
            return False
        if record.name.startswith("aiokafka.") and _is_harmless(record):
            record.levelno, record.levelname = logging.DEBUG, logging.getLevelName(logging.DEBUG)
        return record.levelno >= self._level


def _is_abandoned(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return isinstance(error, KafkaError) and str(record.msg).startswith(_ABANDONED)


def _is_harmless(record: logging.LogRecord) -> bool:
    arguments = record.args if isinstance(record.args, tuple) else ()
    for beginning, errors in _HARMLESS.items():
        if str(record.msg).startswith(beginning):
            return not errors or any(isinstance(each, errors) for each in arguments)
    return False


#: Modules whose exceptions are about connections and files, not about data.
_SAFE_MODULES = ("aiokafka.", "ssl.")

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


class PrivacyFilter(logging.Filter):
    """Redacts values and exceptions in the arguments of libraries' lines, and names empty errors by type."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record in place; it is always written."""
        if isinstance(record.msg, dict):  # ours
            return True
        if isinstance(record.args, Mapping):
            record.args = {name: _redacted(value) for name, value in record.args.items()}
        elif record.args:
            record.args = tuple(map(_redacted, record.args))
        elif record.name == "asyncio":
            # asyncio writes tasks and callbacks with all their contents.
            record.msg = str(record.msg).partition("\n")[0].partition("(")[0]
        return True


def redact_traceback(_: Any, __: str, event: EventDict) -> EventDict:
    """Render the traceback of a library's line with the classes of its exceptions, without their texts.

    A structlog processor for foreign lines.
    """
    if info := event.pop("exc_info", None):
        event["exception"] = "\n".join(_traceback(info))
    return event


def _redacted(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    if isinstance(value, BaseException) and not (str(value) and _has_safe_text(value)):
        return type(value).__name__
    return value


def _has_safe_text(error: BaseException) -> bool:
    return isinstance(error, OSError) or type(error).__module__.startswith(_SAFE_MODULES)


def _traceback(info: _ExcInfo) -> Iterator[str]:
    """Yield the lines of a traceback, the last exception at the end."""
    kind, error, where = info
    safe = {f"{type(one).__name__}: {one}" for one in _chain(error) if _has_safe_text(one)}
    for stack in reversed(extract(kind, error, where, show_locals=False).stacks):
        for frame in stack.frames:
            yield f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}'
        whole = f"{stack.exc_type}: {stack.exc_value}"
        yield whole if whole in safe else stack.exc_type


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


#: Libraries whose routine lines do not help operators; their warnings are written. Lines of HTTP clients
#: contain URLs, and URLs of some translators contain texts.
_QUIET = (
    *("aiokafka", "faust", "mode", "asyncio", "aiohttp", "opentelemetry", "grpc"),
    *("httpcore", "httpcore2", "httpx", "httpx2", "urllib3"),
)

#: Their warnings quote headers of records, which may contain anything.
_SILENT = ("opentelemetry.trace", "opentelemetry.attributes")


def configure_logging(settings: LogSettings) -> None:
    """Write all log lines, including the libraries', through one renderer to standard error."""
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
    for each in (FalseAlarmFilter(level), RepetitionFilter(handler.handle), PrivacyFilter()):
        handler.addFilter(each)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder([LEFT_OUT]), redact_traceback],
            processors=_rendering(settings),
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.captureWarnings(capture=True)
    threading.excepthook = _log_thread_failure
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    for name in _SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _log_thread_failure(failure: threading.ExceptHookArgs) -> None:
    """Log an exception that ends a thread; Python's own hook would write a text with all that it quotes."""
    if failure.exc_value is not None:
        info = failure.exc_type, failure.exc_value, failure.exc_traceback
        logging.getLogger("threading").error("A thread failed", exc_info=info)


def add_trace_context(_: Any, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Add the ids of the current trace, if any, in the format of W3C Trace Context."""
    context = get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = format_trace_id(context.trace_id)
        event["span_id"] = format_span_id(context.span_id)
    return event


def writes_json(settings: LogSettings) -> bool:
    """Return whether log lines are JSON, for programs, and not text for a person at a terminal."""
    return settings.format == "json" or (settings.format == "auto" and not sys.stderr.isatty())


def _rendering(settings: LogSettings) -> list[structlog.typing.Processor]:
    # Tracebacks are rendered without local variables, which contain questions and answers.
    if not writes_json(settings):
        return [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty() and not os.environ.get("NO_COLOR"),
                exception_formatter=structlog.dev.plain_traceback,
            ),
        ]
    return [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ]
