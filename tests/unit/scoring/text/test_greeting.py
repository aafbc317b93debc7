import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.scorer.preparation import content_span
from tests.unit.scoring.scoring_support import LEXICONS


def content(text, language="en"):
    start, end = content_span(text, LEXICONS[language])
    return text[start:end].strip()


@pytest.mark.parametrize(
    ("text", "language", "rest"),
    [
        ("Hi Anna, click **Save**. Good luck!", "en", "click **Save**."),
        ("Good morning!\n\nClick **Save**.\n\nKind regards,\nThe helpdesk", "en", "Click **Save**."),
        ("Click **Save**. Let me know if you have questions! Have a nice day.", "en", "Click **Save**."),
        (
            "Goedemorgen Jan,\nKlik op **Opslaan**. Laat het gerust weten als het niet lukt!",
            "nl",
            "Klik op **Opslaan**.",
        ),
        ("Goedemiddag! Waarmee kan ik je helpen?", "nl", ""),
        ("Hello", "en", ""),
        ("Click **Save**.", "en", "Click **Save**."),
        ("Hi, how do I save?", "en", "how do I save?"),
        ("Hi!, Click **Save**... Good luck!?", "en", "Click **Save**..."),
        ("", "en", ""),
    ],
)
def test_greetings_and_closings_are_left_out(text, language, rest):
    assert content(text, language) == rest


def test_a_closing_in_the_middle_stays():
    text = "Let me know the code. Then click **Save**."
    assert content(text) == text


@given(st.text())
def test_the_span_always_lies_in_the_text(text):
    start, end = content_span(text, LEXICONS["nl"])
    assert 0 <= start <= end <= len(text)
