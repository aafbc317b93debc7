"""The watermark follows the slowest partition that still has something to say, and never goes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.rates.watermark import WatermarkTracker
from tests.support.clock import Clock

A, B, C = ("auto", 0), ("auto", 1), ("blocked", 0)
IDLE_AFTER, MOST_BEHIND = 100, 10_000_000


def watermarks(clock: Clock) -> WatermarkTracker:
    return WatermarkTracker([A, B, C], IDLE_AFTER, MOST_BEHIND, lambda: int(clock()))


def test_it_is_the_least_of_the_greatest_event_times(clock):
    marks = watermarks(clock)
    for partition, time in ((A, 50), (A, 90), (A, 70), (B, 60), (C, 80)):
        marks.observe(partition, time)
    assert marks.current() == 60


def test_a_partition_of_which_nothing_is_known_holds_it_back(clock):
    marks = watermarks(clock)
    marks.observe(A, 50)
    marks.observe(B, 60)
    clock.now += 10 * IDLE_AFTER
    assert marks.current() == 0
    marks.set_at_end(C)
    assert marks.current() == 50


def test_a_quiet_partition_is_left_out_only_when_it_was_read_to_its_end(clock):
    marks = watermarks(clock)
    for partition in (A, B, C):
        marks.observe(partition, 50)
    clock.now += IDLE_AFTER
    marks.observe(A, 500)
    marks.set_at_end(B)
    assert marks.current() == 50, "C may have more to be read"
    marks.set_at_end(C)
    assert marks.current() == 500
    marks.set_at_end(C, reached=False)
    marks.observe(A, 900)
    assert marks.current() == 500, "C has more to be read again, and the watermark stands still"


def test_when_all_are_idle_it_goes_on_from_the_newest_record_whatever_the_clock_shows(clock):
    marks = watermarks(clock)
    for timestamp in (8_000, 9_000, 7_000, -1):
        marks.observe_append_time(timestamp)
    for partition, time in ((A, 5_000), (B, 4_000), (C, 3_000)):
        marks.observe(partition, time)
        marks.set_at_end(partition)
    clock.now += IDLE_AFTER - 1
    assert marks.current() == 3_000
    clock.now += 51
    assert marks.current() == 9_050


def test_before_anything_is_known_no_time_passes(clock):
    marks = watermarks(clock)
    for partition in (A, B, C):
        marks.set_at_end(partition)
    clock.now += 10 * IDLE_AFTER
    assert marks.current() == 0


def test_a_sender_of_stale_times_holds_nothing_up(clock):
    marks, newest = watermarks(clock), 2 * MOST_BEHIND
    for partition in (A, B, C):
        marks.set_at_end(partition)
    marks.observe(A, newest)
    for number in range(10):
        marks.observe_append_time(newest + number * IDLE_AFTER // 2)
        marks.observe(B, 7)
        clock.now += IDLE_AFTER // 2
    assert marks.current() == newest + 4 * IDLE_AFTER, "it goes on as if B said nothing"
    marks.set_at_end(B, reached=False)
    marks.observe(A, newest + 10 * IDLE_AFTER)
    assert marks.current() == newest + 4 * IDLE_AFTER, "B may have more to be read"


def test_how_far_events_moved_it_is_told_apart_from_the_clock(clock):
    marks = watermarks(clock)
    for partition, time in ((A, 50), (B, 60), (C, 80)):
        marks.observe_append_time(time + 10)
        marks.observe(partition, time)
        marks.set_at_end(partition)
    assert marks.current() == marks.event_watermark == 50
    clock.now += IDLE_AFTER
    assert (marks.current(), marks.event_watermark) == (90, 50)
    clock.now += 5
    assert (marks.current(), marks.event_watermark) == (95, 50)


def test_a_successor_goes_on_from_it(clock):
    marks = watermarks(clock)
    for partition, time in ((A, 50), (B, 60), (C, 80)):
        marks.observe(partition, time)
    heir = WatermarkTracker(
        [A, B, C, ("new", 0)], IDLE_AFTER, MOST_BEHIND, clock, marks.current(), marks.event_times
    )
    assert heir.current() == 50
    assert heir.event_times == {A: 50, B: 60, C: 80}


def test_partitions_that_are_far_ahead_of_one_with_more_to_read_are_named(clock):
    marks = watermarks(clock)
    for partition, time in ((A, 50), (B, 160), (C, 151)):
        marks.observe(partition, time)
    assert marks.partitions_ahead(100) == {B, C}
    marks.set_at_end(A)
    assert marks.partitions_ahead(100) == frozenset(), "there is nothing to wait for"


def test_a_partition_that_is_not_followed_is_refused(clock):
    with pytest.raises(KeyError):
        watermarks(clock).observe(("other", 0), 1)


events = st.lists(
    st.tuples(st.sampled_from([A, B, C]), st.integers(0, 2_000_000), st.integers(0, 200), st.booleans())
)


@given(events)
def test_it_never_goes_back_and_never_passes_the_latest_record_but_by_the_time_since(events):
    clock = Clock()
    marks, last = watermarks(clock), 0
    for partition, time, pause, at_end in events:
        marks.observe_append_time(time + 10)
        marks.observe(partition, time)
        marks.set_at_end(partition, at_end)
        clock.now += pause
        passed = max(0, clock.now - Clock().now - IDLE_AFTER)
        assert last <= marks.current() <= max(marks.event_times.values()) + 10 + passed
        last = marks.current()
