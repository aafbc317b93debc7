"""The audit sample: drawn by a keyed hash, rated by one or two people, and never decided about."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas import Review
from streams.desk.decisions import NONE, REJECT, SEND
from streams.desk.desk_state import DeskRecord
from streams.desk.reviewer_choice import Choice, DecisionRefusal
from streams.desk.sessions import ReviewerSession
from streams.reviews.audit_sample import AuditSample
from tests.unit.desk.test_desk import Desks, current

KIM, ALEX, ALEX_TOO = (
    ReviewerSession(f"s-{number}", name) for number, name in enumerate(("kim", "alex", "alex"))
)
IDS = [f"v-{number}" for number in range(20_000)]
WEEK = 7 * 86_400


class SampledDesks(Desks):
    """A desk that draws every second verdict: ``once`` for one person, ``twice`` for two."""

    def __init__(self, folder: Path) -> None:
        self.sample = AuditSample(b"key", 0.5)
        drawn = {number: self.sample.raters(f"v-{number}") for number in range(200)}
        self.once, self.twice = ([key for key, raters in drawn.items() if raters == n] for n in (1, 2))
        super().__init__(folder)

    def publish(self) -> list[Review]:
        """Publish what is due, and read it back."""
        self.clock.now += 10
        published = self.desk.take_due()
        for number, each in enumerate(published):
            self.desk.acknowledge(each.review_id)
            self.state.apply([DeskRecord(0, number, each)], {})
        self.desk.settle()
        return published


@pytest.fixture
def sampled(tmp_path: Path) -> Iterator[SampledDesks]:
    made = SampledDesks(tmp_path)
    yield made
    made.close()


def test_the_share_is_drawn_and_a_tenth_of_it_twice() -> None:
    raters = list(map(AuditSample(b"key", 0.1).raters, IDS))
    assert 1_800 < sum(each > 0 for each in raters) < 2_200  # 2,000, and four standard deviations of 42
    assert 140 < raters.count(2) < 260  # 200, of 14
    assert not any(map(AuditSample(b"key", 0).raters, IDS))
    assert all(map(AuditSample(b"key", 1).raters, IDS))


def test_another_key_draws_others_and_a_larger_share_draws_the_same_too() -> None:
    drawn = {key for key in IDS if AuditSample(b"key", 0.1).raters(key)}
    assert drawn < {key for key in IDS if AuditSample(b"key", 0.2).raters(key)}
    other = {key for key in IDS if AuditSample(b"other", 0.1).raters(key)}
    assert len(drawn & other) < 300  # 200 by chance
    assert AuditSample(b"key", 0.1).id != AuditSample(b"other", 0.1).id


def test_a_sent_answer_is_given_after_those_that_wait_and_only_rated(sampled: SampledDesks) -> None:
    drawn = sampled.once[0]
    sampled.hold(drawn, decision="auto_send")
    sampled.hold(300)
    assert current(sampled, KIM) == "v-300"
    assert sampled.desk.decide("v-300", KIM, Choice(SEND)) is None
    assert current(sampled, KIM) == f"v-{drawn}"
    verdict_id = f"v-{drawn}"
    assert sampled.desk.decide(verdict_id, KIM, Choice(SEND)) is DecisionRefusal.GONE
    assert sampled.desk.decide(verdict_id, KIM, Choice(NONE, comment="So.")) is DecisionRefusal.EMPTY
    assert sampled.desk.decide(verdict_id, KIM, Choice(NONE, rating=2)) is None
    reviews = {each.verdict_id: each for each in sampled.publish()}
    assert (reviews[verdict_id].outcome, reviews[verdict_id].sampling_weight) == (NONE, 2.0)
    assert reviews["v-300"].sampling_weight == 1.0
    assert sampled.state.held(verdict_id) is None, "its text is gone"


def test_a_sent_answer_that_nobody_rates_leaves_without_an_outcome(sampled: SampledDesks) -> None:
    sampled.hold(sampled.once[0], decision="auto_send")
    sampled.clock.now += WEEK
    assert sampled.publish() == []
    assert current(sampled, KIM) is None
    sampled.state.prune(round(1000 * sampled.clock.now), {})
    assert sampled.state.held(f"v-{sampled.once[0]}") is None


def test_two_people_rate_and_neither_gets_it_twice(sampled: SampledDesks) -> None:
    verdict_id = f"v-{sampled.twice[0]}"
    sampled.hold(sampled.twice[0], decision="auto_send")
    assert current(sampled, ALEX) == verdict_id
    assert current(sampled, KIM) is None, "one at a time"
    assert sampled.desk.decide(verdict_id, ALEX, Choice(NONE, label="TRUE")) is None
    sampled.publish()
    assert current(sampled, ALEX_TOO) is None, "a name, not a session"
    assert current(sampled, KIM) == verdict_id
    assert sampled.desk.decide(verdict_id, KIM, Choice(NONE, label="FALSE")) is None
    sampled.publish()
    assert sampled.state.held(verdict_id) is None


def test_a_blocked_answer_that_is_drawn_can_still_be_decided_about(sampled: SampledDesks) -> None:
    verdict_id = f"v-{sampled.once[0]}"
    sampled.hold(sampled.once[0], decision="blocked")
    assert current(sampled, KIM) == verdict_id
    assert sampled.desk.decide(verdict_id, KIM, Choice(REJECT)) is None
    assert [(each.outcome, each.sampling_weight) for each in sampled.publish()] == [(REJECT, 2.0)]


def test_what_is_not_drawn_is_not_kept(sampled: SampledDesks) -> None:
    number = min(set(range(200)) - {*sampled.once, *sampled.twice})
    sampled.hold(number, decision="auto_send")
    assert sampled.state.held(f"v-{number}") is None


def test_what_people_said_is_kept_without_texts_and_forgotten_in_time(sampled: SampledDesks) -> None:
    sampled.hold(300, 301)
    sampled.hold(sampled.once[0], decision="auto_send")
    assert sampled.desk.waiting_by_type() == {("binary",): 2}
    for verdict_id, choice in (("v-300", Choice(SEND)), (f"v-{sampled.once[0]}", Choice(NONE, rating=1))):
        assert sampled.desk.decide(verdict_id, KIM, choice) is None
    sampled.publish()
    now = round(1000 * sampled.clock.now)
    reviewed = {each.decision: each for each in sampled.state.reviewed(0)}
    assert (reviewed["review"].outcome, reviewed["review"].ratings) == ("send", ())
    assert reviewed["review"].decided_at == now - 10_000
    assert [(each.reviewer, each.says) for each in reviewed["auto_send"].ratings] == [("kim", "FALSE")]
    assert sampled.state.waiting_by_age(now, (60, 3_600)) == {"binary": [0, 1, 0]}
    assert sampled.state.time_used(now) == pytest.approx(309 / 3_600)
    assert sampled.state.reviewed(now) == []
    sampled.state.prune(now + 31 * 86_400_000, {("review", 0): 999, ("auto_send", 0): 999})
    assert sampled.state.reviewed(0) == []
