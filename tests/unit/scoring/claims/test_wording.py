"""A claim is supported only where one sentence, list item or table row has its words, numbers and "not"."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import Exchange, Passage, Scorer
from scoring.claims.document_statements import document_statements
from scoring.lexicon import load_shipped
from scoring.text.prepared_text import PreparedText
from scoring.values.checked_claims import CheckedClaim, ClaimStatus, DecidedBy

SCORER = Scorer()


def check(answer: str, text: str, language: str, title: str = "") -> CheckedClaim:
    """Give the first claim of an answer that speaks of the document."""
    found = SCORER.score(Exchange("?", answer, (Passage("d", text, title),), language))
    return found.claims[0]


LINK = "The link in the mail works for 24 hours. Administrators can renew an expired link on the Users page."
STORE = "De beheerder verwijdert het account. Verplaats berichten van Concepten naar Archief."
PLANS = "| Plan | Price | Users |\n|---|---|---|\n| Starter | € 7 | 3 |\n| Pro | € 11 | 5 |\n"
ROOMS = "| Room | Price in May | Price in July |\n|---|---|---|\n| Single | € 50 | € 80 |"
COLOURS = "Saved lines have a green bar, while unsaved lines have an orange bar."

SAID = {
    "its own words": ("The link in the mail works for 24 hours.", LINK, "en"),
    "inflection": ("An administrator can renew expired links on the Users page.", LINK, "en"),
    "number in words": (
        "De proef duurt veertien dagen en telt twee fasen.",
        "De proef duurt veertien dagen en telt 2 fasen.",
        "nl",
    ),
    "light words": ("Administrators can also simply renew an expired link on the Users page.", LINK, "en"),
    "separable verb": (
        "Schakel de melding uit bij Beheer.",
        "De melding kunt u uitschakelen bij Beheer.",
        "nl",
    ),
    "compound as written": (
        "Vul uw emailadres in bij Profiel.",
        "Bij Profiel vult u uw e-mailadres in.",
        "nl",
    ),
    "last part of a compound": (
        "Sluit de rekening bij Beheer.",
        "Bij Beheer kunt u de spaarrekening sluiten.",
        "nl",
    ),
    "heading": (
        "The trash keeps deleted messages for 30 days.",
        "# Trash\n\nDeleted messages are kept for 30 days.",
        "en",
    ),
    "row with its headers, of two columns": ("The price of the single room in July is € 80.", ROOMS, "en"),
    "row with its headers": ("The price of the Pro plan is € 11.", PLANS, "en"),
    "item with its lead-in": (
        "Een export bevat de facturen en klanten.",
        "Een export bevat:\n\n- facturen en klanten\n- instellingen",
        "nl",
    ),
    "negation of both": (
        "Een verlopen link werkt niet op de site van Beheer.",
        "Op de site van Beheer werkt een verlopen link niet.",
        "nl",
    ),
    "order of parts": (COLOURS, COLOURS, "en"),
}

NOT_SAID = {
    "another number": ("The link in the mail works for 48 hours.", LINK, "en"),
    "a synonym": ("The link in the mail is valid for 24 hours.", LINK, "en"),
    "two sentences": ("Administrators can renew the link for 24 hours.", LINK, "en"),
    "another row": ("The price of the Pro plan is € 7.", PLANS, "en"),
    "negation of the claim": ("The link in the mail does not work for 24 hours.", LINK, "en"),
    "negation of the document": (
        "Een verlopen link werkt op de site van Beheer.",
        "Op de site van Beheer werkt een verlopen link niet.",
        "nl",
    ),
    "only": ("Only administrators can renew an expired link on the Users page.", LINK, "en"),
    "must": ("Administrators must renew an expired link on the Users page.", LINK, "en"),
    "have to": ("Administrators have to renew an expired link on the Users page.", LINK, "en"),
    "always": ("De beheerder verwijdert het account altijd.", STORE, "nl"),
    "all": ("De beheerder verwijdert alle accounts.", STORE, "nl"),
    "before": ("Close the file before the upload.", "Close the file after the upload.", "en"),
    "roles exchanged": (
        "The server asks the client for a certificate.",
        "The client asks the server for a certificate.",
        "en",
    ),
    "from and to exchanged": ("Verplaats berichten van Archief naar Concepten.", STORE, "nl"),
    "parts exchanged": (
        "Saved lines have an orange bar, while unsaved lines have a green bar.",
        COLOURS,
        "en",
    ),
    "half a name": (
        "Open **Save all** on the Users page.",
        "Open **Save** on the Users page with all files.",
        "en",
    ),
    "another particle": ("Zet de melding uit bij Beheer.", "Zet de melding aan bij Beheer.", "nl"),
    "turned off": ("Turn the alerts off on the Users page.", "Turn the alerts on on the Users page.", "en"),
    "one word": ("That works.", "The link works.", "en"),
}


# What a document says, what it does not say, and the language.
UNTRUE_PAIRS = [
    (
        "Guests cannot download files unless the owner allows it.",
        "Guests can download files unless the owner allows it.",
        "en",
    ),
    (
        "Gasten mogen geen bestanden downloaden, tenzij de eigenaar het toestaat.",
        "Gasten mogen bestanden downloaden, tenzij de eigenaar het toestaat.",
        "nl",
    ),
    (
        "U kunt de bestelling annuleren zolang deze niet is verzonden.",
        "U kunt de bestelling annuleren zolang deze is verzonden.",
        "nl",
    ),
    (
        "If the invoice is paid, it is not possible to delete the invoice from the list.",
        "If the invoice is paid, it is possible to delete the invoice from the list.",
        "en",
    ),
    (
        "Files larger than 2 GB are not uploaded by the mobile app.",
        "The mobile app uploads files larger than 2 GB.",
        "en",
    ),
    (
        "Refunds are not paid in cash, but by bank transfer.",
        "Refunds are paid in cash, not by bank transfer.",
        "en",
    ),
    ("Niet alle klanten krijgen korting.", "Alle klanten krijgen geen korting.", "nl"),
    ("It is impossible to restore a deleted account.", "It is possible to restore a deleted account.", "en"),
    (
        "Het is onmogelijk een verwijderd account te herstellen.",
        "Het is mogelijk een verwijderd account te herstellen.",
        "nl",
    ),
    ("The option fails to save the file.", "The option saves the file.", "en"),
    ("Without a licence you cannot print.", "Without a licence you can print.", "en"),
    ("Without a licence you cannot print.", "You cannot print with a licence.", "en"),
    (
        "Administrators approve members; members do not approve guests.",
        "Members approve administrators.",
        "en",
    ),
    ("The manager sends the form to the employee.", "The employee sends the form to the manager.", "en"),
    (
        "De manager stuurt het formulier naar de medewerker.",
        "De medewerker stuurt het formulier naar de manager.",
        "nl",
    ),
    ("Plan A includes 5 users and Plan B includes 10 users.", "Plan A includes 10 users.", "en"),
    (
        "Plan A includes 5 users and 10 GB. Plan B includes 10 users and 5 GB.",
        "Plan A includes 10 users.",
        "en",
    ),
    ("Plan A includes 5 users and 10 GB. Plan B includes 10 users and 5 GB.", "Plan A includes 5 GB.", "en"),
    (
        "Invoices are sent to the billing address, reminders to the owner.",
        "Invoices are sent to the owner.",
        "en",
    ),
    (
        "Facturen gaan naar het factuuradres, herinneringen naar de eigenaar.",
        "Facturen gaan naar de eigenaar.",
        "nl",
    ),
    (
        "You must enter the code before you change your password.",
        "You must change your password before you enter the code.",
        "en",
    ),
    ("Is it possible to delete invoices? No.", "You can delete invoices.", "en"),
    ("We plan to support Exact in the next version.", "We support Exact.", "en"),
    ("Customers often ask whether invoices can be deleted.", "Invoices can be deleted.", "en"),
    ("Klanten vragen vaak of facturen verwijderd kunnen worden.", "Facturen kunnen verwijderd worden.", "nl"),
    ("You can delete an invoice if it is not paid.", "You can delete an invoice.", "en"),
    (
        "Voor beheerders is het niet toegestaan om facturen te verwijderen.",
        "Beheerders verwijderen facturen.",
        "nl",
    ),
]

# What a document says, and what it does not: other verbs, limits, halves, subjects, lists and tables.
OTHER_THINGS = [
    ("Op zondag is de helpdesk gesloten.", "De helpdesk is op zondag open.", "nl"),
    ("The shop is shut on Monday mornings.", "The shop is open on Monday mornings.", "en"),
    (
        "The warning disappears after five seconds in the corner.",
        "The warning appears after five seconds in the corner.",
        "en",
    ),
    (
        "De melding verdwijnt na vijf seconden in de hoek.",
        "De melding verschijnt na vijf seconden in de hoek.",
        "nl",
    ),
    (
        "Customers lose their discount after a late payment.",
        "Customers get their discount after a late payment.",
        "en",
    ),
    (
        "Klanten verliezen hun korting bij een late betaling.",
        "Klanten krijgen korting bij een late betaling.",
        "nl",
    ),
    ("Ignore the licence key from the e-mail.", "Enter the licence key from the e-mail.", "en"),
    ("Haal de batterij uit de afstandsbediening.", "Plaats de batterij in de afstandsbediening.", "nl"),
    ("Stop using the charger with the old battery.", "Use the charger with the old battery.", "en"),
    ("Avoid sharing the password with colleagues.", "Share the password with colleagues.", "en"),
    ("It is a myth that the battery lasts ten hours.", "The battery lasts ten hours.", "en"),
    ("Het is een fabel dat de batterij tien uur meegaat.", "De batterij gaat tien uur mee.", "nl"),
    ("The app used to cost € 5 per month.", "The app costs € 5 per month.", "en"),
    ("Tot 2024 was de sauna gratis voor leden.", "De sauna is gratis voor leden.", "nl"),
    ("Only admins can delete a project of the team.", "You can delete a project of the team.", "en"),
    (
        "Alleen beheerders kunnen een project van het team verwijderen.",
        "Je kunt een project van het team verwijderen.",
        "nl",
    ),
    ("Almost all customers pay by card.", "All customers pay by card.", "en"),
    ("The parcel weighs less than 5 kilos.", "The parcel weighs 5 kilos.", "en"),
    (
        "Guests may park behind the hotel instead of the garage.",
        "Guests may park in the garage.",
        "en",
    ),
    ("The board voted against the merger.", "The board voted for the merger.", "en"),
    ("De lade onder het bureau is voor pennen.", "De lade op het bureau is voor pennen.", "nl"),
    ("Our competitor refunds the ticket within a week.", "We refund the ticket within a week.", "en"),
    (
        "The warranty is 5 years. The motor has a warranty of 10 years.",
        "The warranty is 10 years.",
        "en",
    ),
    (
        "The router supports Wi-Fi 6, but it does not support mesh.",
        "The router does not support Wi-Fi 6.",
        "en",
    ),
    ("You can pay by card, but you cannot pay in cash.", "You cannot pay by card.", "en"),
    ("Kampvuur is niet toegestaan, barbecueën wel.", "Barbecueën is niet toegestaan.", "nl"),
    ("De sauna is niet gratis, maar het zwembad is gratis.", "Het zwembad is niet gratis.", "nl"),
    (
        "The following is not possible:\n\n- Export invoices to Excel",
        "You can export invoices to Excel.",
        "en",
    ),
    (
        "# What the free edition lacks\n\n- Weekly backups\n- A logo of your own",
        "The free edition has weekly backups.",
        "en",
    ),
    (
        "Doe dit nooit:\n\n1. Verwijder de map met de licentie.",
        "Verwijder de map met de licentie.",
        "nl",
    ),
    (ROOMS, "The price of the single room in July is € 50.", "en"),
    (ROOMS, "In May the single room has a price of € 80.", "en"),
]


@pytest.mark.parametrize("case", SAID)
def test_a_claim_is_supported_where_one_statement_has_it(case):
    found = check(*SAID[case])
    assert (found.status, found.lacking, found.decided_by) == (ClaimStatus.SUPPORTED, (), DecidedBy.WORDS)


@pytest.mark.parametrize("case", NOT_SAID)
def test_a_claim_is_not_supported_by_like_words(case):
    assert check(*NOT_SAID[case]).status is not ClaimStatus.SUPPORTED


@pytest.mark.parametrize(("text", "answer", "language"), [*UNTRUE_PAIRS, *OTHER_THINGS])
def test_a_claim_is_not_supported_where_the_same_words_say_something_else(text, answer, language):
    assert check(answer, text, language).status is not ClaimStatus.SUPPORTED


@pytest.mark.parametrize(
    ("text", "language"),
    # Of two things that one sentence says, one denied, neither is supported.
    sorted({(text, language) for text, _, language in UNTRUE_PAIRS if not {"?", ";"} & set(text)}),
)
def test_what_a_document_says_is_supported_by_it(text, language):
    found = SCORER.score(Exchange("?", text, (Passage("d", text),), language))
    assert any(claim.status is ClaimStatus.SUPPORTED for claim in found.claims)


@pytest.mark.parametrize(
    ("answer", "text", "language"),
    [
        ("This is a test.", "This is a test of the fire alarm.", "en"),
        ("Test 123", "Press Test. The code is 123.", "en"),
        ("Lorem ipsum.", LINK, "en"),
        ("Dit is een test.", "Dit is een test van het alarm.", "nl"),
        ("Does the link in the mail work for 24 hours?", LINK, "en"),
        ("Werkt de link?", "De link werkt.", "nl"),
        ("You're welcome!", "You are welcome.", "en"),
    ],
)
def test_a_courtesy_a_test_or_a_question_is_never_supported(answer, text, language):
    found = SCORER.score(Exchange("?", answer, (Passage("d", text),), language))
    assert all(claim.status is not ClaimStatus.SUPPORTED for claim in found.claims)


def test_what_the_passage_lacks_is_marked_in_the_answer():
    answer = "Only administrators can renew an expired link on the Users page, three times."
    found = check(answer, f"{LINK} It costs nothing. Messages stay a year.", "en")
    assert found.status is ClaimStatus.SIMILAR
    assert [answer[start:end] for start, end in found.lacking] == ["Only", "three times"]


def test_a_not_that_the_passage_lacks_is_marked():
    answer = "The link does not stop after 24 hours."
    assert [answer[start:end] for start, end in check(answer, LINK, "en").lacking] == ["not stop after"]


LINES = st.sampled_from(
    [
        "# Links",
        "A link works. It expires.",
        "- **Mode**: one. Two.",
        "| a | b |",
        "|---|---|",
        "",
        "goes on",
        "1. Go",
    ]
)


@given(st.lists(LINES, max_size=12))
def test_statements_are_places_of_the_text_each_of_it_own(lines):
    text = PreparedText.of("\n".join(lines), load_shipped()["en"])
    found = document_statements(text)
    first = [each.own_spans[0] for each in found]
    assert first == sorted(first)
    assert all(
        0 <= start < end <= len(text.original)
        for each in found
        for start, end in (*each.own_spans, *each.parent_spans)
    )
    assert all(left[1] <= right[0] for left, right in pairwise(first))
