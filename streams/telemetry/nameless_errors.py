"""Errors that libraries log by a text that they do not have, as a timeout has none: told by their type."""

from __future__ import annotations

import logging


class NamelessErrors(logging.Filter):
    """Puts the type of an error without a text in its place."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record in place; it is written in any case."""
        if isinstance(record.args, tuple):
            record.args = tuple(map(_named, record.args))
        return True


def _named(argument: object) -> object:
    return type(argument).__name__ if isinstance(argument, BaseException) and not str(argument) else argument
