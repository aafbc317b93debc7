"""Joined ratings do not depend on how records come, and say what people said."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.guarantees.joined_ratings import (
    NEVER,
    AuditDraw,
    JoinedRating,
    PersonsReview,
    Truth,
    VerdictFacts,
    join,
)
from scoring.values.exchange import Decision

FACTS = VerdictFacts("v", Decision.REVIEW, "binary nl", 10, {"score": 0.5}, True, frozenset({"profile=x"}))
REVIEW = PersonsReview("r", "v", "p", 20, "none", "desk")
IDS = st.sampled_from(["1", "2", "3", "4"])
VERDICTS = st.builds(
    VerdictFacts,
    verdict_id=IDS,
    decision=st.sampled_from(Decision),
    group=st.sampled_from(["a", "b"]),
    scored_at=st.integers(0, 3),
    inputs=st.dictionaries(st.sampled_from(["score", "judge"]), st.floats(-1, 1)),
    may_be_sent=st.booleans(),
    versions=st.frozensets(st.sampled_from(["x", "y"])),
)
REVIEWS = st.builds(
    PersonsReview,
    review_id=IDS,
    verdict_id=IDS,
    reviewer=st.sampled_from(["p", "q"]),
    reviewed_at=st.integers(0, 3),
    outcome=st.sampled_from(["send", "reject", "none"]),
    source=st.sampled_from(["desk", "known_answer"]),
    rating=st.none() | st.integers(1, 5),
    label=st.none() | st.sampled_from(["TRUE", "FALSE"]),
    weight=st.sampled_from([1.0, 20.0]),
)


def sample(facts: VerdictFacts) -> AuditDraw:
    return AuditDraw(0.5, drawn=facts.verdict_id in "12") if facts.verdict_id in "123" else NEVER


@given(st.lists(VERDICTS, max_size=8), st.lists(REVIEWS, max_size=10), st.randoms())
def test_neither_order_nor_repeats_change_what_is_joined(verdicts, reviews, order: random.Random):
    expected = join(verdicts, reviews, sample)
    repeated = [*verdicts, *order.sample(verdicts, len(verdicts) // 2)]
    again = [*reviews, *order.sample(reviews, len(reviews) // 2)]
    order.shuffle(repeated)
    order.shuffle(again)
    assert join(repeated, again, sample) == expected


@given(st.lists(VERDICTS, max_size=8), st.lists(REVIEWS, max_size=10))
def test_every_verdict_and_every_review_is_there_once(verdicts, reviews):
    found = join(verdicts, reviews, sample)
    assert [each.facts.verdict_id for each in found.ratings] == [
        each.facts.verdict_id for each in sorted(found.ratings, key=lambda each: each.facts.scored_at)
    ] or len({each.facts.scored_at for each in found.ratings}) < len(found.ratings)
    assert {each.facts.verdict_id for each in found.ratings} == {each.verdict_id for each in verdicts}
    there = [review.review_id for each in found.ratings for review in each.reviews]
    assert sorted([*there, *(each.review_id for each in found.unknown)]) == sorted(
        {each.review_id for each in reviews}
    )


def test_a_review_of_an_unknown_verdict_is_kept_until_that_comes():
    assert join([], [REVIEW]).unknown == (REVIEW,)
    assert join([FACTS], [REVIEW]).ratings == (JoinedRating(FACTS, (REVIEW,), AuditDraw(1.0, drawn=True)),)


def test_of_two_verdicts_with_one_id_the_first_counts():
    later = replace(FACTS, scored_at=11, decision=Decision.BLOCKED)
    (found,) = join([later, FACTS], []).ratings
    assert found.facts == FACTS


@pytest.mark.parametrize(
    ("said", "truth"),
    [
        ({"rating": 5}, Truth.TRUE),
        ({"rating": 4}, Truth.TRUE),
        ({"rating": 3}, Truth.DOUBTFUL),
        ({"rating": 2}, Truth.UNTRUE),
        ({"label": "FALSE"}, Truth.UNTRUE),
        ({"label": "NOT_GIVEN"}, Truth.TRUE),
        ({"label": "TRUE", "rating": 5}, Truth.TRUE),
        ({"label": "TRUE", "rating": 1}, Truth.DOUBTFUL),
        ({"rating": 5, "has_wrong_words": True}, Truth.DOUBTFUL),
        ({"rating": 1, "has_wrong_words": True}, Truth.UNTRUE),
        ({"has_wrong_words": True}, Truth.DOUBTFUL),
        ({"outcome": "send"}, Truth.TRUE),
        ({"outcome": "reject"}, Truth.UNTRUE),
        ({"outcome": "send_edited"}, Truth.DOUBTFUL),
        ({"outcome": "send_edited", "rating": 5}, Truth.TRUE),
        ({"outcome": "send", "rating": 1}, Truth.UNTRUE),
        ({"outcome": "expired"}, None),
        ({}, None),
        ({"label": "LATER"}, None),
        ({"rating": 5, "source": "known_answer"}, None),
    ],
)
def test_a_review_says_whether_the_answer_is_true(said, truth):
    assert replace(REVIEW, **said).truth is truth


@pytest.mark.parametrize(
    ("ratings", "truth"),
    [
        ([("p", 5)], Truth.TRUE),
        ([("p", 1), ("p", 5)], Truth.TRUE),
        ([("p", 5), ("p", None)], Truth.TRUE),
        ([("p", 5), ("q", 1)], Truth.DOUBTFUL),
        ([("p", 5), ("q", 1), ("r", 2)], Truth.UNTRUE),
        ([("p", 5), ("q", 3), ("r", 1)], Truth.DOUBTFUL),
        ([], None),
        ([("p", None)], None),
    ],
)
def test_most_people_decide_each_by_the_last_word(ratings, truth):
    reviews = [
        replace(REVIEW, review_id=f"{place}", reviewer=who, rating=rating, reviewed_at=place)
        for place, (who, rating) in enumerate(ratings)
    ]
    (found,) = join([FACTS], reviews).ratings
    assert found.truth is truth


SENT = replace(FACTS, decision=Decision.AUTO_SEND)


@pytest.mark.parametrize(
    ("facts", "audit", "weight", "draw", "chosen"),
    [
        (FACTS, NEVER, 1.0, AuditDraw(1.0, drawn=True), False),
        (FACTS, AuditDraw(0.1, drawn=False), 1.0, AuditDraw(0.1, drawn=False), True),
        (SENT, AuditDraw(0.02, drawn=True), 50.0, AuditDraw(0.02, drawn=True), False),
        (SENT, AuditDraw(0.02, drawn=False), 1.0, AuditDraw(0.02, drawn=False), True),
        (SENT, NEVER, 1.0, NEVER, True),
        (SENT, NEVER, 50.0, AuditDraw(0.02, drawn=True), False),
    ],
)
def test_ratings_of_a_sample_and_those_that_a_reviewer_chose_are_told_apart(
    facts, audit, weight, draw, chosen
):
    (found,) = join([facts], [replace(REVIEW, rating=5, weight=weight)], lambda _: audit).ratings
    assert found.draw == draw
    assert found.is_chosen_by_reviewer is chosen
