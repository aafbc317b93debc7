"""Structured log lines on standard error. Texts of customers never come here."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

import structlog
from opentelemetry.trace import format_span_id, format_trace_id, get_current_span

from streams.settings import LogSettings
from streams.telemetry.false_alarms import FalseAlarms
from streams.telemetry.nameless_errors import NamelessErrors
from streams.telemetry.private_lines import OncePerMinute, PrivateLines, private_traceback

#: Libraries whose everyday lines say nothing to an operator; their warnings stay. Those of clients of HTTP
#: have URLs in them, and with some translators URLs have texts in them.
_QUIET = (
    *("aiokafka", "faust", "mode", "asyncio", "aiohttp", "opentelemetry", "grpc"),
    *("httpcore", "httpcore2", "httpx", "httpx2", "urllib3"),
)

#: Their warnings quote the headers of records, which may hold anything.
_SILENT = ("opentelemetry.trace", "opentelemetry.attributes")


def configure(settings: LogSettings) -> None:
    """Send all log lines, the libraries' too, through one renderer to standard error."""
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        add_trace,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    for each in (FalseAlarms(level), NamelessErrors(), OncePerMinute(), PrivateLines()):
        handler.addFilter(each)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, private_traceback], processors=_rendering(settings)
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.captureWarnings(capture=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    for name in _SILENT:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def add_trace(_: Any, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
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
