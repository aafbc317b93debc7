"""A question that leans on what was said before is not standalone; in doubt it is not either."""

import pytest

from scoring.lexicon import load_shipped
from scoring.scorer.standalone_question import is_standalone
from scoring.text.prepared_text import PreparedText

STANDALONE = {
    "en": [
        "How do I delete a draft invoice?",
        "Hi, how do I import corrections for 300 employees?",
        "What is the difference between the Plus and Complete subscriptions?",
        "what does an extra licence cost per month",
    ],
    "nl": [
        "Hoe wijzig ik het adres van een klant?",
        "Wat is het verschil tussen voorlopig en definitief afsluiten?",
        "Hallo, hoe importeer ik correcties voor 300 medewerkers?",
        "wat kost een extra licentie per maand",
    ],
}
LEANING = {
    "en": [
        *(
            "",
            "?",
            "Why?",
            "And then?",
            "How much is it?",
            "How do I delete that one?",
            "Where can I find this?",
        ),
        "And how do I delete a draft invoice?",
        "And what about the second option?",
        "Is there another way to import corrections?",
        "Can you explain the difference in detail?",
        "Can you give me an example of an invoice?",
        "Yes, please delete the draft invoice for me",
        "How do I do the same for employees?",
        "the invoice of last month again please",
        "Thanks! How do I delete a draft invoice?",
        "Plus and Complete subscriptions for companies",  # no verb
    ],
    "nl": [
        *("Waarom?", "En dan?", "Hoe wijzig ik het?", "Kan het ook sneller?", "Werkt het in de app?"),
        "En hoe wijzig ik een factuur?",
        "Hoe doe ik dat in de app?",
        "Is er een andere manier om te importeren?",
        "Kun je een voorbeeld geven van een factuur?",
        "Ja, verwijder de conceptfactuur maar",
        "Hoe doe ik hetzelfde voor medewerkers?",
    ],
}


def answered(language: str, question: str) -> bool:
    return is_standalone(PreparedText.of(question, load_shipped()[language]))


@pytest.mark.parametrize(
    ("language", "question"), [(key, each) for key, of in STANDALONE.items() for each in of]
)
def test_a_question_that_says_all_of_it_is_standalone(language, question):
    assert answered(language, question)


@pytest.mark.parametrize(
    ("language", "question"), [(key, each) for key, of in LEANING.items() for each in of]
)
def test_a_question_that_refers_to_something_before_it_is_not(language, question):
    assert not answered(language, question)
