"""What is held is the last record of each key; what cannot be read or is too old holds everything."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec
from scoring.policy import Pauses, PauseScope
from scoring.values.exchange import MessageType
from streams.pause.pause_state import CODEC, STALE_SECONDS, PauseState, UnreadablePause, pause_key, read_pause
from tests.support.clock import Clock
from tests.support.holds import (
    INSTRUCTIONS_IN_DUTCH,
    a_hold,
    board_of_nothing,
    hold_record,
    raw_record,
    resumed,
)
from tests.support.record_strategies import ANSWER

EVERYTHING = a_hold()
IN_DUTCH = a_hold("instruction", "nl")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> PauseState:
    return board_of_nothing(clock)


def test_before_the_topic_was_read_nothing_is_known(clock: Clock) -> None:
    board = PauseState(clock)
    assert board.pauses == Pauses(known=False)
    board.apply([hold_record(IN_DUTCH)])
    assert board.pauses == Pauses(frozenset({INSTRUCTIONS_IN_DUTCH}), known=False)


def test_an_empty_topic_that_was_read_holds_nothing(board: PauseState) -> None:
    assert board.pauses == Pauses()


def test_what_is_held_is_held_until_it_is_resumed(board: PauseState) -> None:
    board.apply([hold_record(EVERYTHING), hold_record(IN_DUTCH, 1)])
    assert board.pauses.scopes == {PauseScope(), INSTRUCTIONS_IN_DUTCH}
    board.apply([hold_record(resumed(EVERYTHING), 2)])
    assert board.pauses == Pauses(frozenset({INSTRUCTIONS_IN_DUTCH}))
    assert [entry.record for entry in board.active] == [IN_DUTCH]
    board.apply([hold_record(resumed(IN_DUTCH), 3)])
    assert board.pauses == Pauses()


def test_to_resume_another_scope_lets_nothing_go(board: PauseState) -> None:
    board.apply([hold_record(EVERYTHING), hold_record(resumed(IN_DUTCH), 1)])
    assert board.pauses.scopes == {PauseScope()}


def test_a_record_that_is_deleted_holds_nothing(board: PauseState) -> None:
    board.apply([hold_record(IN_DUTCH), raw_record(b"instruction/nl", None, 1)])
    assert board.pauses == Pauses()


def test_a_status_of_a_later_release_holds(board: PauseState) -> None:
    board.apply([hold_record(replace(EVERYTHING, status="half"))])
    assert board.pauses.scopes == {PauseScope()}


UNREADABLE = [
    (raw_record(b"*/*", b""), "empty_value"),
    (raw_record(b"*/*", b"nonsense"), "unknown_format"),
    (raw_record(b"*/*", b"\xc3\x01" + b"x" * 20), "unknown_fingerprint"),
    (raw_record(b"*/*", Codec().encode(ANSWER)), "wrong_record"),
    (raw_record(b"*/*", CODEC.encode(EVERYTHING)[:-1]), "truncated"),
    (raw_record(b"*/*", CODEC.encode(replace(EVERYTHING, reason=""))), "invalid_record"),
    (raw_record(b"*/nl", CODEC.encode(EVERYTHING)), "key_mismatch"),
    (raw_record(None, CODEC.encode(EVERYTHING)), "key_mismatch"),
    (raw_record(b"greeting/*", CODEC.encode(a_hold("greeting"))), "unknown_scope"),
    (raw_record(b"*/Dutch", CODEC.encode(a_hold(language="Dutch"))), "unknown_scope"),
]


@pytest.mark.parametrize(("record", "code"), UNREADABLE)
def test_a_record_that_cannot_be_read_makes_it_unknown_what_is_held(
    board: PauseState, record: object, code: str
) -> None:
    (entry,) = board.apply([record])
    assert (entry.record, entry.error) == (None, code)
    assert board.pauses == Pauses(known=False)
    assert board.active == (entry,)
    board.apply([raw_record(entry.key, None, 1)])
    assert board.pauses == Pauses()


def test_a_readable_record_in_its_place_makes_it_known_again(board: PauseState) -> None:
    board.apply([raw_record(b"*/*", b"nonsense"), hold_record(resumed(EVERYTHING), 1)])
    assert board.pauses == Pauses()


def test_a_value_in_the_wire_format_of_a_registry_is_not_looked_up() -> None:
    with pytest.raises(UnreadablePause, match="schema_registry_not_configured"):
        read_pause(raw_record(b"*/*", b"\x00\x00\x00\x00\x01more"))


@pytest.mark.parametrize(
    ("seconds", "known"), [(0, True), (STALE_SECONDS, True), (STALE_SECONDS + 0.1, False), (-0.1, False)]
)
def test_what_was_read_is_believed_for_so_long_and_not_where_the_clock_went_back(
    board: PauseState, clock: Clock, seconds: float, known: bool
) -> None:
    clock.now += seconds
    assert board.pauses == Pauses(known=known)


def test_each_confirmation_counts_and_none_leaves_the_last_one(board: PauseState, clock: Clock) -> None:
    clock.now += STALE_SECONDS + 1
    board.confirm(None)
    assert not board.known
    board.confirm(clock.now)
    assert board.known


def test_what_one_partition_holds_is_held_whatever_another_one_says(board: PauseState) -> None:
    """Where partitions were added a key stands in two, and nothing tells which record is the later one."""
    records = [hold_record(EVERYTHING, 0, partition=0), hold_record(resumed(EVERYTHING), 0, partition=1)]
    for order in (records, records[::-1]):
        board.apply(order)
        assert board.pauses.scopes == {PauseScope()}
    board.apply([hold_record(resumed(EVERYTHING), 1, partition=0)])
    assert board.pauses == Pauses()


scopes = st.builds(
    PauseScope, st.none() | st.sampled_from(MessageType), st.none() | st.sampled_from(["nl", "en"])
)


@given(st.lists(st.tuples(scopes, st.booleans()), max_size=30))
def test_the_last_word_on_each_scope_counts_in_whatever_batches_it_comes(
    said: list[tuple[PauseScope, bool]],
) -> None:
    records = []
    for offset, (scope, held) in enumerate(said):
        hold = a_hold(scope.message_type, scope.language)
        records.append(hold_record(hold if held else resumed(hold), offset))
    last = dict(said)
    one, many = PauseState(), PauseState()
    one.apply(records)
    for record in records:
        many.apply([record])
    assert one.pauses.scopes == many.pauses.scopes == {scope for scope, held in last.items() if held}


def test_keys_tell_type_and_language_with_a_star_for_any() -> None:
    assert [
        pause_key(each) for each in (PauseScope(), PauseScope(MessageType.BINARY), PauseScope(language="nl"))
    ] == [
        b"*/*",
        b"binary/*",
        b"*/nl",
    ]
    assert pause_key(INSTRUCTIONS_IN_DUTCH) == b"instruction/nl"
