import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from scoring.text.language_detection import LanguageDetector, language_code
from tests.unit.scoring.scoring_support import LEXICONS

DETECTOR = LanguageDetector(LEXICONS.values())
SENTENCES = tomllib.loads((Path(__file__).parents[1] / "data" / "sentences.toml").read_text(encoding="utf-8"))
NATIVE = sorted(LEXICONS)
FOREIGN = sorted(set(SENTENCES) - set(NATIVE))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Hoe kan ik mijn wachtwoord wijzigen?", "nl"),
        ("How can I change my password?", "en"),
        ("Open het menu Settings, klik op Save changes en kies Submit.", "nl"),
        ("Ga naar **Settings / Users / Add user** en klik op **Save changes and close**.", "nl"),
        ("Is dit mogelijk?", "nl"),
        ("Wie kann ich die Steuersätze anpassen?", "de"),
        ("Hoe kan ek die belastingkoerse met die hand aanpas?", "af"),
        ("Comment puis-je modifier les taux d'imposition ?", "fr"),
        ("¿Cómo puedo cambiar las tasas?", "es"),
        ("", None),
        ("12345 67", None),
        ("K-3001", None),
        ("Ok", None),
    ],
)
def test_a_language_is_identified_among_all_or_not_known(text, language):
    assert DETECTOR.detect(text) == language


@pytest.mark.parametrize(
    ("stated", "language"),
    [
        ("nl", "nl"), ("NL", "nl"), ("nl-BE", "nl"), ("en_GB", "en"), ("zh-Hant-TW", "zh"), ("de", "de"),
        ("", None), (None, None), ("dutch", None), ("n", None), ("??", None),
    ],
)  # fmt: skip
def test_a_stated_language_is_a_code_or_nothing(stated, language):
    assert language_code(stated) == language


@pytest.mark.parametrize("language", NATIVE)
def test_short_native_sentences_are_identified(language):
    assert {sentence: DETECTOR.detect(sentence) for sentence in SENTENCES[language]} == dict.fromkeys(
        SENTENCES[language], language
    )


@pytest.mark.parametrize("language", FOREIGN)
def test_no_short_sentence_of_another_language_is_taken_for_a_native_one(language):
    sentences = SENTENCES[language]
    pairs = map("\n".join, pairwise(sentences))
    taken = {text: found for text in [*sentences, *pairs] if (found := DETECTOR.detect(text)) in NATIVE}
    assert taken == {}


def test_a_word_of_a_neighbour_may_be_a_name_in_a_longer_text():
    text = "Ik heb gisteren met de firma Und gebeld over de factuur, maar zij weten ook niet waar die is."
    assert DETECTOR.detect(text) == "nl"
    assert DETECTOR.detect("Und Ich " + text) is None
