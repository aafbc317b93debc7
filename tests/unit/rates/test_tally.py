"""Rates of untrue answers come with bounds that are right for few answers too."""

from dataclasses import replace
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.rates import Tally, add_to_tallies, wilson_interval
from streams.rates.windows import faithfulness_parts, faithfulness_sum
from tests.support.verdicts import any_verdict

VERDICT = any_verdict(decision="blocked", language="nl")


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (1, 1, 0.2065, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_bounds_agree_with_published_figures(hits, n, low, high):
    """The last row is the worked example of Newcombe, Statistics in Medicine 17 (1998), table I."""
    assert wilson_interval(hits, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_bounds_lie_in_the_unit_interval_around_the_share(case):
    hits, n = case
    low, high = wilson_interval(hits, n)
    assert 0 <= low <= high <= 1
    if n:
        assert low <= hits / n <= high


@pytest.mark.parametrize(("hits", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_an_impossible_count_is_refused(hits, n):
    with pytest.raises(ValueError, match="hits of"):
        wilson_interval(hits, n)


def test_without_answers_nothing_is_known():
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert Tally().rate is None


def test_an_answer_without_a_score_is_counted_but_not_in_the_rate():
    tallies = add_to_tallies({}, VERDICT)
    tallies = add_to_tallies(tallies, replace(VERDICT, decision="review", score=None))
    assert tallies["binary"] == Tally(answers=2, scored=1, hallucinated=1, review=1, blocked=1)
    assert tallies["binary"].rate == 1.0


def test_an_answer_without_a_faithfulness_is_not_in_the_mean():
    verdicts = [replace(VERDICT, faithfulness=share) for share in (None, 1.0, 0.25)]
    tally = reduce(add_to_tallies, verdicts, {})["binary"]
    assert (tally.answers, tally.faithfulness_answers, tally.faithfulness) == (3, 2, 0.625)
    assert Tally().faithfulness is None


@pytest.mark.parametrize("share", [None, -0.1, 1.1, 1e308])
def test_what_is_no_share_is_no_faithfulness(share):
    assert faithfulness_parts(share) is None


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=50), st.randoms())
def test_a_sum_of_faithfulness_depends_on_no_order_and_is_had_back_from_its_mean(parts, random):
    tallies = [Tally(faithfulness_answers=1, faithfulness_sum=each) for each in parts]
    shuffled = random.sample(tallies, len(tallies))
    total = sum(tallies, Tally())
    assert total == sum(shuffled, Tally())
    assert faithfulness_sum(total.faithfulness, len(parts)) == sum(parts)


@pytest.mark.parametrize(("mean", "of_ten"), [(None, 0), (-1e308, 0), (0.5, 50_000), (1e308, 100_000)])
def test_a_mean_that_others_wrote_gives_a_sum_that_can_be(mean, of_ten):
    assert faithfulness_sum(mean, 10) == of_ten


def test_message_types_are_counted_apart():
    tallies = add_to_tallies(
        add_to_tallies({}, VERDICT), replace(VERDICT, message_type="error", decision="auto_send")
    )
    assert {name: tally.hallucinated for name, tally in tallies.items()} == {"binary": 1, "error": 0}
