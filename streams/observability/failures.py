"""Failures of one answer (bad data) or of the infrastructure, exit codes, and loggable reasons."""

import errno
import os
import sqlite3
import ssl
import traceback
from enum import StrEnum
from pathlib import Path

from scoring.cache.shared_database import SQLITE_FULL


class Stage(StrEnum):
    """The stage in which an answer failed; the value of ``dlq.stage``."""

    DECODE = "decode"
    VALIDATE = "validate"
    ENRICH = "enrich"
    SCORE = "score"
    PUBLISH = "publish"


class BadAnswer(Exception):
    """This answer cannot be judged, now or later; it goes to the dead letters.

    Args:
        stage: where it failed.
        error_class: a stable code or the name of an exception class.
        message: the reason, in a sentence. It goes only into the dead letter, with the original bytes, and
            never into a log: it may quote the customer.
        attempts: how often the failing step was tried.
    """

    def __init__(self, stage: Stage, error_class: str, message: str, attempts: int = 1) -> None:
        super().__init__(f"{stage}: {error_class}")
        self.stage = stage
        self.error_class = error_class
        self.message = message
        self.attempts = attempts


class InfrastructureFailure(Exception):
    """Something that every answer needs is missing; the worker exits before it acknowledges anything.

    ``exit_code`` is 3 if a service is unreachable or the disk is full, 70 if the worker itself is broken, and
    2 if a service refuses a setting.
    """

    def __init__(self, message: str, exit_code: int = 3) -> None:
        super().__init__(message)
        self.exit_code = exit_code


#: The exit code when a setting cannot be used.
EXIT_INVALID_SETTINGS = 2
#: The exit code of a worker that is itself broken (``EX_SOFTWARE`` of sysexits).
EXIT_SOFTWARE = 70
#: The exit code when something outside of the worker is missing: a service cannot be reached, or its disk is
#: full.
EXIT_UNREACHABLE = 3

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def exit_code(error: BaseException) -> int:
    """Return the exit code for an error that ends the worker: 3 if its disk is full, otherwise 70."""
    full = (isinstance(error, OSError) and error.errno in _NO_SPACE) or (
        isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorname", "") == SQLITE_FULL
    )
    return EXIT_UNREACHABLE if full else EXIT_SOFTWARE


#: The folders of our own code: a position in it says more about an error than one in a library.
_OWN_FOLDERS = tuple(
    str(Path(__file__).parents[2] / name) + os.sep for name in ("streams", "scoring", "schemas")
)


def loggable_reason(error: BaseException) -> str:
    """Return what failed and where, without the text of an exception, which may quote its input.

    An error of the operating system is reported by code and meaning, one of SQLite by its code, any other by
    its class; each with the position in our code.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return _error_code(error)
    own = [frame for frame in frames if frame.filename.startswith(_OWN_FOLDERS)]
    frame = (own or frames)[-1]
    path = Path(frame.filename)
    return f"{_error_code(error)} at {path.parent.name}/{path.name}:{frame.lineno}"


def _error_code(error: BaseException) -> str:
    kind = type(error).__name__
    if isinstance(error, sqlite3.Error):
        return str(getattr(error, "sqlite_errorname", kind))
    if not isinstance(error, OSError) or error.errno is None:
        return kind
    # The number of a TLS error is OpenSSL's own.
    code = kind if isinstance(error, ssl.SSLError) else errno.errorcode.get(error.errno, kind)
    return f"{code} ({error.strerror})"
