"""What a worker makes of the topic: the last record of each key, as long as it is up to date."""

import pytest
from structlog.testing import capture_logs

from schemas import Codec
from scoring.values.rules import Reason
from streams.known_answers.known_state import CODEC, STALE_SECONDS, KnownAnswers
from tests.support.clock import Clock
from tests.support.known_answers import a_known_answer, known_record, nothing_known
from tests.support.pauses import raw_record
from tests.support.record_strategies import ANSWER

TRUE = known_record(a_known_answer())


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def known(clock: Clock) -> KnownAnswers:
    return nothing_known(clock)


def test_before_the_topic_was_read_to_its_end_nothing_is_known(clock):
    known = KnownAnswers(None, clock)
    known.apply([TRUE])
    assert known.reason("k-1") is None
    assert known.impairment() == "known answers cannot be read: a person decides about them again"
    known.freshness.confirm(clock.now)
    assert (known.reason("k-1"), known.impairment()) == (Reason.KNOWN_TRUE, None)


def test_the_last_record_of_a_key_counts(known):
    known.apply([TRUE, known_record(a_known_answer("k-2", "untrue"), 1)])
    assert [known.reason(key) for key in ("k-1", "k-2", "k-3", None)] == [
        Reason.KNOWN_TRUE,
        Reason.KNOWN_UNTRUE,
        None,
        None,
    ]
    assert known.counts() == {"true": 1, "untrue": 1}
    known.apply([known_record(a_known_answer(state="ended"), 2), raw_record(b"k-2", None, 3)])
    assert known.reason("k-1") is known.reason("k-2") is None
    assert known.counts() == {"true": 0, "untrue": 0}


def test_what_is_ended_stays_so_whatever_follows_until_a_tombstone(known):
    known.apply([TRUE, known_record(a_known_answer(state="ended"), 1), known_record(a_known_answer(), 2)])
    assert known.reason("k-1") is None
    known.apply([known_record(a_known_answer(state="untrue"), 3)])
    assert (known.reason("k-1"), known.counts()) == (None, {"true": 0, "untrue": 0})
    known.apply([raw_record(b"k-1", None, 4), known_record(a_known_answer(), 5)])
    assert known.reason("k-1") is Reason.KNOWN_TRUE
    known.apply([known_record(a_known_answer(state="ended"), 6)])
    known.forget()  # another topic has not ended it
    known.apply([TRUE])
    known.freshness.confirm(1000.0)
    assert known.reason("k-1") is Reason.KNOWN_TRUE


def test_a_state_of_a_later_release_ends_what_was_known(known):
    known.apply([TRUE, known_record(a_known_answer(state="mostly_true"), 1)])
    assert known.reason("k-1") is None


@pytest.mark.parametrize(
    ("value", "error_type"),
    [
        (b"", "empty_value"),
        (b"nonsense", "unknown_format"),
        (b"\xc3\x01" + b"x" * 20, "unknown_fingerprint"),
        (b'{"key": "k-1", "state": "true"}', "json_not_accepted"),
        (Codec().encode(ANSWER), "wrong_record"),
        (CODEC.encode(a_known_answer())[:-1], "truncated"),
        (CODEC.encode(a_known_answer("k-2")), "key_mismatch"),
    ],
)
def test_a_record_that_cannot_be_read_sends_nothing_and_is_logged_and_counted(known, value, error_type):
    with capture_logs() as logs:
        known.apply([raw_record(b"k-1", value, 7)])
    assert known.reason("k-1") is known.reason("k-2") is None
    assert known.unreadable == 1
    assert logs == [
        {
            "event": "known_answer_unreadable",
            "log_level": "warning",
            "error_type": error_type,
            "partition": 0,
            "offset": 7,
        }
    ]
    known.apply([TRUE, raw_record(b"k-1", value, 8)])  # it may have said that the answer is ended
    assert known.reason("k-1") is None


def test_a_record_without_a_key_is_of_no_answer(known):
    known.apply([raw_record(None, CODEC.encode(a_known_answer()))])
    assert (known.reason("k-1"), known.unreadable) == (None, 1)


def test_what_was_not_confirmed_for_ten_seconds_is_not_used(known, clock):
    known.apply([TRUE])
    clock.now += STALE_SECONDS
    assert known.reason("k-1") is Reason.KNOWN_TRUE
    clock.now += 0.1
    assert known.reason("k-1") is None
    known.freshness.confirm(None)
    assert known.reason("k-1") is None
    known.freshness.confirm(clock.now)
    assert known.reason("k-1") is Reason.KNOWN_TRUE
    clock.now -= 60  # a clock that goes back proves nothing
    assert known.reason("k-1") is None


def test_a_topic_that_is_read_anew_starts_from_nothing(known, clock):
    known.apply([TRUE])
    known.forget()
    assert known.reason("k-1") is None
    known.freshness.confirm(clock.now)
    assert known.reason("k-1") is None
    assert known.counts() == {"true": 0, "untrue": 0}
