"""The page's rates: the last record of a window holds, sums add up, and memory stays bounded."""

from datetime import timedelta

import pytest

from streams.rates.verdict_counts import to_epoch_ms
from streams.rates.windows import wilson_interval
from streams.web.page_data import WindowChoice
from streams.web.rate_history import RateHistory
from tests.support.pages import BEGIN, later, rate_window

MINUTE = WindowChoice(60, 60)
HOPPING = WindowChoice(300, 60)
NOW = to_epoch_ms(BEGIN + timedelta(hours=5))


def at(minutes: float) -> int:
    return to_epoch_ms(BEGIN + timedelta(minutes=minutes))


def history(*windows: WindowChoice, shown: int = 120) -> RateHistory:
    return RateHistory(windows or (MINUTE, HOPPING), shown)


def test_the_last_record_of_a_window_type_and_language_holds():
    rates = history()
    rates.add(rate_window(0, scored=4, untrue=1), NOW)
    rates.add(rate_window(0, scored=8, untrue=2), NOW)
    (point,) = rates.series(60)["instruction"]
    assert (point.scored, point.untrue, point.rate, point.final) == (8, 2, 0.25, False)
    rates.add(later(rate_window(0, scored=9, untrue=2), late=1, final=True), NOW)
    (point,) = rates.series(60)["instruction"]
    assert (point.scored, point.late, point.final) == (9, 1, True)


def test_languages_and_types_add_up_and_the_bounds_are_those_of_the_sum():
    rates = history()
    rates.add(rate_window(0, "instruction", "nl", scored=10, untrue=4, final=True), NOW)
    rates.add(rate_window(0, "instruction", "en", scored=20, untrue=1), NOW)
    rates.add(rate_window(0, "binary", None, scored=5, untrue=0), NOW)
    (all_types,) = rates.series(60)["all"]
    (instruction,) = rates.series(60)["instruction"]
    (dutch,) = rates.series(60, "nl")["all"]
    assert (all_types.answers, all_types.scored, all_types.untrue, all_types.review) == (38, 35, 5, 3)
    assert (instruction.scored, instruction.untrue) == (30, 5)
    assert (instruction.low, instruction.high) == wilson_interval(5, 30)
    assert (dutch.scored, dutch.final, all_types.final) == (10, True, False)
    assert rates.languages == ("en", "nl", "und")
    assert [point.scored for point in rates.series(60, "und")["binary"]] == [5]


def test_faithfulness_adds_up_by_the_answers_that_have_one():
    rates = history(WindowChoice(60, 60))
    for message_type, answers, mean in (("instruction", 3, 0.5), ("binary", 1, 0.1), ("general", 0, None)):
        window = rate_window(0, message_type)
        rates.add(later(window, faithfulness_answers=answers, faithfulness_mean=mean), at(9))
    told = {
        name: (point.faithfulness, point.faithfulness_answers) for name, (point,) in rates.series(60).items()
    }
    assert told == {"all": (0.4, 4), "instruction": (0.5, 3), "binary": (0.1, 1), "general": (None, 0)}


def test_a_window_without_a_score_has_no_rate():
    rates = history()
    rates.add(rate_window(0, scored=0, untrue=0), NOW)
    (point,) = rates.series(60)["instruction"]
    assert (point.answers, point.rate, point.low, point.high) == (1, None, 0.0, 1.0)


def test_of_hopping_windows_those_that_have_hardly_begun_are_not_shown():
    rates = history()
    for minute in range(-4, 8):
        rates.add(rate_window(minute, size=300), NOW)
    points = rates.series(300)["instruction"]
    # The newest answers are from minute 7: the window that ends after it is whole, all later ones are not.
    assert points[-1].end == at(8) == rates.end(300)
    assert [point.end for point in points] == [at(minute) for minute in range(1, 9)]


def test_only_so_many_windows_are_kept_and_shown_whatever_comes():
    rates = history(shown=10)
    for minute in range(500):
        rates.add(rate_window(minute), at(500))
        rates.add(rate_window(minute, size=300), at(500))
    assert [point.end for point in rates.series(60)["all"]] == [at(minute + 1) for minute in range(490, 500)]
    assert len(rates.series(300)["all"]) == 10
    assert sum(len(starts) for starts in rates._kept.values()) <= 11 + 15


def test_the_number_of_languages_that_one_window_is_kept_for_is_bounded():
    rates = history()
    for number in range(2_000):
        rates.add(rate_window(0, language=f"x-{number}"), NOW)
    assert len(rates.languages) == 64


@pytest.mark.parametrize("stranger", [rate_window(0, size=77), rate_window(24 * 60)])
def test_windows_that_are_not_configured_or_lie_in_the_future_are_left_out(stranger):
    rates = history()
    rates.add(rate_window(0), NOW)
    rates.add(stranger, NOW)
    assert [point.end for point in rates.series(60)["all"]] == [at(1)]


def test_without_any_window_there_is_an_empty_series_and_no_end():
    rates = history()
    assert rates.series(60) == {"all": ()}
    assert rates.end(60) is None
