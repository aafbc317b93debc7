"""What the SDK refuses, told as a wrong setting: its ``OTEL_*`` variables are settings too."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from streams.settings import WrongSettings
from streams.settings.base import one_line

_VARIABLE = re.compile(r"OTEL_\w+")
#: From the first quote to the last: values stand between quotes in what the SDK says, and may be secrets.
_QUOTED = re.compile(r"'.*'|\".*\"")


@contextmanager
def refusals() -> Iterator[None]:
    """Raise WrongSettings for whatever is raised inside, where the SDK's providers and exporters are made.

    Its one line tells the reason without values, and the names of the ``OTEL_*`` variables that are set:
    the SDK seldom says which one it was.
    """
    try:
        yield
    except WrongSettings:
        raise
    except Exception as error:
        raise WrongSettings(_told(error)) from error


def _told(error: Exception) -> str:
    reason = _QUOTED.sub("...", one_line(str(error))) or type(error).__name__
    variables = sorted(name for name in os.environ if _VARIABLE.fullmatch(name))
    named = f" (variables that are set: {', '.join(variables)})" if variables else ""
    return f"telemetry: OpenTelemetry cannot be set up: {reason}{named}"
