"""Implausible translations are found, and plausible ones accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.translation.checks import find_fault, is_untranslated, preserves_bold, tidy
from scoring.translation.errors import TranslationFault


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("Klik op **Nieuw**.", "Click **New**."),
        ("maximaal 1.000 regels", "at most 1,000 lines"),
        ("maximaal 10 000 regels", "at most 10,000 lines"),
        ("na 22.00 uur", "after 10 pm"),
        ("om 22.30 uur", "at 10:30 pm"),
        ("op 02-03-2026", "on March 2, 2026"),
        ("de 1e stap", "the first step"),
        ("kies er 2", "choose two"),
        ("٢٥ يوما", "25 days"),
        ("点击保存按钮然后关闭窗口。", "Click the save button and then close the window."),
        ("Ja.", "Yes, that is certainly possible."),
        ("Klik op Nieuw.", "Click New 😀."),
    ],
)
def test_a_plausible_translation_has_no_fault(source, translation):
    assert find_fault(source, translation) is None


@pytest.mark.parametrize(
    ("source", "translation", "fault"),
    [
        ("Klik op Nieuw.", "", TranslationFault.EMPTY),
        ("Klik op Nieuw.", " ... ", TranslationFault.EMPTY),
        ("Klik op Nieuw.", "Click New. \ud800", TranslationFault.NOT_TEXT),
        ("Klik op Nieuw.", "Click \udfffNew.", TranslationFault.NOT_TEXT),
        ("Klik op Nieuw.", "Click New.\0", TranslationFault.NOT_TEXT),
        ("Klik op Nieuw.", "Click New. " * 20, TranslationFault.WRONG_LENGTH),
        ("Een zin die wel wat langer is. " * 10, "A sentence.", TranslationFault.WRONG_LENGTH),
        ("maximaal 500 regels", "at most 50 lines", TranslationFault.NUMBERS_LOST),
        ("maximaal 5 regels", "at most 15 lines", TranslationFault.NUMBERS_LOST),
        ("maximaal 500 regels", "at most some lines", TranslationFault.NUMBERS_LOST),
        ("foutcode K-1014", "error code K-1041", TranslationFault.NUMBERS_LOST),
        ("2 tot 2 keer", "2 times", TranslationFault.NUMBERS_LOST),
        ("om 22.30 uur", "at 10 pm", TranslationFault.NUMBERS_LOST),
    ],
)
def test_an_implausible_translation_has_a_fault(source, translation, fault):
    assert find_fault(source, translation) is fault


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_can_be_compared(source, translation):
    find_fault(source, translation)
    tidy(translation)
    preserves_bold(source, translation)


DUTCH, ENGLISH = "Dat kun je daar niet vinden.", "You cannot find that there now."


@pytest.mark.parametrize(
    ("source", "translation", "detected", "expected"),
    [
        (DUTCH, DUTCH, "nl", True),
        (DUTCH, DUTCH, None, True),
        (DUTCH, "Dat kunt u er niet vinden hoor.", "nl", True),
        (DUTCH * 3, "Das kann man hier nicht finden. " * 3, "de", True),
        (ENGLISH, ENGLISH, "en", False),
        (DUTCH, ENGLISH, None, False),
        ("API / Token", "API / Token", "nl", False),
    ],
)
def test_a_text_that_is_not_english_is_untranslated_unless_it_is_short(
    source, translation, detected, expected
):
    assert is_untranslated(source, translation, "nl", lambda _: detected) is expected


@pytest.mark.parametrize(
    ("raw", "form"),
    [
        ("Click ** New ** and **Save **.", "Click **New** and **Save**."),
        (" Click\n**New** ", "Click **New**"),
        ("2 ** 3", "2 ** 3"),
    ],
)
def test_tidy_normalises_a_sentence(raw, form):
    assert tidy(raw) == form


def test_lost_bold_marks_are_found():
    assert preserves_bold("Klik op **Nieuw**.", "Click **New**.")
    assert not preserves_bold("Klik op **Nieuw**.", "Click New.")
