"""Whatever stands in the topic of the state, it is read as what a leader wrote, or refused by one error."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from schemas.records import LATEST
from streams.kafka.topic_identity import TopicIdentity
from streams.rates.leader_state import (
    AggregatorState,
    InvalidState,
    LeaderState,
    PartitionState,
    read_late_counts,
    read_state,
)
from streams.rates.verdict_counts import WindowKey, to_epoch_ms

STATE = LeaderState(
    origins=(TopicIdentity("cluster", "verdicts.review", "id-1"),),
    partitions={"verdicts.review": [PartitionState(0, 10, 4, 900)]},
    aggregator=AggregatorState(5_000, 4_000, 1_000, [(1000, 500, 0)]),
)
WRITTEN: dict[str, Any] = json.loads(STATE.to_json())
LATE_KEY = b'["late",1000,500,"binary","nl"]'
LATE = {WindowKey(1000, 500, "binary", "nl"): 1}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def _written(**changes: object) -> bytes:
    return json.dumps(WRITTEN | changes).encode()


def _bounds(**changes: object) -> bytes:
    return _written(aggregator=WRITTEN["aggregator"] | changes)


def _partition(*values: object) -> bytes:
    return _written(partitions={"verdicts.review": [list(values)]})


def test_a_state_is_written_in_the_form_that_successors_read():
    assert STATE.to_json() == (
        b'{"version":1,"origins":[["cluster","verdicts.review","id-1"]],'
        b'"partitions":{"verdicts.review":[[0,10,4,900]]},'
        b'"aggregator":{"watermark":5000,"final_to":4000,"kept_from":1000,"floors":[[1000,500,0]]},'
        b'"firing":[]}'
    )


def test_no_progress_is_no_state():
    assert read_state({}) is None
    assert read_state({b"progress": None}) is None


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"nonsense",
        b"\xff",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"version": 1}',
        b'{"version":1,"origins":[],"partitions":[]}',
        _written(version=2),
        _written(version=True),
        _written(origins=[["cluster", "topic"]]),
        _written(origins=[["cluster", "topic", 7]]),
        _written(firing=[{}]),
        _partition(0, -1, 0, None),
        _partition(0, 1, -1, None),
        _partition(0, "1", 0, None),
        _partition(0, 1.0, 0, None),
        _partition(0, 2**63, 0, None),
        _partition(0, 1, 2, None),
        _partition(-1, 1, 0, None),
        _partition(0, 1, 0, 10**18),
        _bounds(watermark=10**18),
        _bounds(watermark=float("inf")),
        _bounds(watermark=float("nan")),
        _bounds(watermark=-1),
        _bounds(watermark="5000"),
        _bounds(final_to=5_001),
        _bounds(kept_from=5_001),
        _bounds(floors=[[500, 1000, 0]]),
        _bounds(floors=[[1000, 0, 0]]),
        _bounds(watermark=0).replace(b'"watermark": 0', b'"watermark": ' + b"9" * 5_000),
        STATE.to_json() + b" " * 3_000_000,
    ],
    ids=lambda value: str(value[:60]),
)
def test_what_no_leader_wrote_is_refused(value):
    with pytest.raises(InvalidState):
        read_state({b"progress": value})


@given(st.data(), anything)
def test_a_damaged_state_is_refused_or_can_be_gone_on_from(data, other):
    damaged: Any = copy.deepcopy(WRITTEN)
    place: Any = damaged
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not (isinstance(place[key], dict | list) and place[key]) or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = other
    try:
        state = read_state({b"progress": json.dumps(damaged).encode()})
    except InvalidState:
        return
    assert state is not None
    assert 0 <= state.aggregator.kept_from <= state.aggregator.watermark <= to_epoch_ms(LATEST)
    assert all(0 <= now.since <= now.position < 2**63 for now in state.by_partition.values())
    assert read_state({b"progress": state.to_json()}) == state


@given(st.binary(max_size=200), st.binary(max_size=30))
def test_no_bytes_bring_reading_down(key, value):
    assert read_late_counts({key: value, LATE_KEY: b"1"}) == LATE
    with pytest.raises(InvalidState):
        read_state({b"progress": value})


@pytest.mark.parametrize(
    "key",
    [
        b"",
        b"\xff",
        b"[]",
        b"7",
        b"{}",
        b"[" * 100_000,
        b'["late", "x", 0, "binary", "nl"]',
        b'["other", 1, 0, "binary", "nl"]',
        b'["late", Infinity, 0, "binary", "nl"]',
        b'["late", 1e400, 0, "binary", "nl"]',
        b'["late", 0, 0, "binary", "nl"]',
        b'["late", 1000, -1000, "binary", "nl"]',
        b'["late", 1000, 253402214399500, "binary", "nl"]',
        b'["late", 1000, 0, "nobody\'s", "nl"]',
        b'["late", 1000, 0, "binary", "Dutch"]',
        b'["late", 1000, 0, "binary", "nl", 0]',
        b'["late", ' + b"9" * 5_000 + b', 0, "binary", "nl"]',
    ],
    ids=lambda key: str(key[:60]),
)
def test_a_key_of_no_window_is_left_out(key):
    assert read_late_counts({key: b"1", LATE_KEY: b"1"}) == LATE


@pytest.mark.parametrize(
    "value", [b"", b"-1", b"1.5", b"x", b"\xb2", b"9" * 5_000, b"1" + b"0" * 13, b"1_0"], ids=len
)
def test_a_late_that_is_no_count_is_left_out(value):
    assert read_late_counts({LATE_KEY: value}) == {}


def test_what_is_left_out_is_told_once_and_not_quoted():
    with capture_logs() as lines:
        read_late_counts({b"private": b"1", b"secret": b"1", LATE_KEY: b"hidden", b"deleted": None})
    assert lines == [
        {
            "event": "rates_state_ignored",
            "log_level": "warning",
            "error_type": "invalid_late_count",
            "records": 3,
        }
    ]
