"""Candidates are compared with what was decided since they were proposed, and with nothing else."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from schemas import Codec, Verdict
from streams.reviews.audit_sample import AuditSample
from streams.reviews.policy_candidates import candidates, compare_candidates, compare_shadows
from streams.reviews.rating_records import shadow_decision, verdict_facts
from streams.reviews.rating_store import RatingStore
from tests.support.clock import Clock
from tests.support.pauses import WHEN
from tests.support.policies import a_certificate, a_change, a_fitted_policy, policy_state
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

SAMPLE = AuditSample(b"key", 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RatingStore]:
    with closing(RatingStore(tmp_path, Codec())) as store:
        yield store


def verdict(name: str, score: float, decision: str, seconds: float = 1) -> Verdict:
    reason = "high_score" if decision == "auto_send" else "middle_score"
    own = {"message_type": "instruction", "language": "nl", "degraded": (), "features": ()}
    at = WHEN + timedelta(seconds=seconds)
    return any_verdict(
        verdict_id=name, score=score, decision=decision, reasons=(reason,), scored_at=at, **own
    )


def test_what_each_alone_sends_is_counted_by_group_with_the_mistakes_among_it(store):
    known = tuple(verdict_facts(verdict("any", 5.0, "review")).versions)
    fitted = a_fitted_policy(a_certificate(threshold=0.5, versions=known))
    state = policy_state(Clock(), a_change("v-1", "proposed", fitted=fitted))
    verdicts = [
        verdict("both", 5.0, "auto_send"),
        verdict("candidate", 5.0, "review"),
        verdict("candidate-2", 5.0, "review"),
        verdict("active", 1.0, "auto_send"),
        verdict("before", 5.0, "review", seconds=-1),
    ]
    reviews = [
        a_review(review_id=f"r-{each.verdict_id}", verdict_id=each.verdict_id, rating=rating)
        for each, rating in zip(verdicts, (5, 5, 1, 1, 1), strict=True)
    ]
    store.apply([*verdicts, *reviews], {})
    found = compare_candidates(store, SAMPLE, candidates(state))
    assert list(found) == ["v-1"]
    everything, instructions = found["v-1"]
    assert (everything.first.name, instructions.first.name) == ("all", "instruction nl")
    for each in found["v-1"]:
        assert (each.first.answers, each.first.sent, each.second.sent) == (4, 2, 3)
        assert (each.only_first, each.only_second) == (1, 2)
        assert each.only_first_mistakes
        assert each.only_second_mistakes
        assert (each.only_first_mistakes.value, each.only_second_mistakes.value) == (1.0, 0.5)


def test_only_versions_that_were_proposed_and_nothing_else_are_candidates(store):
    state = policy_state(
        Clock(),
        *(a_change(f"v-{number}", "proposed") for number in range(8)),
        a_change("v-7", "approved"),
        a_change("v-6", "withdrawn"),
        a_change("settings", "approved"),
        a_change("v-nothing", "proposed", fitted=replace(a_fitted_policy(), certificates=())),
    )
    assert [each.version for each in candidates(state)] == ["v-1", "v-2", "v-3", "v-4", "v-5"]
    assert compare_candidates(store, SAMPLE, candidates(state)) == {}


def test_the_newest_answers_are_compared(store):
    store.apply([verdict(f"v-{number}", 5.0, "review", seconds=number) for number in range(5)], {})
    newest = store.newest(SAMPLE, 0, 2)
    assert [each.facts.verdict_id for each in newest] == ["v-3", "v-4"]


def test_a_shadow_is_compared_on_the_answers_that_both_judged_with_the_mistakes_of_each_alone(store):
    verdicts = [
        verdict("both", 5.0, "auto_send"),
        verdict("only-shadow", 5.0, "review"),
        verdict("only-shadow-2", 5.0, "review"),
        verdict("only-active", 5.0, "auto_send"),
        verdict("not-judged", 5.0, "auto_send"),
    ]
    decided = ("auto_send", "auto_send", "auto_send", "blocked")
    shadows = [
        shadow_decision(replace(each, decision=decision, message_type="binary"), "strict")
        for each, decision in zip(verdicts, decided, strict=False)
    ]
    alone = shadow_decision(verdict("of-nobody", 5.0, "auto_send"), "strict")
    reviews = [
        a_review(review_id=f"r-{each.verdict_id}", verdict_id=each.verdict_id, rating=rating)
        for each, rating in zip(verdicts, (5, 5, 1, 1, 1), strict=True)
    ]
    store.apply([*shadows, *reviews, *verdicts, alone], {})
    found = compare_shadows(store, SAMPLE, 0)
    assert list(found) == ["strict"]
    everything, instructions = found["strict"]
    assert (everything.first.name, instructions.first.name) == ("all", "instruction nl"), (
        "the active's groups"
    )
    for each in found["strict"]:
        assert (each.first.answers, each.first.sent, each.second.sent, each.second.blocked) == (4, 2, 3, 1)
        assert (each.only_first, each.only_second) == (1, 2)
        assert each.only_first_mistakes
        assert each.only_second_mistakes
        assert (each.only_first_mistakes.value, each.only_second_mistakes.value) == (1.0, 0.5)


def test_a_shadow_that_judged_nothing_lately_or_nothing_that_was_decided_is_not_compared(store):
    now = verdict("any", 5.0, "review")
    store.apply(
        [now, shadow_decision(now, "old"), shadow_decision(replace(now, verdict_id="x"), "apart")], {}
    )
    assert list(compare_shadows(store, SAMPLE, 0)) == ["old"]
    assert compare_shadows(store, SAMPLE, verdict_facts(now).scored_at + 1) == {}
