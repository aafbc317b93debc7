"""What the desk forgets, and that reading the topics again gives the same."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aiokafka import TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec, KnownAnswer, Review, Verdict
from streams.desk.decisions import DecisionStore
from streams.desk.desk import Desk
from streams.desk.desk_follower import DeskFollower
from streams.desk.desk_state import DATABASE_NAME, DeskRecord, DeskState
from streams.kafka.topic_reader import TopicSnapshot
from streams.rates.verdict_counts import to_epoch_ms
from streams.reviews.audit_sample import AuditSample
from streams.settings import DeskSettings, Settings
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

NOW = datetime(2026, 6, 1, tzinfo=UTC)
OLD, YOUNG = NOW - timedelta(days=40), NOW - timedelta(days=1)
EVERYTHING = {("review", 0): 99, ("blocked", 0): 99, ("auto_send", 0): 99}
Value = Verdict | Review | KnownAnswer


def verdict(number: int, at: datetime, decision: str = "review", key: str | None = None) -> Verdict:
    times = {"produced_at": at, "scored_at": at}
    return any_verdict(verdict_id=f"v-{number}", decision=decision, known_answer_key=key, **times)


def review(number: int, at: datetime, outcome: str = "reject", **fields: Any) -> Review:
    own = {"review_id": f"r-{number}-{outcome}-{at.day}", **fields}
    return a_review(verdict_id=f"v-{number}", outcome=outcome, reviewed_at=at, **own)


def opened(folder: Path) -> DeskState:
    return DeskState(folder, DeskSettings(), AuditSample(b"key", 0), known_answers=True)


def rows(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        tables = ("held", "verdicts", "reviews", "proposals", "outcomes", "judgements", "answer_keys")
        query = "SELECT count(*) FROM "
        found = {each: connection.execute(query + each).fetchone()[0] for each in tables}
    return {table: count for table, count in found.items() if count}


def publish_known(state: DeskState) -> None:
    while due := state.due_answers(9):
        state.apply([DeskRecord(0, 0, each) for each in due], {})


def test_what_is_said_of_a_verdict_is_kept_as_long_as_kafka_has_it_and_thirty_days(tmp_path: Path) -> None:
    state = opened(tmp_path)
    records = [DeskRecord(0, n, verdict(n, at, key=f"k-{n}")) for n, at in ((1, OLD), (2, OLD), (3, YOUNG))]
    records += [DeskRecord(0, n, review(n, at)) for n, at in ((1, OLD), (2, OLD), (3, YOUNG))]
    proposal = review(10, OLD, "none", proposal="send")
    never_read = [DeskRecord(0, 9, review(9, OLD)), DeskRecord(0, 10, proposal)]
    state.apply([*records, *never_read], {})
    publish_known(state)
    now = to_epoch_ms(NOW)
    state.prune(now, {("review", 0): 2})
    assert state.outcome("v-9") is None
    assert [state.outcome(f"v-{n}") is not None for n in (1, 2, 3)] == [False, True, True]
    assert rows(tmp_path) == {"verdicts": 2, "reviews": 1, "outcomes": 2, "judgements": 2, "answer_keys": 2}
    state.prune(now, EVERYTHING)
    assert rows(tmp_path) == {"verdicts": 1, "reviews": 1, "outcomes": 1, "judgements": 1, "answer_keys": 1}
    state.prune(now + 31 * 86_400_000, EVERYTHING)
    assert rows(tmp_path) == {}
    assert {each.state for each in state.listed_answers("", 9)} == {"untrue"}
    state.close()


def test_what_the_topic_of_known_answers_lacks_is_not_forgotten_before(
    tmp_path: Path,
) -> None:
    state = opened(tmp_path)
    state.apply([DeskRecord(0, 1, verdict(1, OLD, key="k-1")), DeskRecord(0, 1, review(1, OLD))], {})
    state.prune(to_epoch_ms(NOW), EVERYTHING)
    (due,) = state.due_answers(9)
    assert (due.key, due.state) == ("k-1", "untrue")
    publish_known(state)
    state.prune(to_epoch_ms(NOW), EVERYTHING)
    assert rows(tmp_path) == {}
    state.close()


def test_an_answer_that_waits_is_not_forgotten_with_what_reviewers_chose(tmp_path: Path) -> None:
    state = opened(tmp_path)
    proposal = review(1, OLD, "none", proposal="send")
    state.apply([DeskRecord(0, 1, verdict(1, OLD)), DeskRecord(0, 2, proposal)], {})
    state.prune(to_epoch_ms(NOW), EVERYTHING)
    assert state.held("v-1") is not None
    assert state.proposals("v-1") == [proposal]
    state.close()


NUMBERS, TIMES = st.integers(0, 3), st.sampled_from([OLD, YOUNG])
KEYS = st.sampled_from([None, "k-1", "k-2"])
VERDICTS = st.lists(st.tuples(NUMBERS, KEYS), max_size=5, unique_by=lambda each: each[0])
REVIEWS = st.lists(
    st.builds(review, NUMBERS, TIMES, st.sampled_from(["reject", "send", "none", "expired"])), max_size=6
)


def seen(state: DeskState, on_topic: list[Verdict]) -> object:
    """What anybody can see of the verdicts that Kafka has, and of known answers."""
    publish_known(state)
    ids = [each.verdict_id for each in on_topic]
    known = {each.key: each.state for each in state.listed_answers("", 9)}
    return [state.held(each) for each in ids], [state.outcome(each) for each in ids], known


@given(VERDICTS, st.integers(0, 3), REVIEWS, st.integers(0, 6), st.integers(0, 5))
def test_reading_what_kafka_still_has_gives_the_same_as_what_was_pruned(
    made: list[tuple[int, str | None]], old: int, said: list[Review], split: int, begin: int
) -> None:
    """Reviews before and after the pruning, of verdicts that Kafka deleted and of others."""
    verdicts = [verdict(n, OLD if n < old else YOUNG, key=key) for n, key in made]
    verdicts.sort(key=lambda each: each.scored_at)
    begin = min(begin, sum(each.scored_at == OLD for each in verdicts))
    records = [DeskRecord(0, at, each) for at, each in enumerate(verdicts)]
    reviews = [DeskRecord(0, at, each) for at, each in enumerate(said)]
    begins, now = {("review", 0): begin}, to_epoch_ms(NOW)
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        lasting = opened(Path(one))
        lasting.apply([*records, *reviews[:split]], {})
        publish_known(lasting)
        lasting.prune(now, begins)
        lasting.apply(reviews[split:], {})
        lasting.prune(now, begins)
        rebuilt = opened(Path(other))
        known = [
            KnownAnswer(each.key, each.state, each.verdict_id, (), (), each.at)
            for each in lasting.listed_answers("", 9)
        ]
        rebuilt.apply([DeskRecord(0, at, each) for at, each in enumerate(known)], {})
        rebuilt.apply([*reviews, *records[begin:]], {})
        rebuilt.prune(now, begins)
        assert seen(lasting, verdicts[begin:]) == seen(rebuilt, verdicts[begin:])
        lasting.close()
        rebuilt.close()


async def test_a_follower_says_what_kafka_has_by_decision_once_all_is_read(tmp_path: Path) -> None:
    settings, state = Settings(), opened(tmp_path)
    desk = Desk(state, DecisionStore(tmp_path), settings)
    follower = DeskFollower(settings.kafka, Codec(), state, desk)
    verdicts = [verdict(1, OLD), verdict(2, OLD, "blocked")]
    state.apply([DeskRecord(0, 5, each) for each in (*verdicts, review(1, OLD), review(2, OLD))], {})
    begins = {TopicPartition("verdicts.review", 0): 6, TopicPartition("verdicts.blocked", 0): 5}
    seen = TopicSnapshot((), {**begins, TopicPartition("reviews", 0): 0}, {}, 0)
    await follower._prune(seen)
    assert rows(tmp_path)["outcomes"] == 2  # a verdict may still come
    desk.caught_up = True
    await follower._prune(seen)
    assert (state.outcome("v-1"), state.outcome("v-2")) == (None, ("reject", f"r-2-reject-{OLD.day}"))
    state.close()
