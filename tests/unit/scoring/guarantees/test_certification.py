"""What ratings of a period lead to: a model, certificates, and what is refused and why."""

from dataclasses import replace

import numpy as np
import pytest

from scoring.guarantees.certification import RefusalReason, propose
from scoring.guarantees.joined_ratings import NEVER, AuditDraw, JoinedRating, PersonsReview, VerdictFacts
from scoring.guarantees.risk_fitting import FittedRisk, RatingsMissing
from scoring.guarantees.threshold_tests import delta_of_attempt
from scoring.policy.certificates import Promise
from scoring.policy.risk import SHIPPED_RISK
from scoring.values.exchange import Decision

SEND = Promise(0.05, 0.05)
ALWAYS = AuditDraw(1.0, drawn=True)


def rating(place: int, *, untrue: bool, judge: float, group: str = "binary nl", **other) -> JoinedRating:
    facts = VerdictFacts(
        f"v{place}",
        other.pop("decision", Decision.REVIEW),
        group,
        place,
        {"judge": judge},
        other.pop("may_be_sent", True),
        other.pop("versions", frozenset({"judge=a"})),
    )
    review = PersonsReview(f"r{place}", f"v{place}", "p", place, "none", "desk", 1 if untrue else 5)
    return JoinedRating(facts, (review,) if other.pop("rated", True) else (), other.pop("draw", ALWAYS))


def stream(number: int, *, wrong: float = 0.01, seed: int = 0, **other) -> list[JoinedRating]:
    """Give verdicts of which a judge is wrong about so many; half of them are untrue."""
    chance = np.random.default_rng(seed)
    found = []
    for place in range(number):
        untrue = bool(chance.random() < 0.5)
        sign = 1 if untrue ^ bool(chance.random() < wrong) else -1
        found.append(rating(place, untrue=untrue, judge=sign * float(chance.uniform(0.8, 1)), **other))
    return found


def mixed(each: JoinedRating) -> int:
    """Give a place to sort by that has nothing to do with what the answer is."""
    return each.facts.scored_at * 7_919 % 10_007


def test_with_200_ratings_the_shipped_risk_is_tested_by_all_of_them():
    found = propose(stream(200, wrong=0), SEND)
    assert isinstance(found.risk, RatingsMissing)
    assert found.thresholds.model == SHIPPED_RISK
    (certificate,) = found.thresholds.certificates
    assert certificate.decision is Decision.AUTO_SEND
    assert (certificate.answers, certificate.mistakes, certificate.delta) == (200, 0, 0.05)
    assert 0.3 < certificate.coverage < 0.6
    assert certificate.bound <= 0.05
    assert (certificate.first, certificate.last) == (0, 199)
    assert certificate.model == SHIPPED_RISK.identity
    assert not found.refused


def test_60_ratings_of_which_half_are_untrue_are_too_few():
    found = propose(stream(60, wrong=0), SEND)
    assert not found.thresholds.certificates
    (refused,) = found.refused
    assert refused.reason is RefusalReason.TOO_FEW_RATINGS
    assert 20 < refused.ratings_missing < 60


def test_older_ratings_fit_the_model_and_the_newest_test_it():
    ratings = stream(600)
    found = propose(ratings, SEND)
    assert isinstance(found.risk, FittedRisk)
    assert found.risk.ratings == 300
    (certificate,) = found.thresholds.certificates
    assert (certificate.first, certificate.last, certificate.answers) == (300, 599, 300)
    # Whatever the newest ratings are, the model is the same.
    turned = [*ratings[:300], *(rating(300 + n, untrue=True, judge=-0.9) for n in range(300))]
    assert propose(turned, SEND).thresholds.model == found.thresholds.model
    assert propose(turned, SEND).refused[0].reason is RefusalReason.TOO_MANY_MISTAKES


def test_a_promise_is_about_the_usual_model_of_the_chatbot_alone():
    """Of two models the rarer one has the mistakes: together they have few, alone it would have many."""
    old, new = frozenset({"judge=a", "model=old"}), frozenset({"judge=a", "model=new"})
    ratings = [
        rating(n, untrue=n % 50 == 7, judge=-0.9, versions=new if n % 7 == 0 else old) for n in range(400)
    ]
    (certificate,) = propose(ratings, SEND).thresholds.certificates
    assert certificate.versions == ("judge=a", "model=old")
    assert certificate.answers == sum(n % 7 != 0 for n in range(certificate.first, 400))


def test_judges_that_are_asked_about_other_answers_are_known_side_by_side():
    judges = [frozenset({f"judge={name}", "model=m"}) for name in "abc"]
    ratings = [
        rating(n, untrue=False, judge=-0.9, versions=judges[2 if n % 20 == 0 else n % 2]) for n in range(400)
    ]
    (certificate,) = propose(ratings, SEND).thresholds.certificates
    assert certificate.versions == ("judge=a", "judge=b", "model=m"), "a twentieth says nothing of a judge"


def test_a_judge_is_known_in_a_group_only_by_ratings_of_that_group():
    common, rare = (frozenset({f"judge={name}", "model=m"}) for name in "ab")
    of_group = [
        rating(n, untrue=n % 60 == 7, judge=-0.9, versions=rare if n % 60 == 7 else common)
        for n in range(450)
    ]
    others = [rating(450 + n, untrue=False, judge=-0.9, group="binary en", versions=rare) for n in range(450)]
    found = propose(sorted([*of_group, *others], key=mixed), SEND).thresholds.certificates
    versions = {each.groups: each.versions for each in found}
    assert versions == {("binary nl",): ("judge=a", "model=m"), ("binary en",): ("judge=b", "model=m")}


def test_what_is_decided_before_any_risk_does_not_count_for_a_promise():
    risky = [rating(n, untrue=n % 5 == 0, judge=-0.9) for n in range(100)]
    known = [rating(100 + n, untrue=False, judge=-0.9) for n in range(900)]
    decided = [replace(each, facts=replace(each.facts, decided_before=True)) for each in known]
    assert propose([*risky, *known], SEND).thresholds.certificates
    found = propose([*risky, *decided], SEND)
    assert not found.thresholds.certificates
    assert found.refused[0].reason is RefusalReason.TOO_MANY_MISTAKES


def test_a_bad_older_part_that_fits_no_model_does_not_come_back_as_a_test():
    ratings = [rating(n, untrue=False, judge=-0.9) for n in range(64)] + stream(236, seed=1)
    shifted = [replace(each, facts=replace(each.facts, scored_at=n)) for n, each in enumerate(ratings)]
    found = propose(shifted, SEND)
    assert found.risk == RatingsMissing(0, 10, 0)
    assert all(each.answers == 236 for each in found.thresholds.certificates)


def test_ratings_of_held_answers_alone_promise_nothing_about_what_is_sent():
    sent = [
        rating(n, untrue=False, judge=-0.95, decision=Decision.AUTO_SEND, draw=NEVER, rated=n % 2 == 0)
        for n in range(200)
    ]
    held = [rating(200 + n, untrue=False, judge=-0.5) for n in range(400)]
    (refused,) = propose(sorted([*sent, *held], key=mixed), SEND).refused
    assert refused.reason is RefusalReason.NOT_SAMPLED


def test_what_was_drawn_and_not_rated_counts_as_a_mistake():
    ratings = [rating(n, untrue=False, judge=-0.95, rated=n % 10 != 0) for n in range(600)]
    assert not propose(ratings, SEND).thresholds.certificates
    assert propose(ratings, Promise(0.2, 0.05)).thresholds.certificates


def test_audited_and_held_answers_together_are_tested_by_their_weights():
    audited = [
        rating(
            n,
            untrue=False,
            judge=-0.95,
            decision=Decision.AUTO_SEND,
            draw=AuditDraw(0.5, drawn=n % 2 == 0),
            rated=n % 2 == 0,
        )
        for n in range(300)
    ]
    held = [rating(300 + n, untrue=False, judge=-0.9) for n in range(80)]
    (certificate,) = propose([*audited, *held], SEND).thresholds.certificates
    assert (certificate.answers, certificate.ratings, certificate.mistakes) == (380, 230, 0)
    assert certificate.bound > 1 - 0.05 ** (1 / 230)


def test_groups_with_enough_ratings_have_certificates_of_their_own_and_others_share_one():
    large = stream(800, wrong=0, group="binary nl")
    small = [rating(800 + n, untrue=False, judge=-0.9, group=f"error {n % 4}") for n in range(300)]
    found = propose(sorted([*large, *small], key=mixed), SEND).thresholds
    assert [each.groups for each in found.certificates] == [
        ("binary nl",),
        ("error 0", "error 1", "error 2", "error 3"),
    ]
    assert {each.delta for each in found.certificates} == {0.025}


def test_what_checks_object_to_is_never_sent_but_may_be_blocked():
    ratings = stream(400, wrong=0, may_be_sent=False)
    found = propose(ratings, SEND, SEND)
    assert [each.decision for each in found.thresholds.certificates] == [Decision.BLOCKED]
    decide = found.thresholds.decide
    assert decide({"judge": -0.99}, "binary nl", ["judge=a"], may_be_sent=True) is None
    assert decide({"judge": 0.99}, "binary nl", ["judge=a"], may_be_sent=False)[0] is Decision.BLOCKED


def test_blocking_promises_that_few_of_the_blocked_are_not_untrue():
    ratings = stream(400, wrong=0)
    found = propose(ratings, SEND, SEND)
    send, block = found.thresholds.certificates
    assert (send.decision, block.decision) == (Decision.AUTO_SEND, Decision.BLOCKED)
    assert send.threshold < 0.5 < block.threshold
    covered = [
        each
        for each in ratings[-block.answers :]
        if block.covers("binary nl", found.thresholds.model.risk(each.facts.inputs), ["judge=a"])
    ]
    assert len(covered) == pytest.approx(block.coverage * block.answers)
    assert block.mistakes == 0
    halfway = [replace(each, reviews=tuple(replace(r, rating=3) for r in each.reviews)) for each in ratings]
    assert not propose(halfway, SEND, SEND).thresholds.certificates


def test_a_version_that_few_answers_have_is_not_promised_anything():
    ratings = [
        *stream(400, wrong=0),
        *(rating(400 + n, untrue=True, judge=-0.9, versions=frozenset({"judge=b"})) for n in range(20)),
    ]
    (certificate,) = propose(sorted(ratings, key=mixed), SEND).thresholds.certificates
    assert certificate.versions == ("judge=a",)
    assert certificate.mistakes == 0


def test_each_further_attempt_spends_less():
    found = propose(stream(400, wrong=0), SEND, attempt=2).thresholds
    assert [each.delta for each in found.certificates] == [delta_of_attempt(0.05, 2)]


def test_the_hash_is_of_the_ratings():
    ratings = stream(200, wrong=0)
    (one,), (same,) = (propose(each, SEND).thresholds.certificates for each in (ratings, ratings))
    flipped = [replace(ratings[0], reviews=()), *ratings[1:]]
    (other,) = propose(flipped, SEND).thresholds.certificates or (None,)
    assert one == same
    assert other is None or other.data != one.data


def test_no_verdicts_promise_nothing():
    found = propose([], SEND, SEND)
    assert (found.thresholds.certificates, found.refused, found.tested) == ((), (), ())
