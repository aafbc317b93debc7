"""A whole published document is sent in reply to its own title, and nothing else is."""

import pytest

from scoring.lexicon import load_shipped
from scoring.quotation.quoted_document import quoted_document, sending_problem
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
BOTH = pytest.mark.parametrize("language", ["en", "nl"])


def sent(language, question=None, answer=None, *, text=None, title=None, stated=None, cited="d", marked=True):
    """Say whether an answer is sent as a quotation of a published document."""
    document = PublishedDocument(
        "d", stated or language, title or TITLE[language], text or BODY[language], marked
    )
    exchange = Exchange(
        ASKED[language] if question is None else question,
        BODY[language] if answer is None else answer,
        (Passage(cited, "Forged.", "Forged"),),
        language,
        published_documents=(document,),
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


@BOTH
def test_a_document_without_the_mark_is_never_sent(language):
    assert not sent(language, marked=False)
    assert not sent(language, text=f"# {TITLE[language]}\n\n{BODY[language]}", marked=False)


@BOTH
def test_a_document_that_is_not_cited_is_never_sent(language):
    assert not sent(language, cited="other")


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
        # Another character than the title's.
        ("en", None, "How do I delete a  draft invoice?"),
        ("en", None, "How do I delete a Draft invoice?"),
        ("en", None, "How do I delete a draft invoice?\x1c"),
        ("en", "Delete a*?", "How do I delete a*?"),
        ("nl", None, "Hoe kan ik een open Factuur verwijderen?"),
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
        # What is blank to a program and not to a reader, or pushes the answer out of sight.
        lambda body: f"\x0c\n{body}\n\x0b",
        lambda body: f"\u2028\n{body}",
        lambda body: f"\u3000\n{body}",
        lambda body: "\n" * 1000 + body,
        lambda _: "",
        lambda _: " \n\n\t",
    ],
)
def test_an_answer_with_any_other_character_is_not_sent(language, change):
    assert not sent(language, answer=change(BODY[language]))


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
        "It is free.[^1]", "It is free [1].", "- [ ] It is free.", "[//]: # (It is not free.)",
        "Go to {{page}}.", "Go to {page}.", "Go to [page].", "Go to <page>.", "Go to %PAGE%.", "Go to $PAGE.",
        "Go to ____.", "TODO.", "The price is TBD.", "Lorem ipsum dolor.", "Go there ....", "Is it ???",
        "It is free. <!-- not -->", "It is <b>free</b>.", "It is&nbsp;free.", "It is &#110;ot free.",
        "It is ![not][x] free.", "It is free.\u200b", "It is free \u2800.", "It is\u202e free.",
        "It is free \ufe0f.", "It is \u3164free.", "It is free.\rNo.",
        "```\n{{page}}\n```", "`[TODO]` `TODO`", "<script>\nx\n</script>", "```\nx\n```\n\n<!-- x -->",
    ],
)  # fmt: skip
def test_a_document_with_placeholders_or_what_is_hidden_is_not_sent_and_that_is_told(body):
    text = f"{BODY['en']}\n\n{body}"
    assert not sent("en", answer=text, text=text)
    assert problem(text=text)


@pytest.mark.parametrize(
    "body",
    [
        "```\n# Delete **all** drafts * < > ~\n```",
        "| Plan | Price |\n| --- | --- |\n| Free | € 0 |",
        "- One thing:\n  - a detail;\n  - another one.\n- Another thing.",
        "> Mind the `--force` option, which is not asked about.",
        "## For administrators\n\nSee [the other page](https://help.example/other), too.",
        "```\n\tx = 1\n\n\ty = 2  \n```",
    ],
)
def test_all_else_of_a_document_that_is_marked_is_sent_as_it_is(body):
    text = f"{BODY['en']}\n\n{body}"
    assert problem(text=text) is None
    assert sent("en", answer=text, text=text)
    assert not sent("en", answer=text.replace("Click", "Click "), text=text)


def problem(language="en", *, title=None, text=None):
    document = PublishedDocument("d", language, title or TITLE["en"], BODY["en"] if text is None else text)
    return sending_problem(document, LEXICONS.get(language))


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"text": "\n \n"}, "no text below its title"),
        ({"text": f"# {TITLE['en']}\n"}, "no text below its title"),
        ({"text": "OK.\n" * 20_000}, "more than 50,000 characters"),
        ({"text": "It is free.\u200b"}, "U+200B"),
        ({"title": "Delete a dr\u0430ft"}, "U+0430"),
        ({"text": "Hello {{name}}"}, "'{'"),
        ({"title": "Deleting a draft invoice"}, "neither a question"),
        ({"title": "Drafts"}, "neither a question"),
        ({"title": "?"}, "neither a question"),
        ({"language": "de"}, "how questions begin in its language is not known"),
    ],
)
def test_why_a_mark_is_in_vain_is_told(document, told):
    assert told in problem(**document)


@pytest.mark.parametrize("title", [*TITLE.values(), *ASKED.values(), "Verwijder een open factuur"])
def test_a_mark_that_works_has_no_problem(title):
    assert problem("en" if "draft" in title else "nl", title=title) is None


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
