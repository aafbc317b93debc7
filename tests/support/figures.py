"""Figures that tests measure, printed at the end of the run."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

#: What the tests tell the report goes by this name.
_PROPERTY = "figures"

Tell = Callable[[str], None]


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Tell:
    """Give a function that adds a line to the report."""
    return lambda line: request.node.user_properties.append((_PROPERTY, line))


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Print what was told."""
    if lines := list(reported(terminalreporter, _PROPERTY)):
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)
    return (yield)


def reported(terminalreporter: pytest.TerminalReporter, wanted: str) -> Iterator[Any]:
    """Give what the tests told by this name, from whatever process they ran in."""
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        if isinstance(report, pytest.TestReport) and report.when == "call":
            yield from (value for name, value in report.user_properties if name == wanted)
