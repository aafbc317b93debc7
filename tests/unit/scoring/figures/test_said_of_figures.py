"""Sentences as people say them: what is true is never refuted, and what is not never confirmed."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.unit.scoring.figures.figures_support import outcome

DOCUMENTS = tomllib.loads((Path(__file__).parents[1] / "data" / "figures.toml").read_text("utf-8"))[
    "documents"
]
SAID = [
    (sentence, document["text"], document["language"], is_true)
    for document in DOCUMENTS
    for is_true in (True, False)
    for sentence in document["true" if is_true else "false"]
]


@pytest.mark.parametrize(("sentence", "text", "language", "is_true"), SAID, ids=[each[0] for each in SAID])
def test_no_sentence_is_taken_for_its_opposite(sentence, text, language, is_true):
    assert outcome(sentence, text, language) != ("refuted" if is_true else "confirmed")


@pytest.mark.parametrize("language", ["nl", "en"])
def test_data_of_something_else_say_nothing(language):
    texts = [document["text"] for document in DOCUMENTS if document["language"] == language]
    for sentence, text, its_language, _ in SAID:
        if its_language == language:
            others = tuple(other for other in texts if other != text)
            assert outcome(sentence, others, language) not in {"confirmed", "refuted"}, sentence


def test_most_are_checked():
    found = Counter(outcome(sentence, text, language) for sentence, text, language, _ in SAID)
    assert len(SAID) == 255
    assert found["confirmed"] >= 83
    assert found["refuted"] >= 67
