"""What of a verdict record counts, and at which time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given

from schemas.records import LATEST
from streams.rates.verdict_counts import VerdictEvent, from_epoch_ms, to_epoch_ms, verdict_event
from tests.support.record_strategies import times
from tests.support.verdicts import any_verdict

DAY = 86_400_000
PRODUCED = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
NOON = to_epoch_ms(PRODUCED)
VERDICT = any_verdict(
    verdict_id="v",
    decision="blocked",
    language="nl",
    produced_at=PRODUCED,
    scored_at=PRODUCED + timedelta(seconds=3),
)


def test_an_answer_counts_when_it_was_produced():
    assert verdict_event(VERDICT, NOON + 3_500) == VerdictEvent(
        "v", NOON, NOON + 3_000, "binary", "nl", "blocked", scored=True, produced_at=NOON
    )


def test_a_chatbot_with_a_clock_that_is_ahead_does_not_write_into_the_future():
    """All repeats share ``produced_at``, so they are remembered equally long."""
    ahead = replace(VERDICT, produced_at=PRODUCED + timedelta(hours=2))
    first, repeat = verdict_event(ahead, NOON), verdict_event(ahead, NOON + 60_000)
    assert (first.event_time, repeat.event_time) == (NOON, NOON + 60_000)
    assert first.produced_at == repeat.produced_at == NOON + 2 * 3_600_000


def test_a_clock_that_is_years_ahead_is_believed_for_a_day():
    assert verdict_event(replace(VERDICT, produced_at=LATEST), NOON).produced_at == NOON + DAY


def test_a_record_without_a_time_of_its_own_has_that_of_the_verdict():
    ahead = replace(VERDICT, produced_at=PRODUCED + timedelta(hours=2))
    assert verdict_event(ahead, -1).event_time == NOON + 3_000


@pytest.mark.parametrize("language", ["", None])
def test_a_language_that_is_not_known_is_none(language):
    assert verdict_event(replace(VERDICT, language=language, score=None), NOON).language is None


@pytest.mark.parametrize(
    ("language", "counted"), [("nl-BE", "nl"), ("EN", "en"), ("klingon" * 100, None), ("x", None)]
)
def test_a_language_counts_as_its_code_of_two_letters(language, counted):
    assert verdict_event(replace(VERDICT, language=language), NOON).language == counted


def test_a_message_type_that_nobody_knows_counts_as_unspecified():
    assert verdict_event(replace(VERDICT, message_type="x" * 700_000), NOON).message_type == "unspecified"


@pytest.mark.parametrize(("told", "parts"), [(None, None), (2 / 3, 6_667), (1.0, 10_000), (7.5, None)])
def test_a_faithfulness_counts_in_ten_thousandths(told, parts):
    assert verdict_event(replace(VERDICT, faithfulness=told), NOON).faithfulness == parts


@given(times)
def test_times_keep_their_milliseconds(moment):
    assert from_epoch_ms(to_epoch_ms(moment)) == moment
