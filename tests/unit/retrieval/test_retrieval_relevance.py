"""Words that question and passage share make it more relevant, within one language."""

from __future__ import annotations

import pytest

from scoring.lexicon import load_shipped
from streams.retrieval.relevance import Relevance
from streams.retrieval.types import Hit

SIMILARITY = 0.2


def relevance(question: str, asked_in: str | None, text: str, language: str) -> float:
    hit = Hit("id", "1", language, "", text, 0, len(text), 0.0, SIMILARITY)
    return Relevance(load_shipped(), 0.2)(question, asked_in, hit)


def test_a_passage_with_all_the_words_is_more_relevant_than_one_with_none_whatever_their_endings() -> None:
    with_all = relevance("Hoe verstuur ik facturen?", "nl", "Een factuur versturen", "nl")
    with_none = relevance("Hoe verstuur ik facturen?", "nl", "Vraag verlof aan", "nl")
    assert with_all > SIMILARITY > with_none


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
