"""The store of ratings: a function of what is on the topics, however it was read."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from aiokafka import TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec, Review, Verdict
from scoring.guarantees.joined_ratings import NEVER, AuditDraw, Joined
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicSnapshot
from streams.reviews.audit_sample import AuditSample
from streams.reviews.rating_records import ShadowDecision, join_records, shadow_decision, verdict_facts
from streams.reviews.rating_store import DATABASE_NAME, RatingStore
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

SAMPLE = AuditSample(b"key", 0.5)
CODEC = Codec()
IDENTITIES = (TopicIdentity("cluster", "reviews", "1"), TopicIdentity("cluster", "verdicts.auto-send", "2"))
_BASE = any_verdict()
_SECONDS = st.integers(0, 3).map(lambda seconds: timedelta(seconds=seconds))
VERDICTS = st.builds(
    lambda name, decision, later, answer: any_verdict(
        verdict_id=name, decision=decision, scored_at=_BASE.scored_at + later, answer=answer
    ),
    st.sampled_from("abc"),
    st.sampled_from(["auto_send", "review", "blocked"]),
    _SECONDS,
    st.sampled_from(["Yes.", "No."]),
)
REVIEWS = st.builds(
    lambda name, verdict, by, rating, later: a_review(
        review_id=name,
        verdict_id=verdict,
        reviewer=by,
        rating=rating,
        reviewed_at=_BASE.scored_at + later,
    ),
    st.sampled_from("rstu"),
    st.sampled_from("abcz"),
    st.sampled_from(["kim", "alex"]),
    st.integers(1, 5),
    _SECONDS,
)
SHADOWS = st.builds(shadow_decision, VERDICTS, st.sampled_from(["strict", "cheap"]))
#: Each partition's records, in the order of their offsets.
LOGS = st.lists(st.lists(VERDICTS | REVIEWS | SHADOWS, max_size=6), min_size=1, max_size=3)


class _Killed(Exception):
    pass


def _first_of_shadows(records: list[Any]) -> dict[str, dict[str, str]]:
    """Recount what each shadow decided first of each answer."""
    found: dict[str, dict[str, str]] = {"strict": {}, "cheap": {}}
    shadows = [each for each in records if isinstance(each, ShadowDecision)]
    for each in sorted(shadows, key=lambda each: (each.scored_at, each.decision)):
        found[each.name].setdefault(each.verdict_id, each.decision)
    return found


def _of_shadows(store: RatingStore) -> dict[str, dict[str, Any]]:
    return {name: store.shadow_decisions(name, "abcz") for name in ("strict", "cheap")}


def _until_killed(records: list[Any]) -> Iterator[Any]:
    yield from records
    raise _Killed


@given(LOGS, st.data())
def test_ratings_are_those_of_an_offline_recount_in_any_order_with_repeats_and_kills(logs, data):
    everything = [each for log in logs for each in log]
    expected = join_records([each for each in everything if isinstance(each, Verdict | Review)], SAMPLE.draw)
    expected_of_shadows = _first_of_shadows(everything)
    with TemporaryDirectory() as folder:
        done = False
        while not done:
            with closing(RatingStore(Path(folder), CODEC)) as store:
                done = _read_until_killed(store, logs, data)
                found, of_shadows = store.joined(SAMPLE), _of_shadows(store)
        assert found == expected
        assert of_shadows == expected_of_shadows
        with closing(RatingStore(Path(folder), CODEC)) as store:
            store.apply(everything, {})
            assert store.joined(SAMPLE) == expected
            assert _of_shadows(store) == expected_of_shadows


def _read_until_killed(store: RatingStore, logs: list[list[Any]], data: st.DataObject) -> bool:
    """Read on from where the store is; returns whether everything was read."""
    while True:
        positions = store.next_offsets()
        left = {
            number: log[positions.get(TopicPartition("t", number), 0) :]
            for number, log in enumerate(logs)
            if positions.get(TopicPartition("t", number), 0) < len(log)
        }
        if not left:
            return True
        number = data.draw(st.sampled_from(sorted(left)))
        taken = left[number][: data.draw(st.integers(1, len(left[number])))]
        at = TopicPartition("t", number)
        ends = {at: positions.get(at, 0) + len(taken)}
        what = data.draw(st.sampled_from(["stored", "killed within a batch", "killed after it"]))
        if what == "killed within a batch":
            with suppress(_Killed):
                store.apply(_until_killed(taken), ends)
            assert store.next_offsets() == positions
            # Not again, or a test of bad luck would not end.
        store.apply(taken, ends)
        if what == "killed after it":
            return False


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[], RatingStore]]:
    stores = []

    def open_it() -> RatingStore:
        for each in stores:
            each.close()
        stores[:] = [RatingStore(tmp_path, CODEC)]
        return stores[0]

    yield open_it
    for each in stores:
        each.close()


def _snapshot(identities: Any = IDENTITIES, begin: int = 0, end: int = 10) -> TopicSnapshot:
    at = TopicPartition("reviews", 0)
    return TopicSnapshot(tuple(identities), {at: begin}, {at: end}, 0.0)


def test_the_topics_are_read_again_if_the_store_is_new_of_another_cluster_or_topic_or_out_of_range(opened):
    store = opened()
    assert store.rebuild_reason(_snapshot()) == "new"
    store.reset(IDENTITIES)
    store.apply([a_review(rating=5)], {TopicPartition("reviews", 0): 5})
    assert opened().rebuild_reason(_snapshot()) is None
    for other in (IDENTITIES[0]._replace(cluster_id="x"), IDENTITIES[0]._replace(topic_id="3")):
        assert opened().rebuild_reason(_snapshot((other, IDENTITIES[1]))) == "another_topic"
    assert opened().rebuild_reason(_snapshot(begin=6)) == "offset_out_of_range"
    assert opened().rebuild_reason(_snapshot(end=4)) == "offset_out_of_range"
    opened().reset(IDENTITIES)
    assert opened().joined(SAMPLE) == Joined((), ())
    assert opened().next_offsets() == {}


def test_a_damaged_file_is_set_aside_and_what_is_lost_is_read_again(opened, tmp_path):
    opened().reset(IDENTITIES)
    opened().close()
    (tmp_path / DATABASE_NAME).write_bytes(b"SQLite format 3\0" + bytes(5_000))
    assert opened().rebuild_reason(_snapshot()) == "new"


def test_another_release_reads_again_what_it_can_read_now(opened, tmp_path):
    opened().reset(IDENTITIES)
    opened().close()
    with closing(RatingStore(tmp_path, Codec(json_input=True))) as other:
        assert other.rebuild_reason(_snapshot()) == "another_release"


def test_no_text_is_stored(opened, tmp_path):
    store = opened()
    verdict = any_verdict(question="Where is qzxwv?", answer="In qzxwv.")
    store.apply([verdict, a_review(outcome="send_edited", text="At qzxwv.", comment="qzxwv")], {})
    assert len(store.joined(SAMPLE).ratings) == 1
    store.close()
    assert not any(b"qzxwv" in each.read_bytes() for each in tmp_path.iterdir())


def test_a_decision_of_a_later_release_is_left_out(opened):
    store = opened()
    store.apply([any_verdict(decision="translate_first")], {TopicPartition("verdicts.review", 0): 1})
    assert store.joined(SAMPLE).ratings == ()
    assert store.next_offsets()


def test_verdicts_are_joined_by_time_and_forgotten_when_they_are_old(opened):
    store = opened()
    times = [_BASE.scored_at + timedelta(minutes=minutes) for minutes in range(3)]
    verdicts = [any_verdict(verdict_id=f"v-{n}", scored_at=at) for n, at in enumerate(times)]
    store.apply([*verdicts, a_review(verdict_id="v-2", rating=5, reviewed_at=times[2])], {})
    marks = [verdict_facts(each).scored_at for each in verdicts]

    def found(*bounds: int) -> list[str]:
        return [each.facts.verdict_id for each in store.joined(SAMPLE, *bounds).ratings]

    assert found(marks[1]) == ["v-1", "v-2"]
    assert found(0, marks[1]) == ["v-0"]
    store.prune(marks[2])
    assert found() == ["v-2"]
    assert store.joined(SAMPLE).ratings[0].reviews


def test_the_sample_draws_what_was_decided_without_a_person_with_its_share():
    facts = [verdict_facts(any_verdict(verdict_id=f"v-{n}", decision="blocked")) for n in range(1_000)]
    draws = [SAMPLE.draw(each) for each in facts]
    assert {each.probability for each in draws} == {0.5}
    assert 400 < sum(each.drawn for each in draws) < 600
    assert [each.drawn for each in draws] == [SAMPLE.raters(each.verdict_id) > 0 for each in facts]
    assert SAMPLE.draw(replace(facts[0], decision=verdict_facts(_BASE).decision)) == NEVER
    assert AuditSample(b"key", 0).draw(facts[0]) == NEVER != AuditDraw(0.5, drawn=False)


SENT = st.builds(
    lambda number, version, later: any_verdict(
        verdict_id=f"v-{number}",
        decision="auto_send",
        reasons=("low_risk",),
        policy_version=version,
        scored_at=_BASE.scored_at + later,
    ),
    st.integers(0, 9),
    st.sampled_from(["p", "q"]),
    _SECONDS,
)


@given(st.lists(st.lists(SENT | REVIEWS, max_size=8) | st.sampled_from(["pruned", "reset"]), max_size=6))
def test_what_was_audited_is_the_same_however_often_one_has_looked(steps):
    since = 1_000 + verdict_facts(_BASE).scored_at
    with TemporaryDirectory() as folder, closing(RatingStore(Path(folder), CODEC)) as store:
        store.reset(IDENTITIES)
        for step in steps:
            if step == "pruned":
                store.prune(since + 1_000)
            elif step == "reset":
                store.reset(IDENTITIES)
            else:
                store.apply(step, {})
            everything = store.joined(SAMPLE, since).ratings
            for version in "pq":
                expected = [
                    each for each in everything if each.facts.certified_by == version and each.draw.drawn
                ]
                assert list(store.audited(SAMPLE, version, since)) == expected


def test_shadows_are_named_that_judged_since_and_forgotten_with_their_answers(opened):
    store = opened()
    early, late = (replace(_BASE, verdict_id=name) for name in "ab")
    late = replace(late, scored_at=_BASE.scored_at + timedelta(seconds=9))
    unknown = shadow_decision(replace(late, decision="translate_first"), "strict")
    store.apply([shadow_decision(early, "old"), shadow_decision(late, "new"), unknown], {})
    since = verdict_facts(late).scored_at
    assert store.shadow_names(0) == ["new", "old"]
    assert store.shadow_names(since) == ["new"]
    assert store.joined(SAMPLE) == Joined((), ()), "what a shadow decides is no verdict"
    store.prune(since)
    assert store.shadow_names(0) == ["new"]
    assert store.shadow_decisions("old", "ab") == {}
    assert store.shadow_decisions("new", "ab") == {"b": _BASE.decision}
    store.reset(IDENTITIES)
    assert store.shadow_names(0) == []
