"""The state of the desk is a function of its topics: any order of reading them gives the same."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from aiokafka import TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec, Review, Verdict, VerdictOpinion, to_json
from streams.desk.desk_state import ANY_HELD, DATABASE_NAME, DeskRecord, DeskState, HeldFilter
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import TopicSnapshot
from streams.reviews.audit_sample import AuditSample
from streams.settings import DeskSettings
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

TOPICS = ("verdicts.review", "verdicts.blocked", "reviews")
IDENTITIES = tuple(TopicIdentity("cluster", topic, f"id-{topic}") for topic in TOPICS)
Value = Verdict | Review


NO_SAMPLE = AuditSample(b"key", 0)


def opened(folder: Path, sample: AuditSample = NO_SAMPLE, **settings: Any) -> DeskState:
    folder.mkdir(exist_ok=True)
    return DeskState(folder, DeskSettings.model_validate(settings), sample)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[DeskState]:
    state = opened(tmp_path)
    yield state
    state.close()


def verdict(number: int, decision: str = "review", answer: str = "So.") -> Verdict:
    return any_verdict(verdict_id=f"v-{number}", decision=decision, answer=answer)


def review(
    number: int, outcome: str, review_id: str = "r-1", text: str | None = None, reviewer: str = "kim"
) -> Review:
    ids = {"verdict_id": f"v-{number}", "review_id": review_id, "reviewer": reviewer}
    return a_review(**ids, outcome=outcome, text=text)


NUMBERS = st.integers(0, 3)
OUTCOMES = st.sampled_from(["send", "send_edited", "reject", "expired", "none", "unheard of"])
REVIEWS = st.builds(
    review,
    NUMBERS,
    OUTCOMES,
    st.sampled_from(["r-1", "r-2"]),
    st.sampled_from([None, "Text."]),
    st.sampled_from(["kim", "alex"]),
)
LOGS = st.fixed_dictionaries(
    {
        (topic, partition): st.lists(values, max_size=4)
        for partition in range(2)
        for topic, values in (
            ("verdicts.review", st.builds(verdict, NUMBERS, st.just("review"), st.sampled_from("AB"))),
            ("verdicts.blocked", st.builds(verdict, NUMBERS, st.just("blocked"), st.sampled_from("AB"))),
            ("verdicts.auto-send", st.builds(verdict, NUMBERS, st.just("auto_send"), st.sampled_from("AB"))),
            ("reviews", REVIEWS),
        )
    }
)


#: Of the verdicts here it draws some for one person, some for two, and some for nobody.
HALF = AuditSample(b"some key 1", 0.5)


def raters(logs: dict[tuple[str, int], list[Any]], number: int) -> set[str]:
    """Name who has rated a verdict, be it by the first record of an id on its partition."""
    found: set[str] = set()
    for partition in range(2):
        seen: set[str] = set()
        for each in logs["reviews", partition]:
            if each.verdict_id == f"v-{number}" and each.review_id not in seen:
                seen.add(each.review_id)
                found |= set() if each.is_final else {each.reviewer}
    return found


def expected(logs: dict[tuple[str, int], list[Any]]) -> dict[str, Any]:
    """Count what the topics say, one after the other."""
    outcomes: dict[str, tuple[str, str]] = {}
    for each in (*logs["reviews", 0], *logs["reviews", 1]):
        if each.is_final:
            outcomes.setdefault(each.verdict_id, (each.outcome, each.review_id))
    held: dict[str, Verdict] = {}
    for topic in ("verdicts.review", "verdicts.blocked", "verdicts.auto-send"):
        for each in (*logs[topic, 0], *logs[topic, 1]):
            left = HALF.raters(each.verdict_id) - len(raters(logs, int(each.verdict_id[2:])))
            if each.verdict_id not in outcomes and (left > 0 or topic != "verdicts.auto-send"):
                held.setdefault(each.verdict_id, each)
    return {f"v-{n}": (held.get(f"v-{n}"), outcomes.get(f"v-{n}")) for n in range(4)}


@given(LOGS, st.data())
def test_any_interleaving_in_any_batches_gives_what_the_topics_say(
    logs: dict[tuple[str, int], list[Value]], data: st.DataObject
) -> None:
    order = [key for key, values in logs.items() for _ in values]
    done = dict.fromkeys(logs, 0)
    with TemporaryDirectory() as folder:
        state = opened(Path(folder), sample=HALF)
        state.reset(IDENTITIES)
        batch: list[DeskRecord] = []
        for key in data.draw(st.permutations(order)):
            batch.append(DeskRecord(key[1], done[key], logs[key][done[key]]))
            done[key] += 1
            if data.draw(st.booleans()):
                state.apply(batch, {TopicPartition(*key): done[key] for key in done})
                batch = []
                if data.draw(st.booleans()):
                    state.close()
                    state = opened(Path(folder), sample=HALF)
        state.apply(batch, {TopicPartition(*key): done[key] for key in done})
        found = {f"v-{n}": (state.held(f"v-{n}"), state.outcome(f"v-{n}")) for n in range(4)}
        held = [each for each, _ in found.values() if each]
        rated = {
            each.verdict_id
            for key, values in logs.items()
            for each in values
            if isinstance(each, Review) and not each.is_final
        }
        listed = {each.verdict_id for each in held if each.decision == "blocked"} - rated
        drawn = {each.verdict_id: HALF.raters(each.verdict_id) for each in held if each.decision != "review"}
        for reviewer in ("kim", "alex"):
            wanted = [
                key
                for key, number in drawn.items()
                if len(by := raters(logs, int(key[2:]))) < number and reviewer not in by
            ]
            assert state.next_audit(ANY_HELD, (), reviewer, 0) == min(wanted, default=None)
        assert state.count(blocked=True) == len(listed)
        assert {each.verdict_id for each in state.blocked(ANY_HELD, 10)} == listed
        assert state.next_offsets() == {TopicPartition(*key): len(values) for key, values in logs.items()}
        state.close()
    assert found == expected(logs)


def snapshot(
    ends: int = 5, identities: Sequence[TopicIdentity] = IDENTITIES, begins: int = 0
) -> TopicSnapshot:
    places = [TopicPartition(each.topic, 0) for each in identities]
    return TopicSnapshot(tuple(identities), dict.fromkeys(places, begins), dict.fromkeys(places, ends), 0)


def test_a_state_of_other_topics_is_rebuilt(state: DeskState) -> None:
    assert state.rebuild_reason(snapshot()) == "new"
    state.reset(IDENTITIES)
    assert state.rebuild_reason(snapshot()) is None
    state.apply([], {TopicPartition("reviews", 0): 3})
    assert state.rebuild_reason(snapshot()) is None
    assert state.rebuild_reason(snapshot(ends=2)) == "offset_out_of_range"
    assert state.rebuild_reason(snapshot(begins=4)) == "offset_out_of_range"
    other = [each._replace(cluster_id="other") for each in IDENTITIES]
    assert state.rebuild_reason(snapshot(identities=other)) == "another_topic"
    recreated = [*IDENTITIES[:2], IDENTITIES[2]._replace(topic_id="new")]
    assert state.rebuild_reason(snapshot(identities=recreated)) == "another_topic"


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    state = opened(tmp_path)
    state.reset(IDENTITIES)
    state.close()
    (tmp_path / DATABASE_NAME).write_bytes(b"no database" * 100)
    state = opened(tmp_path)
    assert state.rebuild_reason(snapshot()) == "new"
    state.close()
    assert (tmp_path / "state.set-aside.sqlite3").read_bytes() == b"no database" * 100
    (tmp_path / DATABASE_NAME).write_bytes(b"neither" * 100)
    opened(tmp_path).close()
    assert (tmp_path / "state.set-aside.sqlite3").read_bytes() == b"no database" * 100
    assert (tmp_path / "state.set-aside2.sqlite3").read_bytes() == b"neither" * 100


def test_the_text_of_a_decided_answer_is_deleted(state: DeskState, tmp_path: Path) -> None:
    state.apply([DeskRecord(0, 0, verdict(1, answer="Zwaluwstaart"))], {})
    state.apply([DeskRecord(0, 0, review(1, "reject"))], {})
    state.close()
    assert not any(b"Zwaluwstaart" in each.read_bytes() for each in tmp_path.iterdir())


def hold(state: DeskState, number: int, second: int, **fields: Any) -> None:
    at = datetime(2026, 3, 2, 9, 0, second, tzinfo=UTC)
    made = any_verdict(verdict_id=f"v-{number}", produced_at=at, scored_at=at, **fields)
    state.apply([DeskRecord(0, number, made)], {})


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("age", "v-1 v-2 v-3"),
        ("deadline", "v-3 v-1 v-2"),
        ("type", "v-2 v-3 v-1"),
        ("expected_error", "v-3 v-2 v-1"),
    ],
)
def test_the_order_is_that_of_the_settings_or_of_the_reviewer(
    tmp_path: Path, order: str, expected: str
) -> None:
    values = {"time_limits": {"instruction": 60}, "first_types": ["action", "instruction"]}
    for of_settings, wanted in ((order, ANY_HELD), ("age", HeldFilter(order=order))):
        state = opened(tmp_path / f"by {wanted.order}", order=of_settings, **values)
        for number, kind, score in ((1, "binary", 4.8), (2, "action", 3.0), (3, "instruction", 1.0)):
            hold(state, number, number, message_type=kind, score=score)
        found: list[str] = []
        while each := state.next_held(wanted, found):
            found.append(each)
        state.close()
        assert " ".join(found) == expected


def test_the_answer_that_a_judge_finds_false_is_expected_to_be_untrue_and_comes_first(
    state: DeskState,
) -> None:
    order = HeldFilter(order="expected_error")
    for number, label in ((1, "FALSE"), (2, "TRUE"), (3, None)):
        opinion = VerdictOpinion("direct", ("m",), "1", label, 0.9, score=5.0 if label == "TRUE" else None)
        hold(state, number, number, opinions=(opinion,), language="nl" if number < 3 else "en")
    assert state.next_held(order, ()) == "v-1"
    assert state.next_held(order, {"v-1"}) == "v-3"
    assert state.next_held(order, {"v-1", "v-3"}) == "v-2"
    assert state.next_held(replace(order, language="nl"), {"v-1"}) == "v-2"


def test_a_filter_gives_the_answers_of_a_type_language_tenant_and_reason(tmp_path: Path) -> None:
    state = opened(tmp_path, tenant_key="shop")
    hold(state, 1, 1, language="nl", reasons=("low_score",), metadata={"shop": "a"})
    hold(state, 2, 2, language=None, reasons=("low_score", "doubt"), message_type="action")
    hold(state, 3, 3, decision="blocked", reasons=("doubt",), metadata={"shop": "a"})
    for wanted, expected in (
        (HeldFilter(language="nl"), "v-1"),
        (HeldFilter(message_type="action", reason="doubt"), "v-2"),
        (HeldFilter(tenant="a"), "v-1"),
        (HeldFilter(reason="low"), None),
    ):
        assert state.next_held(wanted, ()) == expected
    assert [each.verdict_id for each in state.blocked(HeldFilter(tenant="a"), 9)] == ["v-3"]
    assert state.blocked(HeldFilter(tenant="b"), 9) == []
    assert state.choices("")["reason"] == {"low_score": 2, "doubt": 2}
    assert state.choices("")["tenant"] == {"a": 2, "": 1}
    state.close()
    # What was read with another key has other tenants.
    state = opened(tmp_path)
    state.reset(IDENTITIES)
    state.close()
    state = opened(tmp_path, tenant_key="shop")
    assert state.rebuild_reason(snapshot()) == "another_release"
    state.close()


def test_a_time_limit_counts_from_when_an_answer_was_produced_or_scored_if_that_is_earlier(
    tmp_path: Path,
) -> None:
    limits = {"time_limit_seconds": 100, "time_limits": {"instruction": 10}, "blocked_time_limit_seconds": 50}
    state = opened(tmp_path, **limits)
    hold(state, 1, 0)
    hold(state, 2, 0, message_type="instruction")
    hold(state, 3, 0, decision="blocked")
    hold(state, 4, 0, decision="blocked")
    state.apply([DeskRecord(0, 9, review(4, "none"))], {})
    ahead = datetime(2030, 1, 1, tzinfo=UTC)
    scored = datetime(2026, 3, 2, 9, tzinfo=UTC)
    state.apply([DeskRecord(0, 5, any_verdict(verdict_id="v-5", produced_at=ahead, scored_at=scored))], {})
    start = round(scored.timestamp() * 1000)
    for seconds, expected in ((9, ""), (10, "v-2"), (50, "v-2 v-3 v-4"), (100, "v-1 v-2 v-3 v-4 v-5")):
        assert sorted(state.overdue(start + 1000 * seconds, 9)) == expected.split()
    assert len(state.overdue(start + 10**6, 2)) == 2
    state.close()


def proposal(number: int, reviewer: str, proposed: str, review_id: str, text: str | None = None) -> Review:
    return a_review(
        verdict_id=f"v-{number}", reviewer=reviewer, proposal=proposed, review_id=review_id, text=text
    )


PROPOSALS = st.lists(
    st.builds(
        proposal,
        st.integers(0, 1),
        st.sampled_from(["kim", "alex"]),
        st.sampled_from(["send", "send_edited", "unheard of"]),
        st.sampled_from(["r-1", "r-2", "r-3"]),
        st.sampled_from([None, "Text."]),
    )
    | st.builds(review, st.integers(0, 1), st.just("reject"), st.just("r-4")),
    max_size=8,
)


@given(PROPOSALS, st.randoms())
def test_who_chose_what_is_the_same_in_any_order_until_there_is_an_outcome(
    log: list[Review], random: Random
) -> None:
    records = [DeskRecord(0, offset, each) for offset, each in enumerate(log)]
    shuffled = random.sample(records, len(records))
    found = []
    for each in (records, shuffled):
        with TemporaryDirectory() as folder:
            state = opened(Path(folder))
            for record in each:
                state.apply([record], {})
            closed = [
                state.closed_to(name, is_lead=is_lead) for name in ("kim", "sam") for is_lead in (True, False)
            ]
            found.append(([state.proposals(f"v-{n}") for n in range(2)], closed))
            state.close()
    expected = []
    for n in range(2):
        of_verdict = [each for each in log if each.verdict_id == f"v-{n}"]
        first = {each.review_id: each for each in reversed(of_verdict) if each.is_proposal}
        expected.append(
            []
            if any(each.is_final for each in of_verdict)
            else [each for each in log if each in first.values()]
        )
    assert found[0] == found[1]
    for these, those in zip(found[0][0], expected, strict=True):
        assert {each.review_id: each for each in these} == {each.review_id: each for each in those}


@pytest.mark.parametrize(
    "encode",
    [Codec().encode, lambda each: json.dumps(to_json(each)).encode()],
    ids=["as this release", "as JSON"],
)
def test_a_verdict_is_read_back_whatever_its_encoding_on_the_topic_was(state, encode):
    held = verdict(1)
    state.apply([DeskRecord(0, 0, held, encode(held))], {})
    assert state.held("v-1") == held
