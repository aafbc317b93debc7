"""The two ways in which work on an answer fails: bad data, or an infrastructure failure."""

import errno
import os
import ssl
import traceback
from enum import StrEnum
from pathlib import Path


class Stage(StrEnum):
    """Where on its way an answer was when it failed; the value of ``dlq.stage``."""

    DECODE = "decode"
    VALIDATE = "validate"
    ENRICH = "enrich"
    SCORE = "score"
    PUBLISH = "publish"


class BadAnswer(Exception):
    """This one answer cannot be judged, now or later; it goes to the dead letters.

    Args:
        stage: where it failed.
        error_class: a stable code or the name of an exception class.
        message: what was wrong, in a sentence. It goes into the dead letter only, beside the
            original bytes, and never into a log: it may quote the customer.
        attempts: how often the failing step was tried.
    """

    def __init__(self, stage: Stage, error_class: str, message: str, attempts: int = 1) -> None:
        super().__init__(f"{stage}: {error_class}")
        self.stage = stage
        self.error_class = error_class
        self.message = message
        self.attempts = attempts


class InfrastructureFailure(Exception):
    """Something that every answer needs is gone; the worker ends before it acknowledges anything.

    ``exit_code`` is 3 when a service cannot be reached, 70 when the worker itself is broken, and 2 when a
    service refuses a setting.
    """

    def __init__(self, message: str, exit_code: int = 3) -> None:
        super().__init__(message)
        self.exit_code = exit_code


#: The exit code when a setting cannot be used.
EXIT_INVALID_SETTINGS = 2
#: The exit code of a worker that is itself broken (``EX_SOFTWARE`` of sysexits).
EXIT_SOFTWARE = 70
#: The exit code when a service that the worker needs cannot be reached.
EXIT_UNREACHABLE = 3


#: Where our own code is: what it was about is told by its place, more than by that of a library.
_OURS = tuple(str(Path(__file__).parents[1] / name) + os.sep for name in ("streams", "scoring", "schemas"))


def loggable_reason(error: BaseException) -> str:
    """Say what went wrong and where, without the text of an exception that may quote what it was given.

    An error of the operating system is told with its code and meaning, any other with its class; and each
    with the place in our code where it came up.
    """
    return f"{_error_code(error)}{_error_location(error)}"


def _error_code(error: BaseException) -> str:
    kind = type(error).__name__
    if not isinstance(error, OSError) or error.errno is None:
        return kind
    # The number of an error of TLS is OpenSSL's own.
    code = kind if isinstance(error, ssl.SSLError) else errno.errorcode.get(error.errno, kind)
    return f"{code} ({error.strerror})"


def _error_location(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_OURS)]
    if not frames:
        return ""
    frame = (ours or frames)[-1]
    path = Path(frame.filename)
    return f" at {path.parent.name}/{path.name}:{frame.lineno}"
