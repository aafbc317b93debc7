"""The reasons of failed exports, which the SDK's exporters tell in their log alone.

Only what cannot quote what was exported is taken from there: statuses, and errors of connections.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final

from streams.failures import as_logged

#: They say again and again what is said once in their place.
_REPETITIVE: Final = "opentelemetry.exporter"
_SILENT: Final = "opentelemetry.sdk._shared_internal"
#: Statuses of gRPC that are given without anybody having read what was sent: the details are about the way.
_ABOUT_THE_WAY: Final = ("UNAVAILABLE", "DEADLINE_EXCEEDED")


class _Ear(logging.Handler):
    """Keeps the last reason that each thread was told."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = threading.local()

    def emit(self, record: logging.LogRecord) -> None:
        arguments = record.args if isinstance(record.args, tuple) else ()
        if reason := ", ".join(_reasons(arguments)):
            self.last.reason = reason


_EAR: Final = _Ear()


def listen() -> None:
    """Take the exporters' lines in place of the log; may be called again."""
    exporters = logging.getLogger(_REPETITIVE)
    exporters.addHandler(_EAR)
    exporters.setLevel(logging.WARNING)
    exporters.propagate = False
    logging.getLogger(_SILENT).setLevel(logging.CRITICAL)


def forget() -> None:
    """Begin to listen to what this thread exports next."""
    _EAR.last.reason = None


def heard() -> str | None:
    """Return why this thread's last export failed, as far as its exporter has said."""
    reason: str | None = getattr(_EAR.last, "reason", None)
    return reason


def _reasons(arguments: tuple[Any, ...]) -> Iterator[str]:
    for value in arguments:
        if isinstance(value, Enum):  # a status of gRPC
            yield value.name
            if value.name in _ABOUT_THE_WAY:
                yield " ".join(str(arguments[-1]).split())
        elif isinstance(value, BaseException):
            yield as_logged(_cause(value))
        elif isinstance(value, int):
            yield f"HTTP {value}"


def _cause(error: BaseException) -> BaseException:
    """Return what the error of a connection comes from, such as a name that is not known."""
    while (deeper := error.__cause__ or error.__context__) is not None:
        error = deeper
    return error
