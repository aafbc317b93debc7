"""Answers that need more than one review: who may choose, and what becomes of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import Review
from streams.desk.desk_state import ANY_HELD, DeskRecord
from streams.desk.reviewer_choice import Choice, DecisionRefusal
from streams.desk.sessions import ReviewerSession
from streams.settings import DeskRole
from tests.support.desk import held
from tests.support.reviews import a_review
from tests.support.served_desk import serving_desk
from tests.unit.desk.test_desk import ALEX, KIM, SEND, Desks, current
from tests.unit.desk.test_desk_passing import LEE, ROBIN

REJECT = Choice("reject")


class TwoReviews(Desks):
    """A desk at which two people choose, with a topic that has what it published."""

    values: ClassVar[Mapping[str, Any]] = {"reviews_required": {"binary": 2}}

    def __init__(self, folder: Path) -> None:
        self.log: list[Review] = []
        super().__init__(folder)

    def publish(self) -> list[Review]:
        """Publish what is decided, and read it back."""
        due = self.desk.take_due(at_once=True)
        for each in due:
            self.desk.acknowledge(each.review_id)
            self.state.apply([DeskRecord(0, len(self.log), each)], {})
            self.log.append(each)
        self.desk.settle()
        return due


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[TwoReviews]:
    made = TwoReviews(tmp_path)
    yield made
    made.close()


def test_two_people_who_choose_the_same_decide_and_the_first_one_is_kept_as_a_proposal(
    desks: TwoReviews,
) -> None:
    desks.hold(1)
    assert current(desks, KIM) == "v-1"
    assert desks.desk.decide("v-1", KIM, Choice("send", rating=4, comment="Fine.")) is None
    assert current(desks, ALEX) is None  # not before Kafka has the first one: it can be undone
    (shown,) = desks.desk.decisions_of(KIM)
    assert (shown.outcome, shown.proposal) == ("none", "send")
    (first,) = desks.publish()
    assert (first.outcome, first.proposal, first.text) == ("none", "send", None)
    assert (first.rating, first.comment) == (4, "Fine.")
    assert current(desks, KIM) is None
    assert desks.desk.decide("v-1", KIM, SEND) is DecisionRefusal.NOT_YOURS
    assert desks.desk.open("v-1", ReviewerSession("s-9", "Kim", DeskRole.LEAD)) is DecisionRefusal.NOT_YOURS
    desks.restart()
    assert current(desks, ALEX) == "v-1"
    desks.desk.decide("v-1", ALEX, SEND)
    (second,) = desks.publish()
    assert (second.outcome, second.proposal, second.text) == ("send", None, "Answer 1.")
    assert desks.decisions.all() == []


def test_other_types_need_one_review(desks: TwoReviews) -> None:
    desks.hold(1, message_type="instruction")
    desks.desk.decide("v-1", KIM, SEND)
    assert [each.outcome for each in desks.publish()] == ["send"]


def test_only_a_lead_decides_where_two_differ(desks: TwoReviews) -> None:
    desks.hold(1)
    desks.desk.decide("v-1", KIM, Choice("send_edited", text="One."))
    desks.publish()
    assert desks.desk.disagreement("v-1", LEE) == []
    desks.desk.decide("v-1", ALEX, Choice("send_edited", text="Two."))
    desks.publish()
    assert [each.text for each in desks.log] == ["One.", "Two."]
    assert [current(desks, each) for each in (KIM, ALEX, ROBIN)] == [None] * 3
    assert desks.desk.decide("v-1", ROBIN, SEND) is DecisionRefusal.NOT_YOURS
    assert current(desks, LEE) == "v-1"
    assert desks.desk.disagreement("v-1", LEE) == desks.log
    assert desks.desk.disagreement("v-1", ROBIN) == []
    desks.desk.decide("v-1", LEE, REJECT)
    assert [each.outcome for each in desks.publish()] == ["reject"]


def test_a_blocked_answer_that_one_person_chose_for_is_no_rated_one(desks: TwoReviews) -> None:
    desks.hold(1, decision="blocked")
    desks.desk.decide("v-1", KIM, Choice("send", rating=5))
    desks.publish()
    assert [each.verdict_id for each in desks.desk.blocked(ANY_HELD, 9)] == ["v-1"]
    rebuild(desks, "blocked")
    assert {each.verdict_id for each in desks.desk.blocked(ANY_HELD, 9)} == {"v-1", "v-2"}
    assert desks.desk.decide("v-1", ALEX, SEND) is None
    assert [each.outcome for each in desks.publish()] == ["send"]


def test_an_answer_that_one_person_chose_for_expires(desks: TwoReviews) -> None:
    desks.hold(1)
    desks.desk.decide("v-1", KIM, SEND)
    desks.publish()
    desks.clock.now += 4000
    assert [each.outcome for each in desks.publish()] == ["expired"]
    assert desks.state.proposals("v-1") == []


def test_a_choice_whose_outcome_came_first_from_elsewhere_is_forgotten_once_published(
    desks: TwoReviews,
) -> None:
    desks.hold(1)
    desks.desk.decide("v-1", KIM, SEND)
    desks.state.apply([DeskRecord(0, 99, a_review(verdict_id="v-1", outcome="reject"))], {})
    assert [each.proposal for each in desks.publish()] == ["send"]
    assert desks.decisions.all() == []


PEOPLE = (KIM, ALEX, ROBIN, LEE)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.sampled_from([SEND, REJECT, Choice("send_edited", text="Other."), Choice("none", rating=1)]),
        st.sampled_from(["", "undo", "publish", "publish", "restart", "rebuild"]),
    ),
    max_size=20,
)


def rebuild(desks: TwoReviews, decision: str = "review") -> None:
    """Read the topics again, which closes the same answers to the same people."""
    closed = [desks.state.closed_to(each.reviewer, is_lead=each is LEE) for each in PEOPLE]
    desks.state.reset([])
    desks.state.apply([DeskRecord(0, at, each) for at, each in enumerate(desks.log)], {})
    desks.hold(1, 2, decision=decision)
    desks.desk.restart("one", rebuilt=True)
    assert closed == [desks.state.closed_to(each.reviewer, is_lead=each is LEE) for each in PEOPLE]


def check(of_verdict: list[Review]) -> None:
    proposed = [each for each in of_verdict if each.is_proposal]
    final = [each for each in of_verdict if each.is_final]
    assert len({each.reviewer for each in proposed}) == len(proposed) <= 2
    assert final in ([], of_verdict[-1:])
    for each in final:
        if len({(one.proposal, one.text) for one in proposed}) > 1:
            assert each.reviewer == "Lee"
        else:
            assert each.reviewer not in {one.reviewer for one in proposed}
            assert [one.proposal for one in proposed] == [each.outcome]


@given(STEPS)
def test_an_outcome_is_of_two_people_who_agree_or_of_a_lead_after_two_differed(
    steps: list[tuple[ReviewerSession, Choice, str]],
) -> None:
    with TemporaryDirectory() as folder:
        desks = TwoReviews(Path(folder))
        desks.hold(1, 2)
        for who, choice, then in steps:
            if shown := current(desks, who):
                assert desks.desk.decide(shown, who, choice) is None
            if then == "undo":
                for each in desks.desk.decisions_of(who):
                    desks.desk.undo(each.review_id, who)
            elif then == "publish":
                desks.publish()
            elif then == "restart":
                desks.restart()
            elif then == "rebuild":
                rebuild(desks)
        desks.publish()
        for verdict_id in ("v-1", "v-2"):
            check([each for each in desks.log if each.verdict_id == verdict_id])
        desks.close()


async def test_a_lead_sees_what_two_people_chose_and_a_reviewer_does_not(tmp_path: Path) -> None:
    async with (
        serving_desk(tmp_path, held(1), reviews_required={"binary": 2}) as served,
        served.client(DeskRole.LEAD) as lee,
        served.client(DeskRole.REVIEWER) as kim,
    ):
        session = served.sessions.read(next(iter(kim.cookies.values())))
        assert session
        form = {"form_token": served.sessions.form_token(session), "verdict_id": "v-1", "action": "edit"}
        await kim.post("/decide", data={**form, "text": "<b>Mine.", "comment": "Because."})
        assert "proposed: send edited" in (await kim.get("/")).text
        (mine,) = served.desk.take_due(at_once=True)
        other = a_review(verdict_id="v-1", review_id="r-2", proposal="reject", reviewer="Alex", comment="No.")
        served.desk.acknowledge(mine.review_id)
        served.desk._state.apply([DeskRecord(0, 5, mine)], {})
        served.desk.settle()
        assert "Mine" not in (await lee.get("/")).text
        served.desk._state.apply([DeskRecord(0, 6, other)], {})
        page = (await lee.get("/")).text
        assert "a reviewer: send edited" in page
        assert "&lt;b&gt;Mine." in page
        assert "Because." in page
        assert "Alex: reject" in page
        assert "Mine" not in (await kim.get("/?answer=v-1")).text
