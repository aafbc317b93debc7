"""A whole published document is sent in reply to its own title, and nothing else is."""

import pytest

from scoring.lexicon import load_shipped
from scoring.quotation.quoted_document import quoted_document, quoted_page, title_cues
from scoring.text.language_detection import LanguageDetector
from scoring.values.exchange import Exchange, Passage, PublishedDocument

LEXICONS = load_shipped()
IDENTIFY = LanguageDetector(LEXICONS.values()).detect
BODY = {
    "en": "1. Open **Drafts**.\n2. Click **Delete**.\n\nYou can undo this for 30 days.",
    "nl": "1. Open **Facturen**.\n2. Klik op **Verwijderen**.\n\nU kunt dit 30 dagen lang ongedaan maken.",
}
TITLE = {"en": "Delete a draft invoice", "nl": "Een open factuur verwijderen"}
ASKED = {"en": "How do I delete a draft invoice?", "nl": "Hoe kan ik een open factuur verwijderen?"}
STEPS = "1. Open it and look at what there is.\n2. Click on what you want to have done.\n\n"
BOTH = pytest.mark.parametrize("language", ["en", "nl"])


def sent(language, question=None, answer=None, *, text=None, title=None, others=(), context=(), stated=None):
    """Say whether an answer is sent as a quotation of a published document."""
    document = PublishedDocument("d", stated or language, title or TITLE[language], text or BODY[language])
    exchange = Exchange(
        ASKED[language] if question is None else question,
        BODY[language] if answer is None else answer,
        context,
        language,
        published_documents=(document, *others),
    )
    return quoted_document(exchange, LEXICONS[language], IDENTIFY) == "d"


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "How do I delete a draft invoice?"),
        ("en", "how can I delete a draft invoice"),
        ("en", "how do i delete a draft invoice"),
        ("en", "Hi, how do I delete a draft invoice?"),
        ("en", "How to delete a draft invoice."),
        ("nl", "Hoe kan ik een open factuur verwijderen?"),
        ("nl", "hallo, hoe moet ik een open factuur verwijderen"),
        ("nl", "Hoe verwijder ik een open factuur?"),
    ],
)
def test_a_whole_document_is_sent_in_reply_to_its_title(language, question):
    assert sent(language, question)
    assert sent(language, question, text=f"# {TITLE[language]}\n\n{BODY[language]}")
    assert sent(language, question, f"\n\n{BODY[language]}\n")
    assert sent(language, question, text=BODY[language].replace("\n", "\r\n"))


@pytest.mark.parametrize(
    ("language", "title", "question"),
    [
        ("en", "How do I delete a draft invoice?", "How do I delete a draft invoice"),
        ("en", "Change a PDF to Word", "How do I change a PDF to Word?"),
        ("en", "Pay the € 5 fee by bank", "How do I pay the € 5 fee by bank?"),
        ("nl", "Wijzig een open factuur", "Hoe wijzig ik een open factuur?"),
        ("nl", "Het dashboard van Kantora openen", "Hoe kan ik het dashboard van Kantora openen?"),
        ("nl", "Hoe wijzig ik een open factuur?", "hoe wijzig ik een open factuur"),
    ],
)
def test_a_title_is_the_question_or_what_stands_behind_its_opener(language, title, question):
    assert sent(language, question, title=title)


def test_only_a_guide_is_sent():
    assert not sent("en", answer="Drafts are kept.", text="Drafts are kept.")
    assert not sent("en", answer="Drafts are kept.", text="Drafts are kept.", title=ASKED["en"])
    assert not sent("en", "Are student returns free?", title="Are student returns free?")
    told = "1. You get a message on your phone.\n2. You click on the link in it.\n\nThat is a fraud."
    assert not sent("en", answer=told, text=told)


@pytest.mark.parametrize(
    ("language", "heading", "question"),
    [
        # No question: a complaint, an accident, a statement.
        ("en", None, "I deleted a draft invoice by accident"),
        ("en", None, "Delete a draft invoice"),
        ("en", "Payslip missing", "My payslip is missing"),
        ("en", "My payslip is missing?", "My payslip is missing"),
        ("nl", None, "Mijn factuur is verwijderd"),
        ("nl", "Loonstrook kwijt", "Loonstrook kwijt"),
        # More than a question: conditions, names, second sentences.
        ("en", None, "I am on Free. How do I delete a draft invoice?"),
        ("en", None, "Hi from the Free plan, how do I delete a draft invoice?"),
        ("en", None, "Dear Anna, how do I delete a draft invoice?"),
        ("en", None, "How do I delete a draft invoice? I am on Free."),
        ("en", None, "How do I delete a draft invoice?\nI am on Free."),
        ("en", None, "How do I delete a draft invoice (Free)?"),
        ("en", None, "How do I delete a draft invoice?!"),
        ("nl", None, "Als beheerder: hoe kan ik een open factuur verwijderen?"),
        ("nl", None, "Hallo Jan, hoe kan ik een open factuur verwijderen?"),
        # Negation of either side.
        ("en", None, "How do I not delete a draft invoice?"),
        ("en", "Not delete a draft invoice", None),
        ("en", None, "How do I undelete a draft invoice?"),
        ("nl", None, "Hoe kan ik een open factuur niet verwijderen?"),
        ("nl", "Geen factuur verwijderen", None),
        # Other words: how many, whose, which.
        ("en", None, "How do I delete all drafts?"),
        ("en", "Delete a draft invoice for everyone", None),
        ("en", "Turn on notifications", "How do I turn off notifications?"),
        ("en", "Turn notifications on", "How do I turn them off?"),
        ("en", "Turn off", "How do I turn it off?"),
        ("en", "Give Anna a role of Bob", "How do I give Bob a role of Anna?"),
        ("en", "Convert Word to PDF", "How do I convert PDF to Word?"),
        ("en", "Delete IT", "How do I delete it?"),
        ("en", "Switch to a plan", "How do I switch to plan A?"),
        ("en", "Switch to a plan", "how do i switch to plan a?"),
        ("en", "Switch to plan a", "How do I switch to a plan?"),
        ("en", "Switch to plan A", "How do I switch to a plan?"),
        ("en", "Sign out", "How do I sign in?"),
        ("nl", "Alle facturen verwijderen", None),
        ("nl", "Verwijderen", "Hoe kan ik het verwijderen?"),
        ("nl", "Delen met collega's", "Hoe kan ik het delen met collega's?"),
        ("nl", "Meldingen aanzetten", "Hoe zet ik meldingen uit?"),
        ("nl", "Bestand van Anna aan Bob geven", "Hoe kan ik bestand van Bob aan Anna geven?"),
        # Signs and numbers.
        ("en", "Install the C kit", "How do I install the C+ + kit?"),
        ("en", "Install the C+ kit", "How do I install the C kit?"),
        ("en", "Pay $ 5", "How do I pay € 5?"),
        ("en", "Set -5 degrees", "How do I set 5 degrees?"),
        ("en", "Send a 👎", "How do I send a 👍?"),
        ("en", "Install version 1.0", "How do I install version 10?"),
        ("nl", "Betalen met € 10", "Hoe kan ik betalen met € 100?"),
        # Another kind of question.
        ("en", None, "Can I delete a draft invoice?"),
        ("en", None, "Why do I delete a draft invoice?"),
        ("en", "Can I delete a draft invoice?", "How do I delete a draft invoice?"),
        ("en", "Can I delete a draft invoice", "Can I delete a draft invoice?"),
        ("nl", None, "Kan ik een open factuur verwijderen?"),
        ("nl", "Kan ik een open factuur verwijderen?", None),
        ("nl", "Kan ik een open factuur verwijderen?", "Kan ik een open factuur verwijderen"),
        # Characters that look like others, or like nothing.
        ("en", None, "How do I d\u0435lete a draft invoice?"),
        ("en", None, "How do I delete a\u200b draft?"),
        ("en", None, "How do I delete a\u00a0draft?"),
        ("en", "Delete a cafe\u0301", "How do I delete a cafe\u0301?"),
        ("en", None, "\u202eHow do I delete a draft invoice?"),
        ("nl", None, "Hoe kan ik een fact\u00aduur verwijderen?"),
        ("nl", None, "Hoe kan ik een open factuur verwi\u0133deren?"),
        # Mixed languages.
        ("en", None, "Hoe kan ik delete a draft invoice?"),
        ("nl", None, "How do I factuur verwijderen?"),
        ("nl", "Delete a draft invoice", "How do I delete a draft invoice?"),
        # Whose it is, and what may be a thing or a name.
        ("en", None, "How do I delete my draft?"),
        ("en", "Delete my draft", "How do I delete your draft?"),
        ("en", "Do you sell your data?", "Do you sell my data?"),
        ("en", None, "How do I delete the draft invoice?"),
        ("nl", None, "Hoe kan ik de open factuur verwijderen?"),
        ("en", "Open invoices", "How do I open invoices?"),
        ("en", "Change requests", "How do I change requests?"),
        ("en", "Close the Windows", "How do I close the windows?"),
        ("nl", "Open facturen", "Hoe open ik facturen?"),
        ("nl", "Teams verwijderen", "Hoe kan ik teams verwijderen?"),
        ("nl", None, "Hoe kan ik mijn open factuur verwijderen?"),
        # Too little is said, or of something that was named before.
        ("en", "How do I cancel?", "How do I cancel?"),
        ("en", "Is this a joke?", "Is this a joke?"),
        ("en", "How much does it cost?", "How much does it cost?"),
        ("en", "How do we pay suppliers?", "How do we pay suppliers?"),
        ("nl", "Hoe zet ik het uit?", "Hoe zet ik het uit?"),
        ("nl", "Waarom werkt dit niet?", "Waarom werkt dit niet?"),
        # The last sign is what is asked about.
        ("en", "Escape a .", "How do I escape a ?"),
        # Nothing.
        ("en", None, ""),
        ("en", None, "?"),
        ("en", None, "How do I?"),
        ("en", None, f"How do I delete a draft invoice{' ' * 400}?"),
    ],
)  # fmt: skip
def test_a_message_that_is_not_the_title_as_a_question_is_not_answered_by_it(language, heading, question):
    assert not sent(language, question, title=heading)


@BOTH
@pytest.mark.parametrize(
    "change",
    [
        lambda body: body.replace("30", "60"),
        lambda body: body.replace("**", ""),
        lambda body: body.replace("1. ", "1) "),
        lambda body: body.replace(".\n", ". \n", 1),
        lambda body: body.replace(" ", "  ", 1),
        lambda body: body.replace(" ", "\u00a0", 1),
        lambda body: body.replace("e", "\u0435", 1),
        lambda body: body.upper(),
        lambda body: body.partition("\n\n")[0],
        lambda body: body.partition("\n\n")[2],
        lambda body: f"{body}\n\nOK.",
        lambda body: f"OK.\n\n{body}",
        lambda body: f"    {body}",
        lambda body: f"{body}\u200b",
        lambda _: "",
        lambda _: " \n\n\t",
    ],
)
def test_an_answer_with_any_other_character_is_not_sent(language, change):
    assert not sent(language, answer=change(BODY[language]))


PSEUDO_HEADINGS = [
    "For administrators\n---", "For administrators\n===", "**For administrators**", "**For administrators.**",
    "__For administrators:__", "*For administrators*", "***For administrators***", "FOR ADMINISTRATORS.",
    "For administrators", "2) For administrators",
    "- For administrators", "1.2 For administrators", "> For administrators", "> ## For administrators",
    "- ## For administrators\n- One more item.", "## For administrators", "### For administrators",
    "# For administrators", "<h2>For administrators</h2>", "<!-- for administrators -->", "***", "---",
    "Some text.\\\n**For administrators.**", "For administrators\nThey may do much of this.",
    "[//]: # (for administrators)", "[note]: # 'for administrators'", "    For administrators",
    "| For administrators |\n| --- |", '!!! note "For administrators"', ":::administrators", "######",
    "<details><summary>For administrators</summary></details>", "![For administrators](x.png)",
    "Do it in the same way as above, and mind the price.", "This page is for administrators.",
]  # fmt: skip


@pytest.mark.parametrize("above", PSEUDO_HEADINGS)
def test_a_document_with_another_heading_or_what_looks_like_one_is_not_quoted(above):
    body = f"Open the list and click **New** to make one.\n\n{above}\n\n{BODY['en']}"
    assert not sent("en", answer=body, text=body)
    whole = body.replace(f"{above}\n\n", "")
    assert sent("en", answer=whole, text=whole)


@BOTH
def test_a_part_of_a_document_is_not_sent(language):
    before, after = "OK, this is it.", "## Free\n\nNo, not on this plan."
    for text in (
        f"{before}\n\n{BODY[language]}",
        f"{BODY[language]}\n\n{after}",
        f"---\nx: y\n---\n{BODY[language]}",
    ):
        assert not sent(language, text=text)
        assert not sent(language, text=f"# {TITLE[language]}\n\n{text}")
    assert not sent(language, text=f"# Free\n\n{BODY[language]}")


@pytest.mark.parametrize(
    "body",
    [
        "It is free.[^1]", "It is free*.", "It is free†.", "It is free (1).", "It is free [1].",
        "It is free¹.",
        "Go to {{page}}.", "Go to {page}.", "Go to [page].", "Go to <page>.", "Go to %PAGE%.", "Go to $PAGE.",
        "Go to ____.", "TODO.", "The price is TBD.", "Lorem ipsum dolor.", "Go there ....", "Is it ???",
        "It is ~~not~~ free.", "It is free. <!-- not -->", "It is <b>free</b>.", "It is&nbsp;free.",
        "It is &#110;ot free.", 'It is [free](x "not").', "It is ![not](x.png) free.", "It is free.\u200b",
        "It is free \u2800.", "It is\u202e free.", "It is free \ufe0f.", "It is \u3164free.",
        "```\n{{page}}\n```", "`[TODO]` `TODO`", "<script>\nx\n</script>", "```\nx\n```\n\n<!-- x -->",
    ],
)  # fmt: skip
def test_a_document_with_notes_placeholders_or_what_is_hidden_is_not_sent(body):
    assert not sent("en", answer=f"{STEPS}{body}", text=f"{STEPS}{body}")


@pytest.mark.parametrize(
    "body",
    [
        "```\n# Delete **all** drafts\n[x] {y} <z> * \n```",
        "| Plan | Price |\n| --- | --- |\n| Free | € 0 |",
        "- One thing:\n  - a detail;\n  - another one.\n- Another thing.",
        "> Mind the `--force` option, which is not asked about.",
        "Open it as follows:\n\n1. Click **Open**.\n2. Wait.",
        "```\n\tx = 1\n\n\ty = 2  \n```",
    ],
)
def test_code_tables_and_lists_are_sent_as_they_are(body):
    text = f"{STEPS}{body}"
    assert sent("en", answer=text, text=text)
    assert not sent("en", answer=text.replace("Open it", "Open  it"), text=text)


@BOTH
def test_a_guide_on_what_another_document_has_as_well_is_not_sent(language):
    title, asked = TITLE[language], ASKED[language]
    others = {
        "en": ["Drafts\n\nInvoices of this kind stay.", "No dr&shy;aft **in**voice is ever thrown away."],
        "nl": ["Facturen\n\nWat open staat, blijft.", "Geen o&shy;pen **fac**tuur wordt ooit weggegooid."],
    }[language]
    for line in (f"## {title}", title.upper(), f"- {asked}", *others):
        assert not sent(language, context=(Passage("other", f"{line}\n\nOK."),))
        assert not sent(language, others=(PublishedDocument("other", language, "X", f"{line}\n\nOK."),))
    assert not sent(language, context=(Passage("other", "OK.", title),))
    assert not sent(language, others=(PublishedDocument("other", "de", title, "OK."),))
    assert sent(language, context=(Passage("d", "Forged.", title), Passage("other", "OK.", "Restore")))


@BOTH
def test_document_and_question_are_in_one_language(language):
    other = {"en": "nl", "nl": "en"}[language]
    assert sent(language, stated=f"{language.upper()}-BE")
    assert not sent(language, stated=other)
    assert not sent(language, stated="x")
    longer = {
        "en": "You cannot undo this once the draft invoice has been sent to a customer by e-mail.",
        "nl": "U kunt dit niet ongedaan maken als de open factuur al aan een klant is verstuurd.",
    }
    mixed = f"{BODY[language]}\n\n{longer[other]}"
    assert not sent(language, answer=mixed, text=mixed)


@BOTH
def test_a_document_that_is_too_long_is_not_read(language):
    long = "\n\n".join([BODY[language], *["OK, OK, OK."] * 5_000])
    assert not sent(language, answer=long, text=long)


def test_nothing_is_sent_without_a_published_document():
    context = (Passage("d", BODY["en"], TITLE["en"]),)
    exchange = Exchange(ASKED["en"], BODY["en"], context, "en")
    assert quoted_document(exchange, LEXICONS["en"], IDENTIFY) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Delete a draft invoice", "How do I delete the draft invoice?"),
        ("Een open factuur verwijderen", "## Hoe verwijder ik een open factuur?"),
        ("Verwijder een open factuur", "Factuur verwijderen"),
    ],
)
def test_documents_with_another_wording_of_a_title_are_found_by_its_cues(one, other):
    assert any(cue in other.lower() for cue in title_cues(one))


def test_an_answer_is_all_of_a_document_with_or_without_its_title():
    document = PublishedDocument("d", "en", "FAQ", f"# FAQ\n\n{BODY['en']}\n")
    assert quoted_page(f"\n{BODY['en']}\n", document)
    assert quoted_page(f"# FAQ\n\n{BODY['en']}", document)
    assert not quoted_page("", document)
