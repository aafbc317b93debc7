"""What the fault tests share: their scale, and the report at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.ledger import Ledger

SCALE_VARIABLE = "TRUTHGATE_TEST_FAULTS"


@dataclass(frozen=True, slots=True)
class Scale:
    """How much each fault test does; the short form is for every change, the long one for ``make faults``."""

    kills: int
    events: int
    events_per_second: int
    outage_seconds: float


SHORT = Scale(kills=3, events=600, events_per_second=80, outage_seconds=12)
LONG = Scale(kills=12, events=4000, events_per_second=120, outage_seconds=60)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report."""

    fault: str
    faults: int
    events: int
    dead_letters: int
    lost: int
    repeated: float


_rows: list[Row] = []


@pytest.fixture(scope="session")
def scale() -> Scale:
    """Give the scale that the environment asks for."""
    return LONG if os.environ.get(SCALE_VARIABLE) == "long" else SHORT


@pytest.fixture
def report(request: pytest.FixtureRequest):
    """Give a function that adds a line about this test to the report."""

    def add(ledger: Ledger, faults: int, events: int) -> None:
        lost = events - len(ledger.times_answered) - len(ledger.times_buried)
        name = request.node.name.removeprefix("test_").replace("_", " ")
        _rows.append(Row(name, faults, events, len(ledger.times_buried), lost, ledger.repeated_share))

    return add


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Print what was done to the workers and what came of the answers."""
    if _rows:
        terminalreporter.section("faults")
        terminalreporter.write_line(
            f"{'fault':<74}{'faults':>7}{'events':>8}{'dead':>6}{'lost':>6}{'repeated':>10}"
        )
        for row in _rows:
            terminalreporter.write_line(
                f"{row.fault[:72]:<74}{row.faults:>7}{row.events:>8}{row.dead_letters:>6}{row.lost:>6}{row.repeated:>10.1%}"
            )
        events = sum(row.events for row in _rows)
        terminalreporter.write_line(
            f"{'in all':<74}{sum(r.faults for r in _rows):>7}{events:>8}"
            f"{sum(r.dead_letters for r in _rows):>6}{sum(r.lost for r in _rows):>6}"
        )
    return (yield)
