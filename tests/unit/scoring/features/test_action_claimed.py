"""An answer that says what its writer has done is found, and what a writer of answers can do is not."""

import pytest

from scoring.features.action_claimed import ActionClaimed
from tests.unit.scoring.scoring_support import material

CLAIMED = {
    "nl": (
        "Ik heb uw wachtwoord gereset.",
        "Uw wachtwoord heb ik zojuist gewijzigd en u krijgt zo een mail.",
        "Dat heb ik voor u ingesteld: de agenda staat nu in de maandweergave.",
        "Ik heb de medewerker toegevoegd aan het rooster.",
        "Klaar! De factuur is verstuurd.",
        "Open het rooster. Ik heb de dienst van maandag verwijderd.",
    ),
    "en": (
        "I've reset your password.",
        "Your account is unlocked and I've notified the team.",
        "All done: the invoice is paid.",
        "I have created a ticket for you.",
        "Open the invoice. I have cancelled it already.",
    ),
}
WORDS_ALONE = {
    "nl": (
        "Ik heb dat opgezocht: de factuur staat onder Verkoop.",
        "Ik heb de stappen hieronder voor u op een rij gezet.",
        "Hier heb ik de belangrijkste punten samengevat.",
        "Ik heb geen toegang tot uw account.",
        "Als ik het goed heb begrepen, wilt u een factuur verwijderen.",
        "Zodra ik de gegevens heb ontvangen, help ik u verder.",
        "Kies 'Ik heb betaald' en klik op OK.",
        "U hebt de factuur verwijderd.",
        "Heb ik uw factuur verwijderd?",
        "U hebt het zo gedaan. Klik op Opslaan.",
    ),
    "en": (
        "I've looked it up: the invoice is under Sales.",
        "I've broken the steps down below.",
        "I've prepared an overview.",
        "I have no access to your account.",
        "If I have understood you correctly, you want to delete an invoice.",
        "I have not deleted the invoice.",
        "Choose 'I have paid' and click OK.",
        "You have deleted the invoice.",
        "When you're done, click Save.",
        "Click Save. Done: the invoice is paid.",
    ),
}


def pairs(table):
    return [(language, answer) for language, answers in table.items() for answer in answers]


@pytest.mark.parametrize(("language", "answer"), pairs(CLAIMED))
def test_a_deed_of_the_writer_is_found_with_its_sentence(language, answer):
    value = ActionClaimed().measure(material(answer, language=language))
    assert value.value == 0
    assert value.evidence


@pytest.mark.parametrize(("language", "answer"), pairs(WORDS_ALONE))
def test_what_a_writer_can_do_by_words_alone_is_no_deed(language, answer):
    assert ActionClaimed().measure(material(answer, language=language)).value is None


def test_only_the_sentence_with_the_deed_is_evidence():
    value = ActionClaimed().measure(material("Open the invoice. I have cancelled it already."))
    assert [each.text for each in value.evidence] == ["I have cancelled it already"]


DOCUMENTS = {
    "en": "Click **Delete** to delete an invoice. An account is blocked after five attempts. "
    "You see: Your data has been saved.",
    "nl": "Klik op **Verwijderen** om een factuur te verwijderen. Na vijf pogingen wordt een account "
    "geblokkeerd. U ziet: Uw gegevens zijn opgeslagen.",
}
ASKED_FOR = {
    "en": [
        ("Please delete my invoice.", "We have deleted your invoice."),
        ("Please delete my invoice.", "I deleted it."),
        ("Please delete my invoice.", "We deleted it for you."),
        ("Please delete my invoice.", "Our team has deleted the invoice."),
        ("Please delete my invoice.", "I checked your account and deleted the invoice."),
        ("Please delete my invoice.", "The invoice has been deleted."),
        ("Please delete my invoice.", "Your old invoices for May were deleted."),
        ("Can my invoice be deleted?", "Yes. Your invoice has been deleted."),
        ("Please reset my password.", "Your password has now been reset."),
        ("Can you unlock my account?", "Your account was successfully unlocked."),
        ("My invoice is wrong.", "We corrected your invoice."),
        ("My invoice is wrong.", "Your invoice has been corrected."),
    ],
    "nl": [
        ("Verwijder mijn factuur.", "Wij hebben uw factuur verwijderd."),
        ("Verwijder mijn factuur.", "We hebben je factuur verwijderd."),
        ("Verwijder mijn factuur.", "Ik verwijderde de factuur."),
        ("Verwijder mijn factuur.", "Ons team heeft uw factuur verwijderd."),
        ("Verwijder mijn factuur.", "De factuur is verwijderd."),
        ("Verwijder mijn factuur.", "Uw factuur werd verwijderd."),
        ("Kan mijn factuur worden verwijderd?", "Ja. Uw factuur is verwijderd."),
        ("Kunt u mijn wachtwoord resetten?", "Uw wachtwoord is gereset."),
        ("Annuleer bestelling 12.", "Bestelling 12 is geannuleerd."),
        ("Mijn factuur klopt niet.", "Uw factuur is gecorrigeerd."),
        ("Wijzig mijn adres.", "We wijzigden uw adres."),
    ],
}
NO_DEEDS = {
    "en": [
        ("Please delete my invoice.", "Once your invoice has been deleted, it is gone."),
        ("Please delete my invoice.", "Your invoice will be deleted after 30 days."),
        ("Please delete my invoice.", "Your invoice can be deleted with **Delete**."),
        ("Please delete my invoice.", "An invoice is deleted when you click **Delete**."),
        ("Please delete my invoice.", "Open Sales and click **Delete**. Your invoice has been deleted."),
        ("Please delete my invoice.", "Has your invoice been deleted?"),
        ("Please delete my invoice.", "You get the message **Your invoice has been deleted**."),
        ("Please delete my invoice.", "We described that above."),
        ("Please save my data.", "Your data has been saved."),
        ("How do I delete my invoice?", "Your invoice has been deleted."),
        ("I can't log in.", "Your account has been blocked after five attempts."),
        ("Why was my invoice deleted?", "Your invoice was deleted since it was a draft."),
        ("My invoice was deleted.", "Your invoice was deleted by a colleague."),
        ("Where are my settings?", "Your settings are stored in the cloud."),
        ("What is new?", "We have removed the old menu."),
        ("Write a mail that we have changed the offer.", "Dear [name],\n\nWe have changed your offer."),
    ],
    "nl": [
        ("Verwijder mijn factuur.", "Als uw factuur is verwijderd, is hij weg."),
        ("Verwijder mijn factuur.", "Uw factuur wordt verwijderd."),
        ("Verwijder mijn factuur.", "Uw factuur kan worden verwijderd."),
        ("Verwijder mijn factuur.", "Open Verkoop en klik op **Verwijderen**. Uw factuur is verwijderd."),
        ("Bewaar mijn gegevens, sla ze op.", "Uw gegevens zijn opgeslagen."),
        ("Ik kan niet inloggen.", "Uw account is geblokkeerd na vijf pogingen."),
        ("Mijn factuur is verwijderd.", "Uw factuur is verwijderd door een collega."),
        ("Hoe beveilig ik mijn account?", "Uw account is beveiligd met een wachtwoord."),
        ("Wat is er nieuw?", "Wij hebben het oude menu verwijderd."),
        ("Schrijf een mail dat de offerte gewijzigd is.", "Beste [naam],\n\nWe hebben uw offerte gewijzigd."),
    ],
}


def asked(table):
    return [(language, *pair) for language, answered in table.items() for pair in answered]


def measured(language, question, answer):
    return ActionClaimed().measure(material(answer, DOCUMENTS[language], question, language)).value


@pytest.mark.parametrize(("language", "question", "answer"), asked(ASKED_FOR))
def test_what_was_asked_for_or_is_the_customers_is_said_to_be_done(language, question, answer):
    assert measured(language, question, answer) == 0


@pytest.mark.parametrize(("language", "question", "answer"), asked(NO_DEEDS))
def test_what_happens_in_general_or_later_or_is_known_already_is_no_deed(language, question, answer):
    assert measured(language, question, answer) is None
