import pytest

from scoring.scorer.classification import message_type
from scoring.text.prepared_text import PreparedText
from scoring.values.exchange import MessageType
from tests.unit.scoring.scoring_support import LEXICONS, prepared


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
        ("I keep getting the same message on the screen", "error"),
        ("Since this morning the sound no longer works", "error"),
        ("The screen stays black. What should I do?", "error"),
        ("The customer has moved. What should I do?", "instruction"),
        ("If the payment fails, does the program send a notice?", "binary"),
        ("What is the cause of the difference?", "reasoning"),
        ("What is the fastest way to copy a line?", "instruction"),
        ("Which button do I need?", "instruction"),
        ("Explain how I make a schedule", "instruction"),
        ("I'd like to copy a schedule", "instruction"),
        ("I wonder whether this works per day", "binary"),
        ("Could you translate this letter into Dutch?", "action"),
        ("Summarise this mail", "action"),
        ("Send all customers a notice about the outage", "action"),
        ("Give me the steps for a new schedule", "instruction"),
    ],
)
def test_english_questions_have_their_types(message, kind):
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
        ("Ik krijg steeds dezelfde melding in beeld", "error"),
        ("Na het bijwerken werkt het geluid van de computer niet", "error"),
        ("Het scherm blijft zwart. Wat moet ik doen?", "error"),
        ("De klant is verhuisd. Wat moet ik doen?", "instruction"),
        ("Als de betaling mislukt is, stuurt het programma dan een bericht?", "binary"),
        ("Wat is de oorzaak van het verschil?", "reasoning"),
        ("Wat is de snelste manier om een regel te kopiëren?", "instruction"),
        ("Welke knop moet ik hebben?", "instruction"),
        ("Leg uit hoe ik een rooster maak", "instruction"),
        ("Ik wil een rooster kopiëren", "instruction"),
        ("Weet iemand of dit per dag kan", "binary"),
        ("Kun je deze brief voor mij naar het Engels vertalen?", "action"),
        ("Vat deze mail samen", "action"),
        ("Stuur alle klanten een bericht over de storing", "action"),
        ("Stuur ik daarmee ook een bericht?", "binary"),
        ("Geef me de stappen voor een nieuw rooster", "instruction"),
        ("Waardebon hier", "unspecified"),  # "waar" within a word
    ],
)
def test_dutch_questions_have_their_types(message, kind):
    assert message_type(prepared(message, "nl")) == kind


def test_only_the_compared_part_of_a_question_counts():
    text = "Why? Can I do this?"
    assert message_type(PreparedText.of(text, LEXICONS["en"], 5)) is MessageType.BINARY
