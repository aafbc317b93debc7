"""Words that question and passage share make it more relevant, within one language; a rare name is enough."""

import pytest

from scoring.lexicon import load_shipped
from streams.search.relevance import Relevance, distinctive_names
from streams.search.types import Hit

SIMILARITY = 0.2


def compared(question: str, asked_in: str | None, text: str, language: str, *, rare: bool = False) -> Hit:
    hit = Hit("id", "1", language, "", text, 0, len(text), 0.0, SIMILARITY)
    return Relevance(load_shipped(), 0.2)(question, asked_in, hit, lambda _name, _language: rare)


def relevance(question: str, asked_in: str | None, text: str, language: str) -> float:
    return compared(question, asked_in, text, language).relevance


def test_a_passage_with_all_the_words_is_more_relevant_than_one_with_none_whatever_their_endings() -> None:
    with_all = relevance("Hoe verstuur ik facturen?", "nl", "Een factuur versturen", "nl")
    with_none = relevance("Hoe verstuur ik facturen?", "nl", "Vraag verlof aan", "nl")
    assert with_all > SIMILARITY > with_none


def test_a_word_counts_the_more_the_rarer_it_is_in_its_language() -> None:
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
    question: str, asked_in: str | None, language: str
) -> None:
    assert relevance(question, asked_in, "send invoice facture", language) == SIMILARITY


def test_a_rare_name_that_the_passage_has_is_enough_in_any_language() -> None:
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
    question: str, language: str, found: list[str]
) -> None:
    assert list(distinctive_names(question, language)) == found
