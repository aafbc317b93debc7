"""A dead letter holds the original record whole, and says why it is one."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.dead_letters import make_dead_letter, without_value
from streams.kafka.kafka_records import ReceivedRecord
from streams.observability.failures import BadAnswer, Stage

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
LATER = datetime(2026, 3, 3, 9, 15, tzinfo=UTC)
ERROR = BadAnswer(Stage.DECODE, "truncated", "the value ends in the middle of a record")


def test_the_headers_name_stage_class_message_and_place():
    letter = make_dead_letter(
        ReceivedRecord("answers", 3, 42, b"c-1", b"\xc3", (("ce_id", b"7"),)), ERROR, NOW
    )
    assert letter.key == b"c-1"
    assert letter.value == b"\xc3"
    assert dict(letter.headers) == {
        "ce_id": b"7",
        "dlq.error.class": b"truncated",
        "dlq.error.message": b"the value ends in the middle of a record",
        "dlq.stage": b"decode",
        "dlq.topic": b"answers",
        "dlq.partition": b"3",
        "dlq.offset": b"42",
        "dlq.attempts": b"1",
        "dlq.first_failed_at": b"2026-03-02T09:15:00+00:00",
    }


def test_a_second_failure_keeps_the_first_time_and_adds_up_the_attempts():
    first = make_dead_letter(ReceivedRecord("answers", 0, 1, None, b"x"), ERROR, NOW)
    second = make_dead_letter(ReceivedRecord("answers", 2, 9, None, b"x", first.headers), ERROR, LATER)
    headers = dict(second.headers)
    assert headers["dlq.attempts"] == b"2"
    assert headers["dlq.first_failed_at"] == b"2026-03-02T09:15:00+00:00"
    assert headers["dlq.offset"] == b"9"
    assert headers["dlq.repeated"] == b"1"
    assert len(second.headers) == len(first.headers) + 1


def test_how_often_in_a_row_it_failed_for_the_same_reason_is_counted():
    letter = make_dead_letter(ReceivedRecord("answers", 0, 1, None, b"x"), ERROR, NOW)
    counts = []
    for error in (ERROR, ERROR, BadAnswer(Stage.SCORE, "truncated", ""), ERROR, ERROR):
        letter = make_dead_letter(ReceivedRecord("answers", 0, 2, None, b"x", letter.headers), error, LATER)
        counts.append(dict(letter.headers).get("dlq.repeated"))
    assert counts == [b"1", b"2", None, None, b"1"]


def test_a_null_value_stays_null():
    assert make_dead_letter(ReceivedRecord("answers", 0, 0, None, None), ERROR, NOW).value is None


def test_a_long_message_is_cut():
    long = BadAnswer(Stage.SCORE, "ValueError", "x" * 100_000)
    assert (
        len(
            dict(make_dead_letter(ReceivedRecord("answers", 0, 0, None, b""), long, NOW).headers)[
                "dlq.error.message"
            ]
        )
        == 1000
    )


@pytest.mark.parametrize("attempts", [b"9" * 5000, b"-1", b"", b"\xff", "٣".encode(), b"1e9", b" 1"])
def test_a_hostile_count_of_attempts_counts_as_none(attempts):
    hostile = ReceivedRecord("answers", 0, 0, None, b"", (("dlq.attempts", attempts),))
    assert dict(make_dead_letter(hostile, ERROR, NOW).headers)["dlq.attempts"] == b"1"


def test_a_letter_that_does_not_fit_states_the_size_and_hash_of_its_value():
    letter = without_value(make_dead_letter(ReceivedRecord("answers", 3, 42, b"c-1", b"abc"), ERROR, NOW))
    headers = dict(letter.headers)
    assert letter.value is None
    assert headers["dlq.value.bytes"] == b"3"
    assert headers["dlq.value.sha256"] == b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (headers["dlq.partition"], headers["dlq.offset"]) == (b"3", b"42")


@given(
    st.lists(
        st.tuples(st.text(max_size=8).filter(lambda key: not key.startswith("dlq.")), st.binary(max_size=8))
    ),
    st.lists(
        st.tuples(
            st.sampled_from(["dlq.attempts", "dlq.stage", "dlq.first_failed_at"]), st.binary(max_size=8)
        )
    ),
)
def test_original_headers_are_kept_in_order_whatever_they_hold(own, hostile):
    letter = make_dead_letter(ReceivedRecord("answers", 0, 0, b"k", b"v", (*own, *hostile)), ERROR, NOW)
    assert list(letter.headers[: len(own)]) == own
    assert [key for key, _ in letter.headers if key == "dlq.stage"] == ["dlq.stage"]


@pytest.mark.parametrize("text", ["\ud800", "\udcff\udcfe", "before \udfff after", "\ud83d" * 5_000])
def test_a_reason_with_half_a_character_is_escaped_and_no_header_is_lost(text):
    error = BadAnswer(Stage.SCORE, f"Class{text}", text)
    headers = dict(make_dead_letter(ReceivedRecord("answers", 0, 0, b"k", b"v"), error, NOW).headers)
    assert headers["dlq.error.message"].decode() == text[:1000].encode(errors="backslashreplace").decode()
    assert "\\ud" in headers["dlq.error.class"].decode()
    assert headers["dlq.stage"] == b"score"


def test_attempts_before_and_now_are_added_up():
    tried = BadAnswer(Stage.SCORE, "PoolBroken", "twice", attempts=2)
    first = make_dead_letter(ReceivedRecord("answers", 0, 1, None, b"x"), tried, NOW)
    assert dict(first.headers)["dlq.attempts"] == b"2"
    again = ReceivedRecord("answers", 0, 1, None, b"x", (("dlq.attempts", b"999999999"),))
    assert dict(make_dead_letter(again, tried, NOW).headers)["dlq.attempts"] == b"1000000001"


def test_a_letter_without_a_value_states_of_no_bytes_and_keeps_its_key():
    letter = without_value(make_dead_letter(ReceivedRecord("answers", 3, 42, b"c-1", None), ERROR, NOW))
    headers = dict(letter.headers)
    assert (letter.key, headers["dlq.value.bytes"]) == (b"c-1", b"0")
    assert headers["dlq.value.sha256"] == b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
