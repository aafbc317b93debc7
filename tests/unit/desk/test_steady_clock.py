"""A clock that is set back holds nothing up, while the desk runs or between two starts."""

import time
from pathlib import Path

import pytest

from streams.desk.decisions import DecisionStore
from streams.desk.sessions import Sessions
from streams.desk.steady_clock import steady_time
from streams.settings import DeskRole, DeskSettings
from tests.support.reviews import a_review
from tests.unit.desk.test_desk import ALEX, KIM, SEND, Desks, current


@pytest.mark.parametrize("change", [-86_400, 86_400])
def test_no_wait_changes_with_the_clock_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: float
) -> None:
    decisions, sessions = DecisionStore(tmp_path), Sessions(b"k" * 32, DeskSettings())
    decisions.store(a_review(outcome="reject"), "s-1", 1)
    decisions.lease("v-2", "s-2", 1)
    cookie = sessions.start("Kim", DeskRole.REVIEWER)[1]
    set_clock = time.time() + change
    monkeypatch.setattr(time, "time", lambda: set_clock)
    assert decisions.take_due() == []
    assert decisions.undo("r-1", "s-1") == "v-1"
    decisions.store(a_review(outcome="reject"), "s-1", 0.05)
    assert sessions.read(cookie) is not None
    end = time.monotonic() + 1.2
    while not decisions.take_due():
        assert time.monotonic() < end
        time.sleep(0.01)
    while decisions.holder("v-2"):
        assert time.monotonic() < end
        time.sleep(0.01)
    decisions.close()


def test_the_steady_clock_is_that_of_the_machine_at_the_start() -> None:
    assert steady_time() == pytest.approx(time.time(), abs=60)


def test_a_clock_that_was_ahead_before_a_restart_holds_nothing_up_after_it(tmp_path: Path) -> None:
    desks = Desks(tmp_path)
    desks.hold(1, 2)
    desks.desk.pass_on("v-2", KIM, "So.", "Alex", for_lead=False)
    assert current(desks, KIM) == "v-1"
    desks.desk.decide("v-1", KIM, SEND)
    desks.hold(3)
    assert current(desks, KIM) == "v-3"
    desks.clock.now -= 86_400
    desks.restart()
    desks.clock.now += 5
    assert [each.verdict_id for each in desks.desk.take_due()] == ["v-1"]
    desks.clock.now += 56
    assert current(desks, ALEX) == "v-2"
    desks.desk.leave(ALEX)
    assert desks.desk.open("v-3", ALEX) == desks.state.held("v-3")
    desks.desk.leave(ALEX)
    desks.clock.now += 240
    assert current(desks, KIM) == "v-3"
    desks.close()
