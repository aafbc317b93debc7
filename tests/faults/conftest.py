"""What the fault tests share: their scale, and the report at the end."""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields

import pytest
from rich.console import Console
from rich.table import Table

from schemas.records import ChatbotAnswer
from tests.support.figures import reported
from tests.support.java_start import quick_java
from tests.support.ledger import Ledger

__all__ = ["quick_java"]

SCALE_VARIABLE = "TRUTHGATE_TEST_FAULTS"


@dataclass(frozen=True, slots=True)
class Scale:
    """How much each fault test does; the short form is for every change, the long one for ``make faults``."""

    kills: int
    events: int
    events_per_second: int
    outage_seconds: float
    soak_seconds: float


SHORT = Scale(kills=3, events=600, events_per_second=80, outage_seconds=12, soak_seconds=20)
LONG = Scale(kills=12, events=4000, events_per_second=120, outage_seconds=60, soak_seconds=3600)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report.

    ``kills`` are processes ended by SIGKILL, ``faults`` all other harm. ``lost`` are records without
    any outcome, ``unanswered`` whole answers with neither a verdict nor a dead letter.
    """

    name: str
    kills: int
    faults: int
    events: int
    verdicts: int
    dead_letters: int
    lost: int
    unanswered: int
    repeated: int


#: What the tests tell the report goes by this name.
_PROPERTY = "faults"
_COUNTS = tuple(field.name for field in fields(Row))[1:]


@pytest.fixture(scope="session")
def scale() -> Scale:
    """Give the scale that the environment asks for."""
    return LONG if os.environ.get(SCALE_VARIABLE) == "long" else SHORT


@pytest.fixture
def report(request: pytest.FixtureRequest):
    """Give a function that adds a line about this test to the report."""

    def add(ledger: Ledger, answers: list[ChatbotAnswer], *, kills=0, faults=0, malformed=0) -> None:
        events, verdicts, buried = len(answers) + malformed, ledger.times_answered, ledger.times_buried
        row = Row(
            name=request.node.name.removeprefix("test_").replace("_", " "),
            kills=kills,
            faults=faults,
            events=events,
            verdicts=len(verdicts),
            dead_letters=len(buried),
            lost=events - len(verdicts) - len(buried),
            unanswered=max(0, len(ledger.unanswered(answers)) - (len(buried) - malformed)),
            repeated=verdicts.total() - len(verdicts),
        )
        request.node.user_properties.append((_PROPERTY, asdict(row)))

    return add


@pytest.hookimpl(wrapper=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Print what was done to the workers, and what came of the answers."""
    if rows := [Row(**row) for row in reported(terminalreporter, _PROPERTY)]:
        terminalreporter.section("faults")
        table = Table("", *(name.replace("_", " ") for name in _COUNTS), box=None)
        for row in rows:
            table.add_row(row.name, *(str(getattr(row, name)) for name in _COUNTS))
        sums = {name: sum(getattr(row, name) for row in rows) for name in _COUNTS}
        table.add_row("in all", *map(str, sums.values()), style="bold")
        Console(file=terminalreporter._tw._file, width=150).print(table)
        share = sums["repeated"] / max(1, sums["repeated"] + sums["verdicts"])
        terminalreporter.write_line(
            f"{sums['kills']} kills, {sums['events']} events, lost {sums['lost']}, "
            f"unanswered {sums['unanswered']}, {share:.1%} of the verdicts were repeated"
        )
    return (yield)
