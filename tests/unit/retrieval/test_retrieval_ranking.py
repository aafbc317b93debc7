"""Rankings are fused by rank alone, and the chosen are diverse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.search.relevance import choose_diverse, fuse_rankings

RANKINGS = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=20), max_size=4)


@given(RANKINGS, st.integers(1, 100))
def test_the_fused_ranking_holds_every_key_once_and_falls(rankings: list[list[int]], k: int) -> None:
    fused = fuse_rankings([(1.0, ranking) for ranking in rankings], k)
    assert set(fused) == {key for ranking in rankings for key in ranking}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


@given(RANKINGS)
def test_who_is_before_another_everywhere_is_before_it_in_the_end(rankings: list[list[int]]) -> None:
    fused = list(fuse_rankings([(1.0, [*ranking, 100, 101]) for ranking in [*rankings, []]], 60))
    assert fused.index(100) < fused.index(101)


def test_a_heavier_ranking_counts_more() -> None:
    assert list(fuse_rankings([(1.0, ["a", "b"]), (2.0, ["b", "a"])], 60)) == ["b", "a"]


@given(st.integers(1, 12), st.integers(1, 8), st.floats(0, 1))
def test_so_many_different_ones_are_chosen_the_most_relevant_first(
    size: int, count: int, weight: float
) -> None:
    relevance = np.linspace(1, 0.1, size)
    chosen = choose_diverse(relevance, np.eye(size, 12, dtype=np.float32), count, weight)
    assert len(set(chosen)) == len(chosen) == min(size, count)
    assert chosen[0] == 0 or weight == 0


def test_what_says_the_same_comes_after_what_says_something_else() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    assert choose_diverse(np.array([1.0, 0.9, 0.5]), vectors, 2, 0.5) == [0, 2]
    assert choose_diverse(np.array([1.0, 0.9, 0.5]), vectors, 2, 1.0) == [0, 1]


def test_a_key_scores_the_sum_of_its_reciprocal_ranks_from_1_on() -> None:
    fused = fuse_rankings([(1.0, ["a", "b"]), (3.0, ["b", "c"])], 60)
    assert fused == pytest.approx({"b": 1 / 62 + 3 / 61, "c": 3 / 62, "a": 1 / 61})
    assert list(fused) == ["b", "c", "a"]


def test_of_equal_scores_the_first_key_comes_first() -> None:
    assert list(fuse_rankings([(1.0, ["b"]), (1.0, ["a"])], 60)) == ["b", "a"]


def test_the_third_is_told_from_the_nearest_of_those_chosen_before() -> None:
    """It is as near to the first as another is to the second, which was chosen last."""
    vectors = np.array([[1, 0, 0], [0, 1, 0], [0.9, 0.1, 0], [0, 0, 1]], dtype=np.float32)
    relevance = np.array([1.0, 0.9, 0.8, 0.4])
    assert choose_diverse(relevance, vectors, 4, 0.5) == [0, 1, 3, 2]
