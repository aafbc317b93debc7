"""Rankings are fused, the chosen are diverse, and shared words and rare names make a passage relevant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.lexicon import load_shipped
from streams.search.relevance import Relevance, choose_diverse, distinctive_names, fuse_rankings
from streams.search.types import Hit

RANKINGS = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=20), max_size=4)


@given(RANKINGS, st.integers(1, 100))
def test_the_fused_ranking_holds_every_key_once_and_falls(rankings, k):
    fused = fuse_rankings([(1.0, ranking) for ranking in rankings], k)
    assert set(fused) == {key for ranking in rankings for key in ranking}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


@given(RANKINGS)
def test_who_is_before_another_everywhere_is_before_it_in_the_end(rankings):
    fused = list(fuse_rankings([(1.0, [*ranking, 100, 101]) for ranking in [*rankings, []]], 60))
    assert fused.index(100) < fused.index(101)


def test_a_heavier_ranking_counts_more():
    assert list(fuse_rankings([(1.0, ["a", "b"]), (2.0, ["b", "a"])], 60)) == ["b", "a"]


@given(st.integers(1, 12), st.integers(1, 8), st.floats(0, 1))
def test_so_many_different_ones_are_chosen_the_most_relevant_first(size, count, weight):
    relevance = np.linspace(1, 0.1, size)
    chosen = choose_diverse(relevance, np.eye(size, 12, dtype=np.float32), count, weight)
    assert len(set(chosen)) == len(chosen) == min(size, count)
    assert chosen[0] == 0 or weight == 0


def test_what_says_the_same_comes_after_what_says_something_else():
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    assert choose_diverse(np.array([1.0, 0.9, 0.5]), vectors, 2, 0.5) == [0, 2]
    assert choose_diverse(np.array([1.0, 0.9, 0.5]), vectors, 2, 1.0) == [0, 1]


def test_a_key_scores_the_sum_of_its_reciprocal_ranks_from_1_on():
    fused = fuse_rankings([(1.0, ["a", "b"]), (3.0, ["b", "c"])], 60)
    assert fused == pytest.approx({"b": 1 / 62 + 3 / 61, "c": 3 / 62, "a": 1 / 61})
    assert list(fused) == ["b", "c", "a"]


def test_of_equal_scores_the_first_key_comes_first():
    assert list(fuse_rankings([(1.0, ["b"]), (1.0, ["a"])], 60)) == ["b", "a"]


def test_the_third_is_told_from_the_nearest_of_those_chosen_before():
    """It is as near to the first as another is to the second, which was chosen last."""
    vectors = np.array([[1, 0, 0], [0, 1, 0], [0.9, 0.1, 0], [0, 0, 1]], dtype=np.float32)
    relevance = np.array([1.0, 0.9, 0.8, 0.4])
    assert choose_diverse(relevance, vectors, 4, 0.5) == [0, 1, 3, 2]


SIMILARITY = 0.2


def compared(question: str, asked_in: str | None, text: str, language: str, *, rare: bool = False) -> Hit:
    hit = Hit("id", "1", language, "", text, 0, len(text), 0.0, SIMILARITY)
    return Relevance(load_shipped(), 0.2)(question, asked_in, hit, lambda _name, _language: rare)


def relevance(question: str, asked_in: str | None, text: str, language: str) -> float:
    return compared(question, asked_in, text, language).relevance


def test_a_passage_with_all_the_words_is_more_relevant_than_one_with_none_whatever_their_endings():
    with_all = relevance("Hoe verstuur ik facturen?", "nl", "Een factuur versturen", "nl")
    with_none = relevance("Hoe verstuur ik facturen?", "nl", "Vraag verlof aan", "nl")
    assert with_all > SIMILARITY > with_none


def test_a_word_counts_the_more_the_rarer_it_is_in_its_language():
    question = "Is Twinfield supported today?"
    with_both_common = relevance(question, "en", "what is supported today", "en")
    assert relevance(question, "en", "Twinfield", "en") > with_both_common > SIMILARITY


@pytest.mark.parametrize(
    ("question", "asked_in", "language"),
    [
        ("send invoice", "en", "nl"),
        ("send invoice", None, "nl"),
        ("envoyer facture", "fr", "fr"),
        ("hoe en wat?", "nl", "nl"),
        ("?", "nl", "nl"),
    ],
)
def test_across_languages_in_unknown_ones_and_without_words_similarity_counts_alone(
    question, asked_in, language
):
    assert relevance(question, asked_in, "send invoice facture", language) == SIMILARITY


def test_a_rare_name_is_enough_where_the_language_of_the_question_is_unknown():
    found = compared("Is Twinfield supported?", None, "Connect Exact and Twinfield.", "en", rare=True)
    assert (found.names, found.relevance) == (("Twinfield",), 1.0)


def test_a_rare_name_that_the_passage_has_is_enough_in_any_language():
    question, text = "Wat betekent fout TK-207?", "Error tk-207: the file is too large."
    assert compared(question, "nl", text, "en", rare=True).names == ("TK-207",)
    assert compared(question, "nl", text, "en", rare=True).relevance == 1
    assert compared(question, "nl", text, "en").relevance == SIMILARITY
    assert compared(question, "nl", "Error TK-2071", "en", rare=True).relevance == SIMILARITY


@pytest.mark.parametrize(
    ("question", "language", "found"),
    [
        ("Is Twinfield supported?", "en", ["Twinfield"]),
        ("Twinfield koppelen met AccountView?", "nl", ["AccountView"]),  # the first word has a capital anyway
        ("Wat zegt ERR_42x of K3001?", "nl", ["ERR_42x", "K3001"]),
        ("Stuur ik de BTW als PDF op Maandag?", "nl", []),  # common words, whatever their letters
        ("HOE KOPPEL IK TWINFIELD", "nl", []),
        ("Is it 30min or 2024?", "en", []),
        ("Werkt Qwxyzz?", "xx", []),  # nothing is known of its words
    ],
)
def test_names_have_a_digit_or_a_capital_that_is_not_that_of_a_sentence_or_a_common_word(
    question, language, found
):
    assert list(distinctive_names(question, language)) == found
