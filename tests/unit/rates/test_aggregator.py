"""Windows are exact: whatever the order, however often a verdict is read, and after every restart."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import RateWindow
from streams.rates.rate_aggregator import AddResult, RateAggregator
from streams.rates.verdict_counts import VerdictEvent, WindowKey, to_epoch_ms
from streams.rates.windows import WindowConfig, WindowSpec
from tests.support.offline_rates import offline_rates
from tests.unit.rates.rates_support import FAR, RULES, counts_of, outcome, outcomes, randoms, windows_of

some_outcomes = st.lists(outcomes(150), max_size=20)
MINUTE = WindowConfig((WindowSpec(60, 60),), allowed_lateness=10, retention=100)


@given(some_outcomes, randoms)
def test_any_order_and_any_repetition_gives_the_offline_count(log, random):
    aggregator = RateAggregator(FAR)
    read = [*log, *random.choices(log, k=len(log))] if log else []
    random.shuffle(read)
    published: list[RateWindow] = []
    for number, one in enumerate(read):
        aggregator.add(one)
        if number % 3 == 0:
            aggregator.advance(random.randrange(250))
            published += aggregator.take_changes()
    aggregator.advance(10_000)
    published += aggregator.take_changes()
    assert counts_of(published) == offline_rates(log, windows_of(FAR))
    assert aggregator.take_changes() == ()


@given(some_outcomes, st.lists(st.integers(0, 250), max_size=10))
def test_a_window_becomes_final_once_and_then_only_late_verdicts_publish_it_again(log, watermarks):
    published = _run(RateAggregator(RULES), log, watermarks)
    finals: dict[tuple, list[RateWindow]] = {}
    for record in published:
        cell = (record.window_start, record.window_end, record.message_type, record.language)
        if record.final:
            finals.setdefault(cell, []).append(record)
        else:
            assert cell not in finals, "no final window is open again"
    for records in finals.values():
        assert [r.late for r in records] == sorted({r.late for r in records}), (
            "each correction is a later one"
        )
    last = {(r.window_start, r.window_end, r.message_type, r.language): r for r in published}
    assert all(record.final for record in last.values()), "at the end all are final"


def _run(aggregator: RateAggregator, log: list[VerdictEvent], watermarks: list[int]) -> list[RateWindow]:
    published: list[RateWindow] = []
    ticks = iter(watermarks)
    for one in log:
        aggregator.add(one)
        aggregator.advance(next(ticks, 0))
        published += aggregator.take_changes()
    aggregator.advance(100 * 10_000)
    return [*published, *aggregator.take_changes()]


def test_the_mean_faithfulness_of_a_window_is_that_of_the_answers_which_have_one():
    aggregator = RateAggregator(MINUTE)
    for name, faithfulness in (("a", 3_333), ("b", 10_000), ("c", None), ("d", 0)):
        aggregator.add(outcome(name, 5, faithfulness=faithfulness))
    (window,) = aggregator.take_changes()
    assert (window.answers, window.faithfulness_answers, window.faithfulness_mean) == (4, 3, 13_333 / 30_000)
    aggregator.add(outcome("d", 5, scored_at=-1, faithfulness=10_000))
    aggregator.add(outcome("a", 5, scored_at=-1, faithfulness=None))
    (window,) = aggregator.take_changes()
    assert (window.answers, window.faithfulness_answers, window.faithfulness_mean) == (4, 2, 1.0)


def test_answers_without_a_faithfulness_have_no_mean():
    aggregator = RateAggregator(MINUTE)
    aggregator.add(outcome("a", 5))
    (window,) = aggregator.take_changes()
    assert (window.faithfulness_answers, window.faithfulness_mean) == (0, None)


def test_what_comes_after_the_window_is_final_is_a_late_correction():
    aggregator = RateAggregator(MINUTE)
    aggregator.add(outcome("a", 5))
    aggregator.advance(70)
    (final,) = aggregator.take_changes()
    assert (final.final, final.late, final.answers) == (True, 0, 1)
    assert aggregator.add(outcome("b", 59)) is AddResult.LATE
    (corrected,) = aggregator.take_changes()
    assert (corrected.final, corrected.late, corrected.answers) == (True, 1, 2)


def test_a_window_is_final_only_after_the_allowed_lateness():
    aggregator = RateAggregator(MINUTE)
    aggregator.add(outcome("a", 5))
    aggregator.advance(69)
    assert [record.final for record in aggregator.take_changes()] == [False]
    assert aggregator.add(outcome("b", 6)) is AddResult.COUNTED
    aggregator.advance(70)
    assert [record.final for record in aggregator.take_changes()] == [True]


def test_counts_that_change_and_change_back_before_they_are_published_are_not_repeated():
    """Two verdicts take each other's place: each is one record, and their window tells the same as before."""
    aggregator = RateAggregator(RULES)
    for name, decision in (("a", "review"), ("b", "blocked")):
        aggregator.add(outcome(name, 5, scored_at=2, decision=decision))
    assert aggregator.take_changes()
    for name, decision in (("a", "blocked"), ("b", "review")):
        aggregator.add(outcome(name, 5, scored_at=1, decision=decision))
    assert aggregator.take_changes() == ()
    aggregator.advance(10**6)
    assert all(record.final for record in aggregator.take_changes())


def test_what_is_older_than_the_retention_changes_nothing():
    aggregator = RateAggregator(MINUTE)
    aggregator.advance(160)
    assert aggregator.add(outcome("a", 59)) is AddResult.EXPIRED
    assert aggregator.add(outcome("b", 60)) is AddResult.LATE
    assert [to_epoch_ms(record.window_start) for record in aggregator.take_changes()] == [60]


def test_what_waited_for_the_end_of_an_outage_counts_late():
    """The clock moved the watermark on, for all partitions were quiet; the answers of that time come now."""
    aggregator = RateAggregator(MINUTE)
    aggregator.add(outcome("a", 5))
    aggregator.advance(100_000, event_watermark=5)
    assert [record.final for record in aggregator.take_changes()] == [True]
    assert aggregator.add(outcome("b", 65)) is AddResult.LATE
    assert [(record.final, record.late) for record in aggregator.take_changes()] == [(True, 1)]
    aggregator.advance(100_001, event_watermark=100_001)
    assert aggregator.add(outcome("c", 65)) is AddResult.EXPIRED


def test_an_earlier_repeat_takes_the_place_of_the_one_that_was_read_first():
    aggregator = RateAggregator(MINUTE)
    aggregator.add(outcome("a", 5, scored_at=9, decision="review", scored=False))
    assert aggregator.add(outcome("a", 5, scored_at=8, decision="blocked")) is AddResult.DUPLICATE
    assert aggregator.add(outcome("a", 5, scored_at=10, decision="auto_send")) is AddResult.DUPLICATE
    (window,) = aggregator.take_changes()
    assert (window.answers, window.review, window.blocked, window.hallucinated) == (1, 0, 1, 1)


def test_a_repeat_is_known_though_a_clock_that_is_ahead_gives_it_another_time():
    """Its first record's windows are forgotten by then; the time that all repeats share is not over."""
    aggregator = RateAggregator(MINUTE)
    aggregator.add(replace(outcome("a", 5, scored_at=1), produced_at=400))
    aggregator.add(replace(outcome("a", 155, scored_at=2), produced_at=400))
    aggregator.advance(190)
    aggregator.add(replace(outcome("a", 188, scored_at=3), produced_at=400))
    assert [to_epoch_ms(record.window_start) for record in aggregator.take_changes()] == [0]


def test_a_window_that_a_repeat_emptied_is_told_of_if_it_was_published():
    aggregator = RateAggregator(MINUTE)
    aggregator.add(outcome("a", 65, scored_at=9))
    aggregator.take_changes()
    aggregator.add(outcome("a", 5, scored_at=8))
    told = {to_epoch_ms(record.window_start): record.answers for record in aggregator.take_changes()}
    assert told == {0: 1, 60: 0}
    aggregator.advance(1_000)
    assert [record.final for record in aggregator.take_changes()] == [True, True]


def test_a_window_that_was_never_published_is_not_told_of_when_it_is_empty_again():
    aggregator = RateAggregator(MINUTE)
    aggregator.add(outcome("a", 65, scored_at=9))
    aggregator.add(outcome("a", 5, scored_at=8))
    assert [to_epoch_ms(record.window_start) for record in aggregator.take_changes()] == [0]


@given(some_outcomes, st.integers(0, 200))
def test_windows_below_the_floor_never_come_out_and_the_others_are_whole(log, floor):
    aggregator = RateAggregator(FAR, floor)
    for one in log:
        aggregator.add(one)
    aggregator.advance(10_000)
    whole = offline_rates(log, windows_of(FAR))
    assert counts_of(aggregator.take_changes()) == {
        cell: counts for cell, counts in whole.items() if cell[0] >= floor
    }


def test_without_scored_answers_the_rate_is_zero_and_its_bounds_say_that_nothing_is_known():
    aggregator = RateAggregator(MINUTE)
    aggregator.add(outcome("a", 5, decision="review", scored=False, language=None))
    (window,) = aggregator.take_changes()
    assert (window.rate, window.rate_low, window.rate_high, window.language) == (0.0, 0.0, 1.0, None)


def test_a_decision_of_a_later_release_counts_among_the_answers():
    aggregator = RateAggregator(MINUTE)
    aggregator.add(outcome("a", 5, decision="rewritten"))
    (window,) = aggregator.take_changes()
    assert (window.answers, window.auto_sent + window.review + window.blocked) == (1, 0)


@pytest.mark.parametrize("event_time", [0, 253_402_214_400_000, 10**15])
def test_a_time_at_the_end_of_the_calendar_is_no_failure(event_time):
    aggregator = RateAggregator(RULES)
    aggregator.add(outcome("a", event_time))
    aggregator.advance(event_time)
    aggregator.take_changes()
    aggregator.advance(event_time + 10**6)
    assert all(record.final for record in aggregator.take_changes())


def test_what_is_remembered_is_bounded_by_the_retention():
    aggregator = RateAggregator(RULES)
    most = 0
    for time in range(1_000):
        aggregator.add(outcome(str(time), time))
        aggregator.advance(time - 5)
        aggregator.take_changes()
        most = max(most, aggregator.tracked_ids)
    longest = RULES.retention + 50 + 5
    assert most <= longest * 1.2 + 10
    assert sum(1 for _ in aggregator._all()) <= longest * (1 / 10 + 1 / 10 + 1 / 20) + 3


# Restarts


def _state(aggregator: RateAggregator) -> tuple[object, ...]:
    memory = aggregator._memory
    counts = {
        each.key: (each.outcomes, each.tally(), each.late, each.published, window.final)
        for window in aggregator._all()
        for each in window.groups.values()
    }
    return (
        counts,
        {
            h: {k: memory._unpacked(v) for k, v in kept.items()}
            for h, kept in memory._by_horizon.items()
            if kept
        },
        memory._repeated,
        aggregator.state(),
    )


steps = st.lists(st.tuples(outcomes(150), st.integers(0, 20)), max_size=15)


@given(steps, randoms)
def test_a_successor_goes_on_exactly_from_every_point(log, random):
    aggregator, watermark = RateAggregator(RULES), 0
    for number, (one, pace) in enumerate(log):
        aggregator.add(one)
        watermark += pace
        aggregator.advance(watermark, random.choice([None, watermark // 2]))
        aggregator.take_changes()
        read = [one for one, _ in log[: number + 1]]
        heir = _successor(aggregator, read, random)
        assert _state(heir) == _state(aggregator)
        assert heir.take_changes() == ()
        aggregator = heir if random.random() < 0.3 else aggregator
    for one, _ in log:
        assert aggregator.add(one) in {AddResult.DUPLICATE, AddResult.EXPIRED}


def _successor(aggregator: RateAggregator, read: list[VerdictEvent], random: Random) -> RateAggregator:
    needed = [o for o in read if aggregator.horizon(o) > aggregator.kept_from]
    # A partition is read on from its first needed outcome: others come along.
    more = random.sample(read, random.randrange(len(read) + 1))
    replayed = [o for o in read if o in needed or o in more]
    random.shuffle(replayed)
    heir = RateAggregator(RULES)
    for one in replayed:
        heir.add(one)
    heir.restore(aggregator.state(), aggregator.late_counts())
    return heir


@given(steps, randoms)
def test_a_run_with_restarts_publishes_what_one_without_publishes(log, random):
    steady, broken, watermark = RateAggregator(RULES), RateAggregator(RULES), 0
    for number, (one, pace) in enumerate(log):
        watermark += pace
        assert steady.add(one) == broken.add(one)
        of_events = random.choice([None, watermark // 2])
        steady.advance(watermark, of_events)
        broken.advance(watermark, of_events)
        assert steady.take_changes() == broken.take_changes()
        if random.random() < 0.4:
            broken = _successor(broken, [one for one, _ in log[: number + 1]], random)
    steady.advance(10_000)
    broken.advance(10_000)
    assert steady.take_changes() == broken.take_changes()


def test_a_successor_with_other_windows_publishes_them_from_where_they_are_whole():
    before = RateAggregator(MINUTE)
    for time in range(0, 600, 7):
        before.add(outcome(str(time), time))
    before.advance(600)
    before.take_changes()
    rules = WindowConfig((WindowSpec(60, 60), WindowSpec(120, 60)), allowed_lateness=10, retention=200)
    after = RateAggregator(rules)
    for time in range(0, 600, 7):
        if before.horizon(one := outcome(str(time), time)) > before.kept_from:
            after.add(one)
    after.restore(before.state(), before.late_counts())
    after.advance(1_000)
    told = Counter((to_epoch_ms(r.window_end) - to_epoch_ms(r.window_start)) for r in after.take_changes())
    assert told == {60: 1, 120: 1}, "both from 540 on; of the other size nothing is known before 500"


def test_a_successor_keeps_what_no_verdict_tells():
    before = RateAggregator(MINUTE)
    before.add(outcome("a", 5, scored_at=9))
    before.advance(70)
    before.take_changes()
    before.add(outcome("b", 5))
    before.take_changes()
    assert before.late_counts() == {WindowKey(60, 0, "binary", "nl"): 1}
    after = _with(before, [outcome("a", 5, scored_at=9), outcome("b", 5)])
    after.add(outcome("c", 5))
    assert [record.late for record in after.take_changes()] == [2]


def _with(before: RateAggregator, read: list[VerdictEvent]) -> RateAggregator:
    after = RateAggregator(MINUTE)
    for one in read:
        after.add(one)
    after.restore(before.state(), before.late_counts())
    return after


def test_a_window_that_starts_exactly_at_the_floor_is_whole_and_the_one_before_is_not():
    aggregator = RateAggregator(MINUTE, floor=60_000)
    for name, time in (("a", 59_999), ("b", 60_000)):
        aggregator.add(outcome(name, time))
    assert [to_epoch_ms(record.window_start) for record in aggregator.take_changes()] == [60_000]


def test_each_verdict_that_comes_late_or_changes_what_is_final_is_counted_as_late():
    aggregator = RateAggregator(WindowConfig((WindowSpec(60_000, 60_000),), 0, 600_000))
    aggregator.add(outcome("a", 30_000, scored_at=9))
    aggregator.advance(60_000)
    aggregator.add(outcome("b", 40_000))
    aggregator.add(outcome("c", 50_000))
    aggregator.add(outcome("a", 30_000, scored_at=1, decision="auto_send"))
    last = list(aggregator.take_changes())[-1]
    assert (last.final, last.answers, last.auto_sent, last.late) == (True, 3, 1, 3)


def test_a_window_that_is_new_after_its_end_is_final_at_once_and_one_that_is_open_is_not():
    aggregator = RateAggregator(WindowConfig((WindowSpec(60_000, 60_000),), 0, 600_000))
    aggregator.advance(60_000)
    for name, time in (("a", 59_999), ("b", 60_000)):
        aggregator.add(outcome(name, time))
    assert [(record.final, record.late) for record in aggregator.take_changes()] == [(True, 1), (False, 0)]
