"""A whole section of a published page is sent in reply to its own heading, and nothing else is."""

import pytest

from scoring.language import LanguageDetector
from scoring.lexicon import load_shipped
from scoring.quotation.quoting import cues, heading_above, may_be_called, quoted_document
from scoring.values.types import Exchange, Passage, PublishedDocument

LEXICONS = load_shipped()
IDENTIFY = LanguageDetector(LEXICONS.values()).identify
BODY = {
    "en": "1. Open **Drafts**.\n2. Click **Delete**.\n\nYou can undo this for 30 days.",
    "nl": "1. Open **Facturen**.\n2. Klik op **Verwijderen**.\n\nU kunt dit 30 dagen lang ongedaan maken.",
}
HEADING = {"en": "Delete a draft", "nl": "Factuur verwijderen"}
ASKED = {"en": "How do I delete a draft?", "nl": "Hoe kan ik een factuur verwijderen?"}
TITLE = {"en": "FAQ", "nl": "Veelgestelde vragen"}
OTHER = {
    "en": "## Restore a draft\n\nOpen the bin and click **Restore** to have it back.",
    "nl": "## Factuur terugzetten\n\nOpen de prullenbak en klik op **Terugzetten** om haar terug te krijgen.",
}
BOTH = pytest.mark.parametrize("language", ["en", "nl"])


def page(language, *, heading=None, body=None, before="", after="", title=None):
    """Write a page with one section, and what stands before and after it."""
    first = f"# {TITLE[language] if title is None else title}"
    parts = (first, before, f"## {heading or HEADING[language]}", body or BODY[language], after)
    return "\n\n".join(part for part in parts if part)


def sent(language, question=None, answer=None, *, text=None, title=None, others=(), context=(), stated=None):
    """Say whether an answer is sent as a quotation of a published page."""
    document = PublishedDocument("d", stated or language, title or TITLE[language], text or page(language))
    exchange = Exchange(
        ASKED[language] if question is None else question,
        BODY[language] if answer is None else answer,
        context,
        language,
        published=(document, *others),
    )
    return quoted_document(exchange, LEXICONS[language], IDENTIFY) == "d"


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "How do I delete a draft?"),
        ("en", "how can I delete my draft"),
        ("en", "Hi, how do we delete the draft?"),
        ("en", "How to delete a draft."),
        ("en", "Hello! How should I delete a draft?"),
        ("en", "HOW DO I DELETE A DRAFT?"),
        ("nl", "Hoe kan ik een factuur verwijderen?"),
        ("nl", "hallo, hoe moet ik mijn factuur verwijderen"),
        ("nl", "Hoe verwijder ik een factuur?"),
        ("nl", "Hoe kunnen we de factuur verwijderen?"),
    ],
)
def test_a_whole_section_is_sent_in_reply_to_its_heading(language, question):
    assert sent(language, question)
    assert sent(language, question, text=page(language, after=OTHER[language]))
    assert sent(language, question, f"\n\n{BODY[language]}\n")
    assert sent(language, question, text=page(language).replace("\n", "\r\n"))


@pytest.mark.parametrize(
    ("language", "heading", "question"),
    [
        ("en", "Are returns free?", "are returns free?"),
        ("en", "How do I delete a draft?", "How do I delete a draft"),
        ("en", "Convert PDF to Word", "How do I convert a PDF to Word?"),
        ("en", "Install C++", "How do I install C++?"),
        ("en", "Pay € 5", "How do I pay € 5?"),
        ("nl", "Gebruiker toevoegen", "Hoe voeg ik een gebruiker toe?"),
        ("nl", "Wijzig een factuur", "Hoe wijzig ik de factuur?"),
        ("nl", "Het dashboard openen", "Hoe kan ik het dashboard openen?"),
        ("nl", "Een dashboard openen", "Hoe open ik het dashboard?"),
        ("nl", "Kan ik een factuur verwijderen?", "Kan ik mijn factuur verwijderen?"),
    ],
)
def test_a_heading_is_the_question_or_what_stands_behind_its_opener(language, heading, question):
    assert sent(language, question, text=page(language, heading=heading))


@pytest.mark.parametrize(
    ("language", "heading", "question"),
    [
        # No question: a complaint, an accident, a statement.
        ("en", None, "I deleted a draft by accident"),
        ("en", None, "Delete a draft"),
        ("en", "Payslip missing", "My payslip is missing"),
        ("en", "My payslip is missing?", "My payslip is missing"),
        ("nl", None, "Mijn factuur is verwijderd"),
        ("nl", "Loonstrook kwijt", "Loonstrook kwijt"),
        # More than a question: conditions, names, second sentences.
        ("en", None, "I am on Free. How do I delete a draft?"),
        ("en", None, "Hi from the Free plan, how do I delete a draft?"),
        ("en", None, "Dear Anna, how do I delete a draft?"),
        ("en", None, "How do I delete a draft? I am on Free."),
        ("en", None, "How do I delete a draft?\nI am on Free."),
        ("en", None, "How do I delete a draft (Free)?"),
        ("en", None, "How do I delete a draft?!"),
        ("nl", None, "Als beheerder: hoe kan ik een factuur verwijderen?"),
        ("nl", None, "Hallo Jan, hoe kan ik een factuur verwijderen?"),
        # Negation of either side.
        ("en", None, "How do I not delete a draft?"),
        ("en", "Not delete a draft", None),
        ("en", None, "How do I undelete a draft?"),
        ("nl", None, "Hoe kan ik een factuur niet verwijderen?"),
        ("nl", "Geen factuur verwijderen", None),
        # Other words: how many, whose, which.
        ("en", None, "How do I delete all drafts?"),
        ("en", "Delete a draft for everyone", None),
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
        ("en", "Install C", "How do I install C++?"),
        ("en", "Install C++", "How do I install C?"),
        ("en", "Pay $ 5", "How do I pay € 5?"),
        ("en", "Set -5 degrees", "How do I set 5 degrees?"),
        ("en", "Send a 👎", "How do I send a 👍?"),
        ("en", "Install version 1.0", "How do I install version 10?"),
        ("nl", "Betalen met € 10", "Hoe kan ik betalen met € 100?"),
        # Another kind of question.
        ("en", None, "Can I delete a draft?"),
        ("en", None, "Why do I delete a draft?"),
        ("en", "Can I delete a draft?", "How do I delete a draft?"),
        ("en", "Can I delete a draft", "Can I delete a draft?"),
        ("nl", None, "Kan ik een factuur verwijderen?"),
        ("nl", "Kan ik een factuur verwijderen?", None),
        ("nl", "Kan ik een factuur verwijderen?", "Kan ik een factuur verwijderen"),
        # Characters that look like others, or like nothing.
        ("en", None, "How do I d\u0435lete a draft?"),
        ("en", None, "How do I delete a\u200b draft?"),
        ("en", None, "How do I delete a\u00a0draft?"),
        ("en", "Delete a cafe\u0301", "How do I delete a cafe\u0301?"),
        ("en", None, "\u202eHow do I delete a draft?"),
        ("nl", None, "Hoe kan ik een fact\u00aduur verwijderen?"),
        ("nl", None, "Hoe kan ik een factuur verwi\u0133deren?"),
        # Mixed languages.
        ("en", None, "Hoe kan ik delete a draft?"),
        ("nl", None, "How do I factuur verwijderen?"),
        ("nl", "Delete a draft", "How do I delete a draft?"),
        # Nothing.
        ("en", None, ""),
        ("en", None, "?"),
        ("en", None, "How do I?"),
        ("en", None, f"How do I delete a draft{' ' * 400}?"),
    ],
)  # fmt: skip
def test_a_message_that_is_not_the_heading_as_a_question_is_not_answered_by_it(language, heading, question):
    assert not sent(language, question, text=page(language, heading=heading))


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
    "For administrators", "For administrators:", "1. For administrators", "2) For administrators",
    "- For administrators", "1.2 For administrators", "> For administrators", "> ## For administrators",
    "- ## For administrators\n- One more item.", "## For administrators", "### For administrators",
    "# For administrators", "<h2>For administrators</h2>", "<!-- for administrators -->", "***", "---",
    "Some text.\\\n**For administrators.**", "For administrators\nThey may do much of this.",
    "[//]: # (for administrators)", "[note]: # 'for administrators'", "    For administrators",
    "| For administrators |\n| --- |", '!!! note "For administrators"', ":::administrators", "######",
    "<details><summary>For administrators</summary></details>", "![For administrators](x.png)",
    "All of the sections below are for administrators.", "This page is for administrators.",
]  # fmt: skip


@pytest.mark.parametrize("above", PSEUDO_HEADINGS)
def test_a_page_with_what_may_be_a_heading_for_several_sections_is_not_quoted(above):
    before = f"## Create a draft\n\nOpen the list and click **New** to make one.\n\n{above}"
    assert not sent("en", text=page("en", before=before))
    assert sent("en", text=page("en", before=before.removesuffix(above)))


@BOTH
def test_what_stands_between_title_and_sections_may_restrict_them(language):
    assert not sent(language, text=page(language, before="OK."))
    assert not sent(language, text=f"OK.\n\n{page(language)}")
    assert not sent(language, text=f"---\naudience: x\n---\n{page(language)}")


@BOTH
def test_a_section_that_goes_on_in_a_deeper_one_or_stands_below_another_is_not_sent(language):
    assert not sent(language, text=page(language, after="### Free\n\nNo.\n"))
    nested = page(language).replace("## ", "### ").replace("### ", "## Free\n\nOK.\n\n### ", 1)
    assert not sent(language, text=nested)
    assert not sent(language, text=page(language, before="# Free\n\nOK."))


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
def test_a_section_with_notes_placeholders_or_what_is_hidden_is_not_sent(body):
    assert not sent("en", answer=body, text=page("en", body=body))


@pytest.mark.parametrize(
    "body",
    [
        "```\n# Delete **all** drafts\n[x] {y} <z> * \n```",
        "| Plan | Price |\n| --- | --- |\n| Free | € 0 |",
        "- One thing:\n  - a detail;\n  - another one.\n- Another thing.",
        "> Mind the `--force` option, which is not asked about.",
        "See [the price list](https://example.com/a_b).",
        "Open it as follows:\n\n1. Click **Open**.\n2. Wait.",
        "```\n\tx = 1\n\n\ty = 2  \n```",
    ],
)
def test_code_tables_lists_and_links_are_sent_as_they_are(body):
    assert sent("en", answer=body, text=page("en", body=body))
    assert not sent("en", answer=body.replace(" ", "  ", 1), text=page("en", body=body))


@pytest.mark.parametrize(
    ("title", "heading", "is_sent"),
    [
        ("Help", "Delete a draft", True),
        ("Draft", "Delete a draft", True),
        ("Delete a draft", "Delete a draft", True),
        ("On the Free plan", "Delete a draft", False),
        ("What you cannot do", "Delete a draft", False),
        ("Drafts", "Delete a draft", False),
        ("Never delete a draft", "Delete a draft", False),
        ("Delete", "Delete a draft", True),
        ("The", "Delete the draft", False),
    ],
)
def test_the_title_is_neutral_or_stands_in_the_question(title, heading, is_sent):
    question = f"How do I {heading.lower()}?"
    assert sent("en", question, text=page("en", heading=heading, title=title), title=title) == is_sent


def test_a_page_of_one_section_is_headed_by_its_title():
    assert sent("en", text=BODY["en"], title="Delete a draft")
    assert sent("en", text=f"# Delete a draft\n\n{BODY['en']}", title="Delete a draft")
    assert not sent("en", text=f"# On Free\n\n{BODY['en']}", title="Delete a draft")
    assert not sent("en", text=f"{BODY['en']}\n\n## Restore a draft\n\nNo.", title="Delete a draft")


@BOTH
def test_a_heading_that_another_line_has_as_well_is_not_sent(language):
    heading, asked = HEADING[language], ASKED[language]
    for line in (f"## {heading}", heading.upper(), f"- {asked}", f"### {heading.replace(' ', ' (', 1)})"):
        assert not sent(language, text=page(language, after=f"{OTHER[language]}\n\n{line}\n\nOK."))
        assert not sent(language, context=(Passage("other", f"{line}\n\nOK."),))
        assert not sent(language, others=(PublishedDocument("other", language, "X", f"{line}\n\nOK."),))
    assert not sent(language, context=(Passage("other", "OK.", heading),))
    assert not sent(language, others=(PublishedDocument("other", "de", heading, "OK."),))
    assert sent(language, context=(Passage("d", "Forged.", heading), Passage("other", OTHER[language])))


@BOTH
def test_page_question_and_section_are_in_one_language(language):
    other = {"en": "nl", "nl": "en"}[language]
    assert sent(language, stated=f"{language.upper()}-BE")
    assert not sent(language, stated=other)
    assert not sent(language, stated="x")
    longer = {
        "en": "You cannot undo this once the draft has been sent to a customer by e-mail.",
        "nl": "U kunt dit niet ongedaan maken als de factuur al aan een klant is verstuurd.",
    }
    mixed = f"{BODY[language]}\n\n{longer[other]}"
    assert not sent(language, answer=mixed, text=page(language, body=mixed))


@BOTH
def test_a_page_that_is_too_long_is_not_read(language):
    filler = "\n\n".join([OTHER[language], *["OK, OK, OK."] * 5_000])
    assert not sent(language, text=page(language, after=filler))


def test_nothing_is_sent_without_a_published_document():
    context = (Passage("d", page("en"), "FAQ"),)
    exchange = Exchange(ASKED["en"], BODY["en"], context, "en")
    assert quoted_document(exchange, LEXICONS["en"], IDENTIFY) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Delete a draft", "How do I delete the draft?"),
        ("How should I pay", "Pay"),
        ("Factuur verwijderen", "## Hoe verwijder ik een factuur?"),
        ("Hoe voeg ik een gebruiker toe?", "Gebruiker toevoegen"),
        ("Verwijder een factuur", "Factuur verwijderen"),
        ("Mijn back-up maken", "Hoe maak ik een back-up?"),
        ("Één", "één"),
    ],
)
def test_documents_with_another_wording_of_a_heading_are_found_by_its_cues(one, other):
    document = PublishedDocument("d", "nl", "X", f"OK.\n{other}\nOK.")
    assert may_be_called(document, one)
    assert any(cue in document.text.lower() for cue in cues(one))
    assert not may_be_called(PublishedDocument("d", "nl", "X", "OK."), one)


def test_the_line_above_an_answer_is_its_heading_where_the_document_holds_it_once():
    document = PublishedDocument("d", "en", "FAQ", page("en"))
    assert heading_above(document, f"\n{BODY['en']}\n") == "## Delete a draft"
    assert heading_above(PublishedDocument("d", "en", "FAQ", BODY["en"]), BODY["en"]) == "FAQ"
    assert heading_above(document, "Another one.") is None
    assert heading_above(document, "") is None
    assert heading_above(PublishedDocument("d", "en", "FAQ", "OK. OK."), "OK.") is None
