"""The indexes of the desk's state, which are built when its topics are read."""

import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from aiokafka import TopicPartition

from schemas import Codec
from streams.desk import desk_state
from streams.desk.decisions import DecisionStore
from streams.desk.desk import Desk
from streams.desk.desk_follower import DeskFollower
from streams.desk.desk_state import ANY_HELD, DATABASE_NAME, FILTERS, DeskRecord, DeskState, HeldFilter
from streams.desk.desk_tables import INDEXES
from streams.kafka.topic_identity import TopicIdentity
from streams.reviews.audit_sample import AuditSample
from streams.settings import DeskSettings, Settings
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

IDENTITIES = [TopicIdentity("cluster", "reviews", "id")]
ORDERS = ("age", "deadline", "type", "expected_error")


def opened(folder: Path) -> DeskState:
    return DeskState(folder, DeskSettings(), AuditSample(b"key", 0.5), known_answers=True)


def fill(state: DeskState) -> None:
    decisions = ("review", "review", "blocked", "auto_send")
    records = [
        DeskRecord(0, n, any_verdict(verdict_id=f"v-{n}", decision=decisions[n % 4], score=1.0 + n % 5))
        for n in range(40)
    ]
    reviews = [a_review(verdict_id=f"v-{n}", review_id=f"r-{n}", outcome="send") for n in range(10)]
    state.apply([*records, *(DeskRecord(0, n, each) for n, each in enumerate(reviews))], {})


def indexes(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}


def answers(state: DeskState) -> Any:
    order: list[str] = []
    while chosen := state.next_held(HeldFilter(order="expected_error"), order):
        order.append(chosen)
    counts = [state.count(blocked=each) for each in (False, True)]
    return order, counts, state.choices(""), sorted(each.message_type for each in state.reviewed(0))


def test_a_desk_that_was_killed_before_it_built_its_indexes_builds_them_at_its_next_start(
    tmp_path: Path,
) -> None:
    state = opened(tmp_path)
    state.reset(IDENTITIES)
    fill(state)
    without = answers(state)
    state.close()
    assert not indexes(tmp_path) & INDEXES.keys()
    state = opened(tmp_path)
    assert answers(state) == without
    state.build_indexes()
    assert indexes(tmp_path) >= INDEXES.keys()
    assert answers(state) == without
    fill(state)  # a repeat, with the indexes
    state.build_indexes()
    assert answers(state) == without
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    state.reset(IDENTITIES)
    assert not indexes(tmp_path) & INDEXES.keys()
    assert answers(state)[0] == []
    state.close()


async def test_a_desk_gives_nothing_out_before_the_indexes_are_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, state = Settings(), opened(tmp_path)
    desk = Desk(state, DecisionStore(tmp_path), settings)
    seen: list[bool] = []
    build = DeskState.build_indexes

    def build_and_look(self: DeskState) -> None:
        seen.append(desk.caught_up)
        build(self)

    monkeypatch.setattr(DeskState, "build_indexes", build_and_look)
    await DeskFollower(settings.kafka, Codec(), state, desk)._catch_up()
    assert (seen, desk.caught_up) == ([False], True)
    assert indexes(tmp_path) >= INDEXES.keys()
    state.close()


def test_every_query_of_a_desk_that_has_read_its_topics_uses_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def traced(connection: sqlite3.Connection) -> sqlite3.Connection:
        connection.set_trace_callback(asked.append)
        return connection

    connect, open_file = desk_state.connect, desk_state.open_store_file
    monkeypatch.setattr(desk_state, "connect", lambda *given: traced(connect(*given)))
    monkeypatch.setattr(desk_state, "open_store_file", lambda *given: traced(open_file(*given)))
    state = opened(tmp_path)
    state.reset(IDENTITIES)
    state.build_indexes()
    asked.clear()
    fill(state)
    filters = [ANY_HELD, *(HeldFilter(**{each: "x"}) for each in FILTERS)]
    for wanted, order in product(filters, ORDERS):
        state.next_held(HeldFilter(*(getattr(wanted, each) for each in FILTERS), order=order), {"v-1"})
    for wanted in filters:
        state.next_audit(wanted, {"v-1"}, "kim", 0)
        state.blocked(wanted, 9)
    for tenant, blocked in product(("", "a"), (False, True)):
        state.count(tenant, blocked=blocked)
    state.is_held("v-1")
    state.has_review("v-1", "r-1")
    state.oldest()
    state.overdue(0, 9)
    state.waiting_by_age(0, (1.0,))
    state.time_used(0)
    state.reviewed(0)
    state.prune(0, {("review", 0): 5, ("blocked", 0): 5})
    state.apply([], {TopicPartition("reviews", 0): 1})
    plans = set[str]()
    with closing(sqlite3.connect(tmp_path / DATABASE_NAME)) as connection:
        for query in asked:
            if query.lstrip().partition(" ")[0].upper() in {"SELECT", "WITH", "DELETE", "UPDATE", "INSERT"}:
                plans |= {row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}")}
    state.close()
    used = {name for name in INDEXES if any(f" {name} " in f"{each} " for each in plans)}
    assert used == INDEXES.keys()
    big = tuple(f"SCAN {table}" for table in ("held", "verdicts", "reviews", "outcomes"))
    scans = {each for each in plans if each.startswith(big) and "COVERING INDEX" not in each}
    # Those that are drawn are few; figures need most of the reviews, which are kept for their days alone.
    assert scans == {"SCAN held USING INDEX held_audit", "SCAN reviews"}
