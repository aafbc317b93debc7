"""Who gets an answer that was passed on or assigned."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.desk.decisions import DATABASE_NAME, Handover
from streams.desk.desk_state import DeskRecord
from streams.desk.reviewer_choice import DecisionRefusal
from streams.desk.sessions import ReviewerSession
from streams.settings import DeskRole
from tests.support.desk import held
from tests.support.reviews import a_review
from tests.support.served_desk import serving_desk
from tests.unit.desk.test_desk import ALEX, KIM, SEND, Desks, current

ROBIN = ReviewerSession("s-robin", "Robin")
LEE = ReviewerSession("s-lee", "Lee", DeskRole.LEAD)


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[Desks]:
    made = Desks(tmp_path)
    yield made
    made.close()


def test_what_is_passed_on_goes_to_others_with_its_reason_and_to_who_passed_it_on_last(desks: Desks) -> None:
    desks.hold(1, 2)
    assert current(desks, KIM) == "v-1"
    assert desks.desk.pass_on("v-1", KIM, "", for_lead=False) is DecisionRefusal.NO_REASON
    assert desks.desk.pass_on("v-1", KIM, "It is about tax.", for_lead=False) is None
    assert current(desks, replace(KIM, id="another browser")) == "v-2"
    assert current(desks, KIM) is None
    assert desks.desk.open("v-1", KIM) is DecisionRefusal.NOT_YOURS
    desks.restart()
    assert current(desks, ALEX) == "v-1"
    assert desks.desk.handovers("v-1") == [Handover("Kim", reason="It is about tax.")]
    desks.desk.leave(ALEX)
    desks.desk.leave(replace(KIM, id="another browser"))
    desks.clock.now += 301
    assert current(desks, KIM) == "v-2"
    assert current(desks, replace(KIM, id="another browser")) == "v-1"


def test_an_assigned_answer_comes_first_and_nobody_else_gets_it_before_the_limit(desks: Desks) -> None:
    desks.hold(1, 2)
    assert desks.desk.pass_on("v-2", LEE, "", "Robin", for_lead=False) is None
    assert current(desks, ROBIN) == "v-2"
    desks.desk.leave(ROBIN)
    assert current(desks, KIM) == "v-1"
    assert current(desks, ALEX) is None
    assert desks.desk.decide("v-2", ALEX, SEND) is DecisionRefusal.NOT_YOURS
    desks.clock.now += 59
    assert current(desks, KIM) == "v-1"
    desks.clock.now += 242
    assert current(desks, ALEX) == "v-1"
    assert current(desks, KIM) == "v-2"


def test_an_assigned_answer_that_its_receiver_skips_does_not_come_back_at_once(desks: Desks) -> None:
    desks.hold(1, 2)
    desks.desk.pass_on("v-2", LEE, "", "Robin", for_lead=False)
    desks.desk.skip("v-2", ROBIN)
    assert current(desks, ROBIN) == "v-1"


def test_an_answer_for_a_lead_goes_to_a_lead_and_a_lead_may_open_what_others_were_given(desks: Desks) -> None:
    desks.hold(1, 2, 3)
    desks.desk.pass_on("v-1", KIM, "Legal?", for_lead=True)
    desks.desk.pass_on("v-3", KIM, "Yours.", "Kim", for_lead=False)  # nobody reserves for himself
    assert current(desks, ALEX) == "v-2"
    assert current(desks, LEE) == "v-1"
    assert desks.desk.open("v-3", KIM) is DecisionRefusal.NOT_YOURS
    desks.desk.pass_on("v-3", LEE, "", "Robin", for_lead=False)
    assert desks.desk.open("v-3", LEE) == desks.state.held("v-3")
    assert desks.desk.pass_on("v-3", KIM, "Late.", for_lead=False) is DecisionRefusal.TAKEN
    assert desks.desk.pass_on("v-9", KIM, "What?", for_lead=False) is DecisionRefusal.GONE


def test_reasons_are_deleted_with_the_outcome(desks: Desks) -> None:
    desks.hold(1)
    desks.desk.pass_on("v-1", KIM, "Because.", for_lead=False)
    desks.desk.take_due()
    assert len(desks.desk.handovers("v-1")) == 1
    desks.state.apply([DeskRecord(0, 0, a_review(verdict_id="v-1", outcome="reject"))], {})
    desks.desk.take_due()
    assert desks.desk.handovers("v-1") == []


def test_a_decision_that_a_newer_release_stored_is_published_after_a_rollback(tmp_path: Path) -> None:
    desks = Desks(tmp_path)
    desks.hold(1)
    desks.desk.decide("v-1", KIM, SEND)
    desks.close()
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as newer, newer:
        newer.execute("UPDATE decisions SET review = json_set(review, '$.mood', 'sure')")
    desks = Desks(tmp_path)
    assert [each.outcome for each in desks.desk.take_due(at_once=True)] == ["send"]
    desks.close()


PEOPLE = (KIM, ALEX, ROBIN, LEE)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.sampled_from(["pass", "to a lead", "to a name", "next", "send", "leave", "wait"]),
        st.sampled_from(PEOPLE),
    ),
    max_size=25,
)


@given(STEPS)
def test_whatever_people_do_nobody_has_the_answer_of_another_or_what_is_not_for_him(
    steps: list[tuple[ReviewerSession, str, ReviewerSession]],
) -> None:
    with TemporaryDirectory() as folder:
        desks = Desks(Path(folder))
        desks.hold(1, 2, 3)
        rules: dict[str, tuple[float, set[str]]] = {}  # who may have an answer, and until when that counts
        for who, does, other in steps:
            has = current(desks, who)
            if has and rules.get(has, (0, set()))[0] > desks.clock.now:
                assert who.reviewer in rules[has][1]
            shown = [desks.decisions.leased_to(each.id) for each in PEOPLE]
            assert len(set(shown) - {None}) == sum(each is not None for each in shown)
            if does == "wait":
                desks.clock.now += 200
            elif does == "leave":
                desks.desk.leave(who)
            elif has and does == "next":
                desks.desk.skip(has, who)
            elif has and does == "send":
                assert desks.desk.decide(has, who, SEND) is None
            elif has and (does != "to a name" or other is not who):
                receiver = other.reviewer if does == "to a name" else ""
                desks.desk.pass_on(has, who, "So.", receiver, for_lead=does == "to a lead")
                may = {each.reviewer for each in PEOPLE} - {who.reviewer}
                if does == "to a lead":
                    may &= {LEE.reviewer}
                rules[has] = (desks.clock.now + 300, {receiver} if receiver else may)
        desks.close()


async def test_the_form_names_a_receiver_and_the_page_says_who_passed_it_on(tmp_path: Path) -> None:
    async with (
        serving_desk(tmp_path, held(1)) as served,
        served.client(DeskRole.REVIEWER) as kim,
        served.client(DeskRole.LEAD) as lee,
    ):
        session = served.sessions.read(next(iter(kim.cookies.values())))
        assert session
        form = {"form_token": served.sessions.form_token(session), "verdict_id": "v-1"}
        assert (await kim.post("/pass", data={**form, "reason": "x" * 301})).status_code == 400
        assert (
            await kim.post("/pass", data={**form, "reviewer": "\u202e", "reason": "x"})
        ).status_code == 400
        answer = await kim.post("/pass", data={**form, "lead": "yes", "reason": "<b>Is it\nlegal?"})
        assert answer.headers["location"] == "/"
        assert "Answer 1." not in (await kim.get("/")).text
        page = (await lee.get("/")).text
        assert "a reviewer passed this on to a lead: &lt;b&gt;Is it legal?" in page
