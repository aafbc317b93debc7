"""The end of a command: its exit code, and one line on standard error when it is not 0."""

from __future__ import annotations

from enum import IntEnum

from streams.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE, EXIT_WRONG_SETTINGS


class ExitCode(IntEnum):
    """What the shell learns. The last two follow the custom of 128 plus the signal's number."""

    DONE = 0
    BAD_INPUT = 1
    WRONG_USAGE = EXIT_WRONG_SETTINGS
    UNREACHABLE = EXIT_UNREACHABLE
    SOFTWARE = EXIT_SOFTWARE
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class CommandFailed(Exception):
    """A command cannot go on; the message is one line for the person who ran it."""

    def __init__(self, message: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


class WrongUsage(CommandFailed):
    """Options that do not go together, or that cannot be served here."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.WRONG_USAGE)
