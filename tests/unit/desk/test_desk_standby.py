"""A desk that stands by: what it does not do, and which desk a group makes active."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka.coordinator.protocol import ConsumerProtocol
from hypothesis import given
from hypothesis import strategies as st

from streams.desk.desk_election import KeepActive
from streams.desk.reviewer_choice import DecisionRefusal
from tests.unit.desk.test_desk import ALEX, KIM, SEND, Desks, current

TOPICS = ["reviews"]


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[Desks]:
    made = Desks(tmp_path)
    yield made
    made.close()


def test_a_standby_gives_nothing_out_and_lets_nothing_expire_but_publishes_what_was_decided(
    desks: Desks,
) -> None:
    desks.hold(1, 2)
    desks.hold(3, age=4000)
    assert current(desks, KIM) == "v-3"
    assert desks.desk.decide("v-3", KIM, SEND) is None
    assert current(desks, KIM) == "v-1"
    desks.desk.stands_by = True
    assert desks.desk.decide("v-1", KIM, SEND) is None  # it was on the screen: what was typed is not lost
    assert current(desks, ALEX) is None
    assert desks.desk.open("v-2", ALEX) is DecisionRefusal.NOT_READY
    desks.clock.now += 4000
    assert [each.verdict_id for each in desks.desk.take_due()] == ["v-3", "v-1"]
    desks.desk.stands_by = False
    assert {each.verdict_id for each in desks.desk.take_due()} == {"v-1", "v-2", "v-3"}


@given(st.dictionaries(st.text("abc", min_size=1), st.booleans(), min_size=1))
def test_one_desk_is_active_and_one_that_was_stays_so(members: dict[str, bool]) -> None:
    said = {
        member: ConsumerProtocol.METADATA.decode(
            KeepActive(lambda was=was: was).metadata(TOPICS).encode()  # type: ignore[misc]
        )
        for member, was in members.items()
    }
    given_out = KeepActive(lambda: False).assign(None, said)
    decoded = {
        member: ConsumerProtocol.ASSIGNMENT.decode(each.encode()).partitions()
        for member, each in given_out.items()
    }
    assert decoded.keys() == members.keys()
    (active,) = (member for member, partitions in decoded.items() if partitions)
    assert [tuple(each) for each in decoded[active]] == [("reviews", 0)]
    assert members[active] or not any(members.values())
