"""An alert fires on the lower bound of enough answers, is resolved when that is over, and never repeats."""

from collections import Counter
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec, RateAlert
from streams.rates.alert_thresholds import (
    RUNBOOK_SECTION,
    AlertEvaluation,
    ThresholdState,
    evaluate_alerts,
    is_above,
)
from streams.rates.rate_aggregator import RateAggregator
from streams.rates.verdict_counts import ClosedWindow, RateGroup, to_epoch_ms
from streams.rates.windows import Tally, WindowConfig, WindowSpec
from streams.settings import AlertThreshold
from tests.unit.rates.rates_support import outcome

MINUTE = WindowSpec(60_000, 60_000)


def threshold(**values: object) -> AlertThreshold:
    usual = {
        "name": "too-many",
        "window_seconds": 60,
        "rate": 0.1,
        "minimum_answers": 20,
        "severity": "critical",
    }
    return AlertThreshold.model_validate(usual | values)


THRESHOLD = threshold()
MANY, FEW = Tally(100, 100, 30), Tally(100, 100, 5)


def window(tally: Tally, number: int = 0) -> ClosedWindow:
    return ClosedWindow(MINUTE, number * 60_000, {RateGroup("binary", "nl"): tally})


def fired(watched: AlertThreshold = THRESHOLD) -> AlertEvaluation:
    return evaluate_alerts([watched], [window(MANY)], ())


def test_it_fires_when_the_lower_bound_is_above_the_threshold():
    evaluation = fired()
    (alert,) = evaluation.changes
    assert evaluation.firing == (alert,)
    assert (alert.status, alert.alert, alert.severity) == ("firing", "too-many", "critical")
    assert (alert.scored, alert.hallucinated, alert.rate, alert.threshold) == (100, 30, 0.3, 0.1)
    assert 0.1 < alert.rate_low < 0.3 < alert.rate_high
    assert alert.since == alert.window_end
    assert evaluation.states[0].firing


@pytest.mark.parametrize(
    "tally",
    [
        pytest.param(Tally(3, 3, 3), id="three answers page nobody"),
        pytest.param(Tally(100, 100, 12), id="a rate above the threshold by chance"),
        pytest.param(Tally(100, 19, 19), id="answers without a score are no volume"),
        pytest.param(Tally(), id="no answers"),
    ],
)
def test_it_does_not_fire_on_what_chance_explains(tally):
    evaluation = evaluate_alerts([THRESHOLD], [window(tally)], ())
    assert (evaluation.changes, evaluation.firing) == ((), ())
    assert not is_above(THRESHOLD, tally)


def test_while_it_fires_it_is_not_told_again():
    before = fired()
    for number in range(3):
        assert evaluate_alerts([THRESHOLD], [window(MANY, number)], before.firing).changes == ()


@pytest.mark.parametrize(
    "tally", [FEW, Tally(), Tally(10, 10, 10)], ids=["low rate", "nothing", "few answers"]
)
def test_it_is_resolved_by_a_newer_window_that_is_not_alarming(tally):
    before = fired()
    evaluation = evaluate_alerts([THRESHOLD], [window(tally, 1)], before.firing)
    (alert,) = evaluation.changes
    assert (alert.status, alert.scored, alert.alert_id) == (
        "resolved",
        tally.scored,
        before.firing[0].alert_id,
    )
    assert alert.since == before.firing[0].since
    assert evaluation.firing == ()


def test_late_verdicts_that_change_the_same_window_do_not_resolve_it():
    before = fired()
    assert evaluate_alerts([THRESHOLD], [window(FEW)], before.firing).firing == before.firing


def test_without_a_complete_window_nothing_changes():
    before = fired()
    evaluation = evaluate_alerts([THRESHOLD], [], before.firing)
    assert (evaluation.changes, evaluation.firing) == ((), before.firing)
    assert evaluation.states == (ThresholdState(THRESHOLD, Tally(), firing=True),)


@pytest.mark.parametrize(
    "thresholds",
    [
        [],
        [threshold(language="nl")],
        [threshold(message_type="binary")],
        [threshold(window_seconds=300)],
    ],
    ids=["gone", "other language", "other message type", "other window"],
)
def test_an_alert_whose_threshold_is_gone_is_resolved(thresholds):
    evaluation = evaluate_alerts(thresholds, [], fired().firing)
    assert [alert.status for alert in evaluation.changes] == ["resolved"]
    assert evaluation.firing == ()


def test_a_threshold_of_one_message_type_or_language_sums_up_over_these_alone():
    tallies = {
        RateGroup("binary", "nl"): FEW,
        RateGroup("binary", "en"): MANY,
        RateGroup("error", "nl"): MANY,
    }
    closed = [ClosedWindow(MINUTE, 0, tallies)]
    scored = {
        (message_type, language): evaluate_alerts(
            [threshold(message_type=message_type, language=language)], closed, ()
        )
        .states[0]
        .tally.hallucinated
        for message_type in (None, "binary")
        for language in (None, "nl")
    }
    assert scored == {(None, None): 65, (None, "nl"): 35, ("binary", None): 35, ("binary", "nl"): 5}


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([MANY, FEW, Tally()])), max_size=30))
def test_no_record_ever_comes_twice_and_firing_and_resolved_alternate(windows):
    """Whatever late verdicts do to a window after it was looked at, and after any restart in between."""
    told: list[RateAlert] = []
    firing: tuple[RateAlert, ...] = ()
    number = 0
    for ahead, tally in windows:
        number += ahead
        evaluation = evaluate_alerts([THRESHOLD], [window(tally, number)], firing)
        assert evaluate_alerts([THRESHOLD], [window(tally, number)], evaluation.firing).changes == ()
        told += evaluation.changes
        firing = tuple(Codec().decode(Codec().encode(alert), RateAlert) for alert in evaluation.firing)
        assert firing == evaluation.firing, "what is kept of an alert is all of it"
    assert [alert.status for alert in told] == (["firing", "resolved"] * len(told))[: len(told)]
    assert max(Counter((alert.alert_id, alert.status) for alert in told).values(), default=1) == 1


def test_the_description_says_what_is_wrong_in_a_sentence():
    of_dutch = threshold(message_type="binary", language="nl")
    before = fired(of_dutch)
    assert before.changes[0].description == (
        "With 95% certainty more than 0.1 of the binary answers in nl are untrue: 30 of 100 scored in 1m."
    )
    (resolved,) = evaluate_alerts([of_dutch], [window(FEW, 1)], before.firing).changes
    assert resolved.description == (
        "It is no longer certain that more than 0.1 of the binary answers in nl are untrue: "
        "5 of 100 scored in 1m."
    )


def test_the_aggregator_gives_the_newest_closed_windows_with_zeros_for_the_quiet():
    rules = WindowConfig((MINUTE, WindowSpec(120_000, 60_000)), allowed_lateness=0, retention=600_000)
    aggregator = RateAggregator(rules, floor=1)
    for number in range(5):
        aggregator.add(outcome(str(number), 70_000 + number))
    aggregator.add(outcome("x", 150_000, message_type="error", language=None))
    aggregator.advance(179_999)
    (only,) = aggregator.closed_windows()
    assert only.spec == MINUTE, "the first two minutes that are complete are not closed yet"
    aggregator.advance(180_000)
    minute, two = aggregator.closed_windows()
    assert (minute.start, minute.end, two.start) == (120_000, 180_000, 60_000)
    assert {group: tally.answers for group, tally in minute.tallies.items()} == {
        ("binary", "nl"): 0,
        ("error", ""): 1,
    }
    assert two.total().answers == 6
    assert two.total("binary").answers == two.total(language="nl").answers == 5
    assert to_epoch_ms(aggregator.take_changes()[0].window_start) == 60_000


def test_its_runbook_section_is_there():
    lines = (files("streams.monitoring") / "RUNBOOK.md").read_text(encoding="utf-8").lower().splitlines()
    assert f"## {RUNBOOK_SECTION.removeprefix('#')}" in lines
