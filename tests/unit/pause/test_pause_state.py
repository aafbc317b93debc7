"""The last record of each key counts; unreadable or stale records pause everything."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec
from scoring.policy import Pauses, PauseScope
from scoring.values.exchange import MessageType
from streams.pause.pause_state import CODEC, STALE_SECONDS, PauseState, UnreadablePause, pause_key, read_pause
from tests.support.clock import Clock
from tests.support.pauses import (
    INSTRUCTIONS_IN_DUTCH,
    a_pause,
    no_pauses,
    pause_record,
    raw_record,
    resumed,
)
from tests.support.record_strategies import ANSWER

EVERYTHING = a_pause()
IN_DUTCH = a_pause("instruction", "nl")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(clock: Clock) -> PauseState:
    return no_pauses(clock)


def test_before_the_topic_was_read_nothing_is_known(clock):
    state = PauseState(clock)
    assert state.pauses == Pauses(known=False)
    state.apply([pause_record(IN_DUTCH)])
    assert state.pauses == Pauses(frozenset({INSTRUCTIONS_IN_DUTCH}), known=False)


def test_an_empty_topic_pauses_nothing(state):
    assert state.pauses == Pauses()


def test_a_pause_lasts_until_it_is_resumed(state):
    state.apply([pause_record(EVERYTHING), pause_record(IN_DUTCH, 1)])
    assert state.pauses.scopes == {PauseScope(), INSTRUCTIONS_IN_DUTCH}
    state.apply([pause_record(resumed(EVERYTHING), 2)])
    assert state.pauses == Pauses(frozenset({INSTRUCTIONS_IN_DUTCH}))
    assert [entry.record for entry in state.active] == [IN_DUTCH]
    state.apply([pause_record(resumed(IN_DUTCH), 3)])
    assert state.pauses == Pauses()


def test_to_resume_another_scope_lets_nothing_go(state):
    state.apply([pause_record(EVERYTHING), pause_record(resumed(IN_DUTCH), 1)])
    assert state.pauses.scopes == {PauseScope()}


def test_a_deleted_record_pauses_nothing(state):
    state.apply([pause_record(IN_DUTCH), raw_record(b"instruction/nl", None, 1)])
    assert state.pauses == Pauses()


def test_a_status_of_a_later_release_pauses(state):
    state.apply([pause_record(replace(EVERYTHING, status="half"))])
    assert state.pauses.scopes == {PauseScope()}


UNREADABLE = [
    (raw_record(b"*/*", b""), "empty_value"),
    (raw_record(b"*/*", b"nonsense"), "unknown_format"),
    (raw_record(b"*/*", b"\xc3\x01" + b"x" * 20), "unknown_fingerprint"),
    (raw_record(b"*/*", Codec().encode(ANSWER)), "wrong_record"),
    (raw_record(b"*/*", CODEC.encode(EVERYTHING)[:-1]), "truncated"),
    (raw_record(b"*/*", CODEC.encode(replace(EVERYTHING, reason=""))), "invalid_record"),
    (raw_record(b"*/nl", CODEC.encode(EVERYTHING)), "key_mismatch"),
    (raw_record(None, CODEC.encode(EVERYTHING)), "key_mismatch"),
    (raw_record(b"greeting/*", CODEC.encode(a_pause("greeting"))), "unknown_scope"),
    (raw_record(b"*/Dutch", CODEC.encode(a_pause(language="Dutch"))), "unknown_scope"),
]


@pytest.mark.parametrize(("record", "code"), UNREADABLE)
def test_a_record_that_cannot_be_read_makes_the_pauses_unknown(state, record, code):
    (entry,) = state.apply([record])
    assert (entry.record, entry.error) == (None, code)
    assert state.pauses == Pauses(known=False)
    assert state.active == (entry,)
    state.apply([raw_record(entry.key, None, 1)])
    assert state.pauses == Pauses()


def test_a_readable_record_in_its_place_makes_it_known_again(state):
    state.apply([raw_record(b"*/*", b"nonsense"), pause_record(resumed(EVERYTHING), 1)])
    assert state.pauses == Pauses()


def test_a_value_in_the_wire_format_of_a_registry_is_not_looked_up():
    with pytest.raises(UnreadablePause, match="schema_registry_not_configured"):
        read_pause(raw_record(b"*/*", b"\x00\x00\x00\x00\x01more"))


@pytest.mark.parametrize(
    ("seconds", "known"), [(0, True), (STALE_SECONDS, True), (STALE_SECONDS + 0.1, False), (-0.1, False)]
)
def test_what_was_read_is_believed_for_so_long_and_not_where_the_clock_went_back(
    state, clock, seconds, known
):
    clock.now += seconds
    assert state.pauses == Pauses(known=known)


def test_each_confirmation_counts_and_none_leaves_the_last_one(state, clock):
    clock.now += STALE_SECONDS + 1
    state.freshness.confirm(None)
    assert not state.known
    state.freshness.confirm(clock.now)
    assert state.known


def test_what_one_partition_pauses_is_paused_whatever_another_one_says(state):
    """Where partitions were added a key stands in two, and nothing tells which record is the later one."""
    records = [pause_record(EVERYTHING, 0, partition=0), pause_record(resumed(EVERYTHING), 0, partition=1)]
    for order in (records, records[::-1]):
        state.apply(order)
        assert state.pauses.scopes == {PauseScope()}
    state.apply([pause_record(resumed(EVERYTHING), 1, partition=0)])
    assert state.pauses == Pauses()


scopes = st.builds(
    PauseScope, st.none() | st.sampled_from(MessageType), st.none() | st.sampled_from(["nl", "en"])
)


@given(st.lists(st.tuples(scopes, st.booleans()), max_size=30))
def test_the_last_word_on_each_scope_counts_in_whatever_batches_it_comes(said):
    records = []
    for offset, (scope, paused) in enumerate(said):
        pause = a_pause(scope.message_type, scope.language)
        records.append(pause_record(pause if paused else resumed(pause), offset))
    last = dict(said)
    one, many = PauseState(), PauseState()
    one.apply(records)
    for record in records:
        many.apply([record])
    assert one.pauses.scopes == many.pauses.scopes == {scope for scope, paused in last.items() if paused}


def test_keys_tell_type_and_language_with_a_star_for_any():
    assert [
        pause_key(each) for each in (PauseScope(), PauseScope(MessageType.BINARY), PauseScope(language="nl"))
    ] == [
        b"*/*",
        b"binary/*",
        b"*/nl",
    ]
    assert pause_key(INSTRUCTIONS_IN_DUTCH) == b"instruction/nl"
