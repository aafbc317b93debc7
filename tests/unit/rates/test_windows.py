"""Tumbling and hopping windows cover event time as they should."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.rates.windows import WindowSpec

times = st.integers(0, 10**15)
hops = st.integers(1, 10**7)
specs = st.tuples(hops, st.integers(1, 50)).map(lambda pair: WindowSpec(pair[0] * pair[1], pair[0]))
odd_specs = st.tuples(st.integers(1, 1000), st.integers(1, 1000)).map(
    lambda pair: WindowSpec(max(pair), min(pair))
)


@given(specs, times)
def test_each_event_lies_in_size_by_hop_windows(spec, time):
    assert len(spec.starts(time)) == spec.size // spec.hop


@given(odd_specs, st.integers(0, 10_000))
def test_the_windows_of_an_event_are_those_that_hold_it(spec, time):
    every = range(-spec.size // spec.hop * spec.hop - spec.hop, time + spec.hop, spec.hop)
    assert list(spec.starts(time)) == [start for start in every if start <= time < start + spec.size]
    assert spec.last_end(time) == spec.starts(time)[-1] + spec.size


@given(odd_specs, st.integers(0, 10_000))
def test_the_newest_closed_window_is_the_last_that_ended(spec, watermark):
    end = spec.newest_closed(watermark) + spec.size
    assert end <= watermark < end + spec.hop
    assert spec.newest_closed(watermark) % spec.hop == 0


@pytest.mark.parametrize(("size", "hop"), [(5, 6), (5, 0), (0, 0), (5, -1)])
def test_a_window_that_would_leave_gaps_is_refused(size, hop):
    with pytest.raises(ValueError, match="cannot hop"):
        WindowSpec(size, hop)


@pytest.mark.parametrize(
    ("seconds", "label"), [(60, "1m"), (300, "5m"), (3600, "1h"), (90, "90s"), (86_400, "1d"), (0.2, "200ms")]
)
def test_a_size_is_written_in_its_largest_unit(seconds, label):
    assert WindowSpec(round(seconds * 1000), 1).label == label
