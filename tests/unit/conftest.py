"""What the unit tests share."""

import logging
from collections.abc import Iterator

import pytest
import structlog

from streams.observability.logs import configure_logging
from streams.settings import LogSettings
from tests.support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    """Give a clock that the test moves."""
    return Clock()


@pytest.fixture
def worker_log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Log as a worker does, and leave the log of the tests as it was."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    configure_logging(LogSettings(level="debug"))
    structlog.configure(
        cache_logger_on_first_use=False
    )  # or other tests could not capture these loggers' lines
    yield caplog
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
