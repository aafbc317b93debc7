"""What is remembered of verdicts: exactly what was given, in few bytes, and nothing once it is forgotten."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.rates.verdict_counts import Contribution, Deduplicator, VerdictVersion

_VERDICTS = 20_000
_LABELS = [Contribution("review", True, "instruction", "nl", share) for share in range(0, 10_000, 500)]
_TIMES = st.integers(-(2**63), 2**63 - 1)
_SOME_LABELS = st.builds(Contribution, st.text(), st.booleans(), st.text(), st.text(), st.integers())


@contextmanager
def _counting_bytes() -> Iterator[Callable[[], int]]:
    """Give how many bytes more than at first are in use."""
    gc.collect()
    tracemalloc.start()
    begin = tracemalloc.get_traced_memory()[0]
    try:
        yield lambda: tracemalloc.get_traced_memory()[0] - begin
    finally:
        tracemalloc.stop()


def _filled(verdicts: int) -> Deduplicator:
    memory = Deduplicator()
    for number in range(verdicts):
        time = 1_770_000_000_000 + number * 22
        version = VerdictVersion(time + 700, time, _LABELS[number % len(_LABELS)])
        memory.add(f"verdict-{number}", version, number * 22 // 60_000)
    return memory


@given(st.lists(st.builds(VerdictVersion, _TIMES, _TIMES, _SOME_LABELS), min_size=1, unique=True))
def test_of_several_versions_the_least_counts_and_the_next_when_it_is_forgotten(versions):
    memory = Deduplicator()
    for horizon, version in enumerate(versions, 1):
        before, now = memory.add("id", version, horizon)
        assert before == min(versions[: horizon - 1], default=None)
        assert now == min(versions[:horizon])
    for horizon in range(1, len(versions) + 1):
        left, least = versions[horizon:], min(versions[horizon - 1 :])
        expected = [min(left)] if left and min(left) != least else []
        assert memory.forget(horizon) == expected
    assert len(memory) == 0


def test_a_verdict_takes_no_more_than_160_bytes():
    with _counting_bytes() as more:
        memory = _filled(_VERDICTS)
        assert len(memory) == _VERDICTS
        assert more() / _VERDICTS < 160


def test_what_is_forgotten_takes_none():
    _filled(10)  # what is made once is no part of it
    with _counting_bytes() as more:
        memory = _filled(_VERDICTS)
        memory.forget(10**9)
        assert more() < 20_000


def test_a_collection_of_garbage_has_as_little_to_look_through_of_many_verdicts_as_of_few():
    few = len(gc.get_objects())
    memory = _filled(_VERDICTS)
    assert len(memory) == _VERDICTS
    assert len(gc.get_objects()) - few < _VERDICTS / 100


@pytest.mark.parametrize("verdict_id", ["", "\ud800", "a" * 10_000])
def test_any_text_is_an_id(verdict_id):
    memory = Deduplicator()
    version = VerdictVersion(1, 2, _LABELS[0])
    assert memory.add(verdict_id, version, 1) == (None, version)
    assert memory.add(verdict_id, version, 1) == (version, version)
