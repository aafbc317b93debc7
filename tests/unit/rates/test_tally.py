"""Rates of untrue answers come with bounds that are right for few answers too."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.records import Verdict
from streams.rates import Tally, counted, wilson_interval

WHEN = datetime(2026, 3, 2, tzinfo=UTC)
VERDICT = Verdict(
    "v", "a", "c", "blocked", ("undefined_component",), 1.0, "paper", "binary", "nl", False,
    "q", "a", (), (), "p", "s", (), WHEN, WHEN,
)  # fmt: skip


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (1, 1, 0.2065, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_bounds_agree_with_published_figures(hits: int, n: int, low: float, high: float) -> None:
    """The last row is the worked example of Newcombe, Statistics in Medicine 17 (1998), table I."""
    assert wilson_interval(hits, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_bounds_lie_in_the_unit_interval_around_the_share(case: tuple[int, int]) -> None:
    hits, n = case
    low, high = wilson_interval(hits, n)
    assert 0 <= low <= high <= 1
    if n:
        assert low <= hits / n <= high


@pytest.mark.parametrize(("hits", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_an_impossible_count_is_refused(hits: int, n: int) -> None:
    with pytest.raises(ValueError, match="hits of"):
        wilson_interval(hits, n)


def test_without_answers_nothing_is_known() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert Tally().rate is None


def test_an_answer_without_a_score_is_counted_but_not_in_the_rate() -> None:
    tallies = counted({}, VERDICT)
    tallies = counted(tallies, replace(VERDICT, decision="review", score=None))
    assert tallies["binary"] == Tally(answers=2, scored=1, hallucinated=1, review=1, blocked=1)
    assert tallies["binary"].rate == 1.0


def test_message_types_are_counted_apart() -> None:
    tallies = counted(counted({}, VERDICT), replace(VERDICT, message_type="error", decision="auto_send"))
    assert {name: tally.hallucinated for name, tally in tallies.items()} == {"binary": 1, "error": 0}
