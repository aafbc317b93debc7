"""Leases and decisions, with a clock that the test moves."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest
from structlog.testing import capture_logs

from schemas import Verdict
from streams.desk.decisions import DecisionStatus, DecisionStore
from streams.desk.desk import Desk
from streams.desk.desk_state import ANY_HELD, DeskRecord, DeskState
from streams.desk.reviewer_choice import Choice, DecisionRefusal, answer_digest
from streams.desk.sessions import ReviewerSession
from streams.reviews.audit_sample import AuditSample
from streams.settings import Settings
from tests.support.clock import Clock
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict
from tests.support.workers import changed

KIM, ALEX = ReviewerSession("s-kim", "Kim"), ReviewerSession("s-alex", "Alex")
SEND = Choice("send")
NOW = 1_772_450_000.0


class Desks:
    """A desk, and the same one again after a crash."""

    sample = AuditSample(b"key", 0)
    values: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, folder: Path) -> None:
        self.clock = Clock(NOW)
        self._folder = folder
        self._open()

    def _open(self) -> None:
        values = {"undo_seconds": 5, "lease_seconds": 60, "time_limits": {"instruction": 700}, **self.values}
        settings = changed(Settings(), desk=values)
        self.state = DeskState(self._folder, settings.desk, self.sample)
        self.decisions = DecisionStore(self._folder, self.clock)
        self.desk = Desk(self.state, self.decisions, settings, self.clock)
        self.desk.caught_up = True

    def hold(self, *numbers: int, age: float = 600, **fields: Any) -> None:
        for number in numbers:
            verdict = replace(a_verdict(number, self.clock.now - age), **fields)
            self.state.apply([DeskRecord(0, number, verdict)], {})

    def restart(self) -> None:
        self.close()
        self._open()

    def close(self) -> None:
        self.state.close()
        self.decisions.close()


def a_verdict(number: int, produced: float) -> Verdict:
    at = datetime.fromtimestamp(produced + number, UTC)
    return any_verdict(verdict_id=f"v-{number}", answer=f"Answer {number}.", produced_at=at, scored_at=at)


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[Desks]:
    made = Desks(tmp_path)
    yield made
    made.close()


def current(desks: Desks, session: ReviewerSession) -> str | None:
    found = desks.desk.current(session)
    return found.verdict_id if found else None


def test_the_one_that_expires_first_comes_first(desks: Desks) -> None:
    desks.hold(1, 2)
    desks.hold(3, message_type="instruction")
    assert current(desks, KIM) == current(desks, KIM) == "v-3"
    assert current(desks, ALEX) == "v-1"
    assert current(desks, ReviewerSession("s-3", "Sam")) == "v-2"
    assert current(desks, ReviewerSession("s-4", "Robin")) is None


def test_what_was_published_anew_with_another_text_is_not_decided_unseen(desks: Desks) -> None:
    desks.hold(1)
    seen = answer_digest(desks.desk.open("v-1", KIM))
    newer = replace(a_verdict(1, NOW - 600), answer="Another text.")
    desks.state.reset([])
    desks.state.apply([DeskRecord(0, 5, newer)], {})
    for outcome in ("send", "reject"):
        assert desks.desk.decide("v-1", KIM, Choice(outcome, seen=seen)) is DecisionRefusal.CHANGED
    assert desks.desk.decide("v-1", KIM, Choice("send", seen=answer_digest(newer))) is None
    (review,) = desks.desk.take_due(at_once=True)
    assert review.text == "Another text."


def test_nothing_is_remembered_of_a_skipped_answer_that_is_not_there(desks: Desks) -> None:
    desks.hold(1)
    with capture_logs() as lines:
        desks.desk.skip("x" * 1_000_000, KIM)
        assert current(desks, KIM) == "v-1"
        desks.desk.skip("v-1", KIM)
    assert [(each["event"], each["verdict_id"]) for each in lines] == [("review_skipped", "v-1")]


def test_an_answer_expires_once_after_the_limit_of_its_type_though_somebody_has_it(desks: Desks) -> None:
    desks.hold(1)
    desks.hold(2, message_type="instruction")
    desks.hold(3, decision="blocked")
    assert current(desks, KIM) == "v-2"
    assert desks.desk.take_due() == []
    desks.clock.now += 103
    (expired,) = desks.desk.take_due()
    assert (expired.verdict_id, expired.outcome, expired.text) == ("v-2", "expired", None)
    assert desks.desk.decide("v-2", KIM, SEND) is DecisionRefusal.GONE
    desks.restart()  # sent or not: nobody knows
    assert desks.desk.take_due() == [expired]
    desks.desk.acknowledge(expired.review_id)
    assert desks.desk.take_due() == []
    desks.state.apply([DeskRecord(0, 0, expired)], {})
    assert desks.desk.take_due() == []
    assert desks.decisions.all() == []
    desks.clock.now += 604_800
    assert {each.verdict_id for each in desks.desk.take_due()} == {"v-1", "v-3"}


def test_what_was_decided_in_time_does_not_expire(desks: Desks) -> None:
    desks.hold(1, age=3595)
    desks.desk.decide("v-1", KIM, SEND)
    desks.clock.now += 4
    assert desks.desk.take_due() == []
    desks.clock.now += 3
    assert [each.outcome for each in desks.desk.take_due()] == ["send"]


def test_two_desks_let_an_answer_expire_as_one_review(desks: Desks, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Desks(tmp_path / "other")
    for each in (desks, other):
        each.hold(1, age=4000)
    (one,), (two,) = desks.desk.take_due(), other.desk.take_due()
    other.close()
    assert one.review_id == two.review_id


def test_who_decided_second_is_told_until_the_session_ends(desks: Desks) -> None:
    desks.hold(1)
    desks.desk.decide("v-1", KIM, SEND)
    desks.clock.now += 6
    (sent,) = desks.desk.take_due()
    first = a_review(verdict_id="v-1", outcome="reject", review_id="of another desk")
    desks.state.apply([DeskRecord(0, 0, first), DeskRecord(0, 1, sent)], {})
    desks.desk.settle()
    desks.restart()
    (told,) = desks.desk.decisions_of(KIM)
    assert (told.status, told.outcome, told.first) == (DecisionStatus.SUPERSEDED, "send", "reject")
    assert desks.desk.counts().unpublished == 0
    desks.desk.leave(KIM)
    assert desks.desk.decisions_of(KIM) == []


def test_a_rating_alone_is_published_and_its_answer_has_no_outcome(desks: Desks) -> None:
    desks.hold(1, decision="blocked")
    assert desks.desk.decide("v-1", KIM, Choice("none")) is DecisionRefusal.EMPTY
    wrong = "number: 1\nno such words: 7"
    desks.desk.decide("v-1", KIM, Choice("none", label="FALSE", wrong=wrong, comment="No."))
    assert desks.desk.blocked(ANY_HELD, 9) == []
    (rated,) = desks.desk.take_due(at_once=True)
    assert (rated.outcome, rated.text, rated.label) == ("none", None, "FALSE")
    assert [(each.kind, each.start, each.end) for each in rated.wrong_spans] == [("number", 7, 8)]
    assert rated.comment == "No.\nno such words: 7"
    desks.desk.acknowledge(rated.review_id)
    assert desks.desk.blocked(ANY_HELD, 9) == []
    desks.state.apply([DeskRecord(0, 0, rated)], {})
    desks.desk.settle()
    assert desks.decisions.all() == []
    assert desks.desk.blocked(ANY_HELD, 9) == []
    assert desks.desk.open("v-1", ALEX) == desks.state.held("v-1")
    assert desks.desk.decide("v-1", ALEX, Choice("reject")) is None


def test_a_lease_ends_by_its_time_or_its_session_and_survives_a_crash(desks: Desks) -> None:
    desks.hold(1)
    assert current(desks, KIM) == "v-1"
    desks.restart()
    assert current(desks, ALEX) is None
    assert desks.desk.decide("v-1", ALEX, SEND) is DecisionRefusal.TAKEN
    desks.clock.now += 61
    assert current(desks, ALEX) == "v-1"
    desks.desk.leave(ALEX)
    assert current(desks, KIM) == "v-1"


def test_next_gives_every_other_answer_first(desks: Desks) -> None:
    desks.hold(1, 2)
    assert current(desks, KIM) == "v-1"
    desks.desk.skip("v-1", KIM)
    assert current(desks, KIM) == "v-2"
    assert current(desks, ALEX) == "v-1"
    desks.desk.leave(ALEX)
    desks.desk.skip("v-2", KIM)
    assert current(desks, KIM) == "v-1"


def test_a_decision_can_be_undone_by_its_session_until_it_is_due(desks: Desks) -> None:
    desks.hold(1)
    assert desks.desk.decide("v-1", KIM, SEND) is None
    assert desks.desk.decide("v-1", KIM, SEND) is DecisionRefusal.GONE
    assert current(desks, ALEX) is None
    (stored,) = desks.desk.decisions_of(KIM)
    assert (stored.status, desks.desk.take_due()) == (DecisionStatus.UNDOABLE, [])
    assert desks.desk.undo(stored.review_id, ALEX) is None
    assert desks.desk.undo(stored.review_id, KIM) == "v-1"
    assert current(desks, KIM) == "v-1"
    desks.desk.decide("v-1", KIM, SEND)
    (stored,) = desks.desk.decisions_of(KIM)
    desks.clock.now += 5
    assert desks.desk.undo(stored.review_id, KIM) is None
    assert [each.review_id for each in desks.desk.take_due()] == [stored.review_id]


def test_a_crash_at_any_moment_repeats_the_same_review_and_loses_none(desks: Desks) -> None:
    desks.hold(1)
    desks.desk.decide("v-1", KIM, SEND)
    desks.restart()
    desks.clock.now += 5
    (due,) = desks.desk.take_due()
    desks.restart()  # sent or not: nobody knows
    assert desks.desk.take_due() == [due]
    desks.desk.acknowledge(due.review_id)
    desks.restart()
    assert desks.desk.take_due() == []
    assert current(desks, ALEX) is None  # not read back yet
    desks.state.apply([DeskRecord(0, 0, due)], {})
    desks.desk.settle()
    assert desks.desk.decisions_of(KIM) == []


def test_nothing_is_published_or_given_out_before_the_topics_are_read(desks: Desks) -> None:
    desks.hold(1)
    desks.desk.decide("v-1", KIM, SEND)
    desks.clock.now += 5
    desks.desk.caught_up = False
    assert desks.desk.take_due() == []
    assert current(desks, KIM) is None
    assert desks.desk.decide("v-1", KIM, SEND) is DecisionRefusal.NOT_READY


def test_a_decision_that_came_second_is_not_published(desks: Desks) -> None:
    desks.hold(1)
    desks.desk.decide("v-1", KIM, SEND)
    desks.state.apply([DeskRecord(0, 0, a_review(verdict_id="v-1", outcome="reject"))], {})
    assert desks.desk.take_due(at_once=True) == []


def test_an_edited_text_is_sent_unless_it_is_the_answer_or_nothing(desks: Desks) -> None:
    desks.hold(1, 2)
    for text, refusal in (
        (None, DecisionRefusal.EMPTY),
        (" ", DecisionRefusal.EMPTY),
        ("x" * 2_000_000, DecisionRefusal.TOO_LARGE),
    ):
        assert desks.desk.decide("v-1", KIM, Choice("send_edited", text=text)) is refusal
    desks.desk.decide("v-1", KIM, Choice("send_edited", text="Answer 1.", rating=4, comment="ok"))
    desks.desk.decide("v-2", KIM, Choice("send_edited", text="Other."))
    first, second = desks.desk.take_due(at_once=True)
    assert (first.outcome, first.text, first.rating, first.comment) == ("send", "Answer 1.", 4, "ok")
    assert (second.outcome, second.text, second.reviewer) == ("send_edited", "Other.", "Kim")


def test_an_answer_is_not_sent_as_it_is_when_its_text_was_edited_or_it_is_called_untrue(desks: Desks) -> None:
    desks.hold(1)
    assert desks.desk.decide("v-1", KIM, Choice("send", text="Corrected.")) is DecisionRefusal.EDITED
    for untrue in ({"rating": 2}, {"label": "FALSE"}, {"rating": 5, "label": "FALSE"}):
        for outcome in ("send", "send_edited"):
            as_it_is = Choice(outcome, text="Answer 1.", **untrue)
            assert desks.desk.decide("v-1", KIM, as_it_is) is DecisionRefusal.RATED_UNTRUE
    assert desks.desk.take_due(at_once=True) == []
    assert desks.desk.decide("v-1", KIM, Choice("send", text="Answer 1.")) is None
    (review,) = desks.desk.take_due(at_once=True)
    assert (review.outcome, review.text) == ("send", "Answer 1.")


@pytest.mark.parametrize("text", ["\u200b\u2060", "\0", " \n\t\u00ad"])
def test_a_text_that_nobody_sees_is_not_sent(desks: Desks, text: str) -> None:
    desks.hold(1)
    assert desks.desk.decide("v-1", KIM, Choice("send_edited", text=text)) is DecisionRefusal.EMPTY


def test_counts_leave_out_what_was_decided_here(desks: Desks) -> None:
    desks.hold(1, 2)
    blocked = replace(a_verdict(3, NOW), decision="blocked")
    desks.state.apply([DeskRecord(0, 3, blocked)], {})
    desks.desk.decide("v-1", KIM, SEND)
    counts = desks.desk.counts()
    assert (counts.waiting, counts.blocked, counts.unpublished) == (1, 1, 1)
    desks.desk.decide("v-3", KIM, Choice("reject"))
    assert desks.desk.blocked(ANY_HELD, 10) == []
    assert desks.desk.counts().blocked == 0


def test_decisions_for_another_topic_are_set_aside_until_the_desk_is_back_at_it(desks: Desks) -> None:
    desks.desk.restart("one", rebuilt=True)
    desks.hold(1)
    desks.desk.decide("v-1", KIM, SEND)
    desks.desk.restart("one", rebuilt=False)
    assert len(desks.desk.decisions_of(KIM)) == 1
    for other in ("other", "third"):
        desks.desk.restart(other, rebuilt=True)
        assert desks.desk.take_due(at_once=True) == []
    desks.desk.restart("one", rebuilt=True)
    assert [each.verdict_id for each in desks.desk.take_due(at_once=True)] == ["v-1"]


def test_a_repeat_is_published_after_a_rebuild(desks: Desks) -> None:
    desks.hold(1)
    desks.desk.decide("v-1", KIM, SEND)
    (due,) = desks.desk.take_due(at_once=True)
    desks.desk.acknowledge(due.review_id)
    desks.desk.restart("one", rebuilt=True)
    assert desks.desk.take_due() == [due]
