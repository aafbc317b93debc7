"""Structured log lines on standard error. Texts of customers never come here."""

from __future__ import annotations

import logging
import sys

import structlog

from streams.settings import LogSettings

#: Libraries whose everyday lines say nothing to an operator; their warnings stay.
_QUIET = ("aiokafka", "faust", "mode", "asyncio", "aiohttp")


def configure(settings: LogSettings) -> None:
    """Send all log lines, the libraries' too, through one renderer to standard error."""
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=_rendering(settings))
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def _rendering(settings: LogSettings) -> list[structlog.typing.Processor]:
    # Tracebacks are rendered without local variables: these hold questions and answers.
    if settings.format == "console":
        return [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
        ]
    return [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ]
