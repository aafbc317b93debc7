"""Thanks and greetings of a list are returned by sentences of a list, and nothing else is sent."""

import pytest

from scoring import Exchange, Passage, Scorer
from scoring.features.quotation import Courtesy
from scoring.scorer.preparation import content_span
from scoring.text.prepared_text import PreparedExchange
from tests.unit.scoring.scoring_support import judged, prepared

RETURNED = [
    ("nl", "top bedankt, het is gelukt!", "Graag gedaan! Veel plezier ermee."),
    ("nl", "Goedemorgen", "Goedemorgen! Waarmee kan ik u helpen?"),
    ("nl", "Dank je wel!", "Graag gedaan. Fijne dag!"),
    ("nl", "Bedankt.", "Geen dank!"),
    ("en", "Thanks!", "You're welcome! Is there anything else I can help you with?"),
    ("en", "hello", "Hello! How can I help you?"),
    ("en", "Thank you very much.", "You’re welcome, good luck!"),
    ("en", "THANKS", "My pleasure."),
]  # fmt: skip
NOT_RETURNED = [
    # The customer asks, denies or tells something, or another courtesy than is returned.
    ("en", "Thanks, but that did not work", "You're welcome!"),
    ("en", "Thanks! Does it cost anything?", "You're welcome!"),
    ("en", "Thanks for nothing", "You're welcome!"),
    ("en", "Thanks?", "You're welcome!"),
    ("en", "Thanks!?", "You're welcome!"),
    ("en", "Thanks, and the invoice", "You're welcome!"),
    ("en", "My payslip is missing", "You're welcome!"),
    ("en", "It does not work", "Hello! How can I help you?"),
    ("en", "why is it down", "You're welcome!"),
    ("en", "Great, now it is down again", "You're welcome!"),
    ("en", "Perfect", "You're welcome!"),
    ("en", "No, thanks", "You're welcome!"),
    ("en", "Hello", "You're welcome!"),
    ("en", "Thanks!", "Hello! How can I help you?"),
    ("en", "Hi Anna", "Hello! How can I help you?"),
    ("en", "Hello. My invoice is gone.", "Hello! How can I help you?"),
    ("nl", "bedankt, maar het werkt niet", "Graag gedaan!"),
    ("nl", "Mijn loonstrook ontbreekt", "Graag gedaan!"),
    ("nl", "Nee, bedankt", "Graag gedaan!"),
    ("nl", "Hallo", "Graag gedaan!"),
    ("nl", "Kan ik dat zelf doen", "Graag gedaan!"),
    # The answer claims something.
    ("en", "Thanks!", "You're welcome! You can also delete drafts."),
    ("en", "Thanks!", "You're welcome! It costs 5 euros a month."),
    ("en", "Thanks!", "Yes."),
    ("en", "Thanks!", "Done!"),
    ("en", "Thanks!", "Good luck with **Invoices / Delete all**!"),
    ("en", "Thanks!", "You're welcome, and everything is free."),
    ("en", "Thanks!", "You are welcome to delete final invoices."),
    ("en", "Thanks!", "You're welcome, we do that for you."),
    ("en", "Thanks!", "You're welcome! 5"),
    ("en", "Thanks!", "You're welcome! <!-- Drafts -->"),
    ("en", "Thanks!", "You're\u200b welcome!"),
    ("en", "Thanks!", "You\u0433e welcome!"),
    ("nl", "bedankt!", "Laat gerust uw wachtwoord weten."),
    ("nl", "bedankt!", "Graag gedaan! Concepten verdwijnen na een week."),
    ("nl", "Bedankt!", "Graag gedaan, u krijgt het binnen een dag."),
    ("nl", "Bedankt!", "Veel plezier met uw gratis abonnement!"),
    ("nl", "Bedankt!", "You're welcome!"),
    # Nothing, and too much.
    ("en", "", "You're welcome!"),
    ("en", "!", "You're welcome!"),
    ("en", "Thanks!", ""),
    ("en", "Thanks!", "..."),
    ("en", "Th,anks", "You're wel,come!"),
    ("en", "Thanks!", "You're welcome!\x1c"),
    ("en", "Than\u212as", "You're welcome!"),
    ("en", "Thanks! " * 100, "You're welcome!"),
]  # fmt: skip


def exchanged(question, answer, language):
    """Prepare both as the scorer does: without the greeting and closing."""
    texts = [prepared(text, language) for text in (question, answer)]
    spoken = [text.part(*content_span(text.original, text.lexicon)) for text in texts]
    return PreparedExchange(*spoken, (), texts[1])


@pytest.mark.parametrize(("language", "question", "answer"), RETURNED)
def test_an_exchange_of_courtesies_is_known(language, question, answer):
    value = Courtesy().measure(exchanged(question, answer, language))
    assert value.value == 1
    assert [each.text for each in value.evidence] == [answer]


@pytest.mark.parametrize(("language", "question", "answer"), NOT_RETURNED)
def test_what_asks_or_claims_something_is_no_courtesy(language, question, answer):
    assert Courtesy().measure(exchanged(question, answer, language)).value is None


def test_a_courtesy_is_sent_and_one_with_a_deed_is_blocked():
    scorer, pages = Scorer(), (Passage("d", "You can delete a draft invoice."),)
    sent = judged(scorer, Exchange("Great, thanks!", "You're welcome, have fun!", pages, language="en"))
    assert (sent.decision, sent.reasons[0], sent.score) == ("auto_send", "courtesy", 5)
    deed = judged(scorer, Exchange("Great, thanks!", "Done! Have fun!", pages, language="en"))
    assert (deed.decision, str(deed.reasons[0])) == ("blocked", "action_claimed")
