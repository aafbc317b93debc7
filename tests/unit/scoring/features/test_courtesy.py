"""Thanks that are returned are sent, and whatever asks or claims something beside them is not."""

import pytest

from scoring import Exchange, Passage, Scorer
from scoring.features.courtesy import Courtesy
from scoring.text.greeting import content_span
from scoring.text.material import Material
from tests.unit.scoring.scoring_support import judged, prepared

RETURNED = [
    ("nl", "top bedankt, het is gelukt!", "Graag gedaan! Veel plezier ermee."),
    ("nl", "Goedemorgen", "Goedemorgen! Waarmee kan ik u helpen?"),
    ("nl", "Top, het werkt. Bedankt!", "Graag gedaan, fijne dag!\n\nMet vriendelijke groet"),
    ("en", "Thanks, that worked!!", "You're welcome! Is there anything else I can help you with?"),
    ("en", "hello", "Hello! How can I help you?"),
    ("en", "ok great, bye", "You’re welcome, good luck! 🙂"),
]  # fmt: skip
NOT_RETURNED = [
    # The customer asks or denies something.
    ("en", "Thanks, but that did not work", "You're welcome!"),
    ("en", "Thanks! Does it cost anything?", "You're welcome!"),
    ("en", "Thanks, and the invoice", "You're welcome!"),
    ("nl", "bedankt, maar het werkt niet", "Graag gedaan!"),
    # The answer claims something.
    ("en", "Thanks!", "You're welcome! You can also delete drafts."),
    ("en", "Thanks!", "You're welcome! It costs 5 euros a month."),
    ("en", "Thanks!", "Yes."),
    ("en", "Thanks!", "Good luck with **Invoices / Delete all**!"),
    ("en", "Thanks!", "Good luck, drafts older than ninety days disappear from every list by night."),
    ("en", "Thanks!", "You're welcome, and everything is free."),
    ("en", "Thanks!", "You're welcome. Enjoy, final invoices delete themselves."),
    ("en", "Thanks!", "Glad to help. Did you know drafts expire after payment?"),
    ("en", "Thanks!", "You are welcome to delete final invoices."),
    ("en", "Thanks!", "Let us know your PIN and help yourself!"),
    ("en", "Thanks!", "Good luck, support closes soon!"),
    ("en", "Thanks!", "Hello! Hello invoices expire."),
    ("en", "Thanks!", "Great, it works now."),  # the customer has not said so
    ("en", "Thanks!", "Good luck with invoices that delete themselves!"),
    ("en", "Thanks!", "You're welcome! <!-- Drafts -->"),
    ("nl", "bedankt!", "Laat gerust uw wachtwoord weten."),
    ("nl", "bedankt!", "Graag gedaan! Mocht u betalen, dat kan gratis."),
    ("nl", "bedankt!", "Wist u dat concepten verlopen?"),
    ("nl", "bedankt!", "Graag gedaan! Concepten verdwijnen na een week."),
    ("en", "Thanks!", "You're welcome, we do that for you."),
    ("en", "Thanks", "Hi, refunded!"),
    ("en", "Thanks", "Good luck with your paid refund!"),
    ("en", "why is it down", "You're welcome!"),
    ("en", "Great, now it is down again", "Great to hear!"),
    ("nl", "Bedankt!", "Graag gedaan, u krijgt het binnen een dag."),
    ("nl", "Bedankt!", "Veel plezier met uw gratis abonnement!"),
    ("nl", "Kan ik dat zelf doen", "Ja zeker, dat kunt u zelf doen."),
    ("en", "Thanks!", "You're welcome! 5"),
    ("en", "", "You're welcome!"),
    ("en", "Thanks!", ""),
]  # fmt: skip


def exchanged(question, answer, language):
    """Prepare both as the scorer does: without the greeting and closing."""
    texts = [prepared(text, language) for text in (question, answer)]
    spoken = [text.part(*content_span(text.original, text.lexicon)) for text in texts]
    return Material(*spoken, (), texts[1])


@pytest.fixture(scope="module")
def scorer():
    return Scorer()


@pytest.mark.parametrize(("language", "question", "answer"), RETURNED)
def test_an_exchange_of_courtesies_is_known(language, question, answer):
    value = Courtesy().measure(exchanged(question, answer, language))
    assert value.value == 1
    assert [each.text for each in value.evidence] == [answer]


@pytest.mark.parametrize(("language", "question", "answer"), NOT_RETURNED)
def test_what_asks_or_claims_something_is_no_courtesy(language, question, answer):
    assert Courtesy().measure(exchanged(question, answer, language)).value is None


def test_a_courtesy_is_sent_and_one_with_a_deed_is_blocked(scorer):
    pages = (Passage("d", "You can delete a draft invoice."),)
    sent = judged(scorer, Exchange("Great, thanks!", "You're welcome, have fun!", pages, language="en"))
    assert (sent.decision, sent.reasons[0], sent.score) == ("auto_send", "courtesy", 5)
    deed = judged(scorer, Exchange("Great, thanks!", "Done! Have fun!", pages, language="en"))
    assert (deed.decision, str(deed.reasons[0])) == ("blocked", "action_claimed")
