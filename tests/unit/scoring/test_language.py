import pytest
from scoring_support import LEXICONS

from scoring.language import LanguageDetector, stated_language

DETECTOR = LanguageDetector(LEXICONS.values())


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
    assert DETECTOR.identify(text) == language


@pytest.mark.parametrize(
    ("stated", "language"),
    [
        ("nl", "nl"), ("NL", "nl"), ("nl-BE", "nl"), ("en_GB", "en"), ("zh-Hant-TW", "zh"), ("de", "de"),
        ("", None), (None, None), ("dutch", None), ("n", None), ("??", None),
    ],
)  # fmt: skip
def test_a_stated_language_is_a_code_or_nothing(stated, language):
    assert stated_language(stated) == language
