import pytest
from scoring_support import LEXICONS, prepared

from scoring.message_type import message_type
from scoring.text import PreparedText
from scoring.types import MessageType


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("I get the error: mutation cannot be executed", "error"),
        ("Would it be possible to adjust tax rates manually?", "binary"),
        ("How would I adjust tax rates manually?", "instruction"),
        ("I have adjusted tax settings, why don't I see a payslip anymore?", "reasoning"),
        ("write an email to notify customers of the new tax rates.", "action"),
        ("Good morning", "unspecified"),
        ("I just ate a sandwich", "unspecified"),
        ("What are the tax rates in the Netherlands?", "general"),
        ("What products do you offer?", "general"),
    ],
)
def test_the_papers_own_examples_get_their_types(message, kind):
    assert message_type(prepared(message)) == kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Ik krijg de melding: mutatie kan niet worden uitgevoerd", "error"),
        ("Wat betekent K-2107?", "error"),
        ("Zou het mogelijk zijn om belastingtarieven handmatig aan te passen?", "binary"),
        ("Loopt de opbouw door bij ziekte?", "binary"),
        ("Hoe pas ik belastingtarieven aan?", "instruction"),
        ("Welke stappen moet ik doorlopen?", "instruction"),
        ("Ik heb de tarieven aangepast, waarom zie ik geen loonstrook meer?", "reasoning"),
        ("Het bedrag is weg. Hoe kan dat?", "reasoning"),
        ("Schrijf een mail aan klanten over de nieuwe tarieven.", "action"),
        ("Goedemorgen", "unspecified"),
        ("Ik heb net een boterham gegeten", "unspecified"),
        ("Wat zijn de belastingtarieven in Nederland?", "general"),
        ("Welke producten hebben jullie?", "general"),
        ("", "unspecified"),
    ],
)
def test_dutch_messages_get_the_types_of_the_same_kinds(message, kind):
    assert message_type(prepared(message, "nl")) == kind


def test_a_word_within_a_word_is_no_hit():
    assert message_type(prepared("Waardebon kwijt", "nl")) is MessageType.UNSPECIFIED


def test_only_the_compared_part_of_a_question_counts():
    text = "Why? Can I do this?"
    assert message_type(PreparedText.of(text, LEXICONS["en"], 5)) is MessageType.BINARY
