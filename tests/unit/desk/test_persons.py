"""One person is one person, whatever way the name is written in."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.records import person_key
from streams.desk.decisions import Handover
from streams.desk.desk_state import ANY_HELD, DeskRecord, DeskState
from streams.desk.lead_figures import lead_figures
from streams.desk.reviewer_choice import DecisionRefusal
from streams.desk.sessions import ReviewerSession
from streams.reviews.audit_sample import AuditSample
from streams.reviews.rating_records import persons_review
from streams.settings import DeskSettings
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict
from tests.unit.desk.test_desk import ALEX, KIM, SEND, current
from tests.unit.desk.test_desk_several import TwoReviews

SMALL_KIM = ReviewerSession("s-small", "kim")


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[TwoReviews]:
    made = TwoReviews(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("one", "other"),
    [("Kim", "KIM"), ("Zoë", "Zoe\u0308"), ("Straße", "STRASSE"), ("Ｋim", "kim"), ("a  b", "A b")],
)
def test_ways_to_write_a_name_are_one_person(one: str, other: str) -> None:
    assert person_key(one) == person_key(other)
    assert (
        persons_review(a_review(reviewer=one)).reviewer == persons_review(a_review(reviewer=other)).reviewer
    )


@given(st.text(max_size=20))
def test_a_key_is_the_key_of_itself_in_capitals_too(name: str) -> None:
    assert person_key(person_key(person_key(name))) == person_key(person_key(name))


def test_other_names_are_other_persons() -> None:
    assert len({person_key(each) for each in ("Kim", "Kym", "Kim B", "Kím")}) == 4


def test_who_chose_under_another_spelling_is_not_the_second_reviewer(desks: TwoReviews) -> None:
    desks.hold(1)
    assert desks.desk.decide("v-1", KIM, SEND) is None
    (first,) = desks.publish()
    assert first.reviewer == "Kim"
    assert current(desks, SMALL_KIM) is None
    assert desks.desk.decide("v-1", SMALL_KIM, SEND) is DecisionRefusal.NOT_YOURS
    assert desks.desk.decide("v-1", ALEX, SEND) is None
    assert [each.outcome for each in desks.publish()] == ["send"]


def test_a_proposal_of_another_tool_under_another_spelling_is_not_a_second_one(desks: TwoReviews) -> None:
    desks.hold(1)
    for number, name in enumerate(("ALEX", "alex")):
        review = a_review(verdict_id="v-1", review_id=f"r-{number}", proposal="send", reviewer=name)
        desks.state.apply([DeskRecord(0, number, review)], {})
    assert desks.desk.decide("v-1", ALEX, SEND) is DecisionRefusal.NOT_YOURS
    assert desks.desk.decide("v-1", KIM, SEND) is None
    assert [each.outcome for each in desks.publish()] == ["send"]


def test_what_is_passed_on_comes_to_whoever_has_the_name_and_not_back(desks: TwoReviews) -> None:
    desks.hold(1)
    desks.desk.pass_on("v-1", KIM, "Tax?", "aLEX", for_lead=False)
    assert current(desks, SMALL_KIM) is None
    assert current(desks, ALEX) == "v-1"
    assert desks.desk.handovers("v-1") == [Handover("Kim", "aLEX", reason="Tax?")]
    desks.desk.pass_on("v-1", ALEX, "Mine.", "alex", for_lead=False)  # nobody reserves for himself
    assert current(desks, ALEX) is None


def test_a_person_does_not_agree_with_himself(tmp_path: Path) -> None:
    sample = AuditSample(b"some key 1", 1)
    state = DeskState(tmp_path, DeskSettings(), sample)
    numbers = [n for n in range(200) if sample.raters(f"v-{n}") == 2][:3]
    for n in numbers:
        verdict = any_verdict(verdict_id=f"v-{n}", decision="auto_send")
        state.apply([DeskRecord(0, n, verdict)], {})
        for name, rating in (("Kim", 1), ("kim", 4)):
            review = a_review(verdict_id=f"v-{n}", review_id=f"{name}-{n}", reviewer=name, rating=rating)
            state.apply([DeskRecord(0, 2 * n + (name == "kim"), review)], {})
    assert state.next_audit(ANY_HELD, (), person_key("KIM"), 0) is None
    assert state.next_audit(ANY_HELD, (), person_key("alex"), 0) == f"v-{min(numbers, key=str)}"
    reviewed = state.reviewed(0)
    assert [[(r.reviewer, r.rating) for r in each.ratings] for each in reviewed] == [[("kim", 4)]] * 3
    assert lead_figures(reviewed).alpha_ratings is None
    second = replace(a_review(verdict_id=f"v-{numbers[0]}", review_id="x", rating=4), reviewer="alex")
    state.apply([DeskRecord(0, 999, second)], {})
    assert len(state.reviewed(0)[0].ratings) == 2
    state.close()
