"""Times of day are read where they can be nothing else, however they are written."""

import pytest

from scoring.features.claim_support import ClaimsCovered
from scoring.features.figures import NumbersKnown
from scoring.figures.times import clock_times
from tests.unit.scoring.scoring_support import material, prepared

TIMES = [
    ("en", "14:00", "14:00"),
    ("en", "2:00", "02:00"),
    ("en", "at 02:00.", "02:00"),
    ("en", "2 pm", "14:00"),
    ("en", "2pm", "14:00"),
    ("en", "2 p.m.", "14:00"),
    ("en", "2.30 pm", "14:30"),
    ("en", "12 am", "00:00"),
    ("en", "12:15 PM", "12:15"),
    ("en", "14.00 hrs", "14:00"),
    ("nl", "02.00 uur", "02:00"),
    ("nl", "9.15 u", "09:15"),
    ("nl", "2 uur 's nachts", "02:00"),
    ("nl", "2 uur \u2019s middags", "14:00"),
    ("nl", "half ja, 7 uur 's avonds", "19:00"),
    ("nl", "om 14 uur", "14:00"),
    ("nl", "24:00", "00:00"),
]
NONE = [
    ("en", "2.30"),
    ("en", "version 2.10"),
    ("en", "2 o'clock"),
    ("en", "in 14 hours"),
    ("en", "16:9"),
    ("en", "12:30:10"),
    ("en", "25:00"),
    ("en", "10:75"),
    ("en", "x14:00"),
    ("en", "14 pmx"),
    ("nl", "2 uur"),
    ("nl", "om 2 uur"),
    ("nl", "binnen 24 uur"),
    ("nl", "10.30"),
]


@pytest.mark.parametrize(("language", "text", "value"), TIMES)
def test_a_time_has_one_value_however_it_is_written(language, text, value):
    assert [time.value for time in clock_times(prepared(text, language))] == [value]


@pytest.mark.parametrize(("language", "text"), NONE)
def test_what_may_be_a_duration_a_version_or_either_half_of_the_day_is_no_time(language, text):
    assert not clock_times(prepared(text, language))


def test_a_time_has_its_place_with_all_its_words():
    text = "Om 2 uur 's nachts, en om 3:00."
    found = clock_times(prepared(text, "nl"))
    assert [text[time.start : time.end] for time in found] == ["2 uur 's nachts", "3:00"]


SAID = [
    ("en", "Reports follow at 14:00.", "At 2 pm.", "At 2 am."),
    ("en", "Backups are made at 2 am.", "At 02:00.", "At 14:00."),
    ("nl", "Om 2:00 wordt een back-up gemaakt.", "Om 2 uur 's nachts.", "Om 2 uur 's middags."),
    ("nl", "Om 2:00 wordt een back-up gemaakt.", "Om 02.00 uur.", "Om 03.00 uur."),
    ("nl", "Rapporten volgen om 14.00 uur.", "Om 14 uur.", "Om 16 uur."),
]


@pytest.mark.parametrize(("language", "document", "true", "untrue"), SAID)
def test_a_time_is_known_and_covered_by_its_value(language, document, true, untrue):
    numbers, covered = NumbersKnown(), ClaimsCovered()
    said, other = (material(answer, document, language=language) for answer in (true, untrue))
    assert (numbers.measure(said).value, covered.measure(said).value) == (1, 1)
    assert covered.measure(other).value < 1
    assert numbers.measure(other).value == 0
