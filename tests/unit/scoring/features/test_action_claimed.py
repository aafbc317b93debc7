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
