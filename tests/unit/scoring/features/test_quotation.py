"""What quotes the documents may be sent: whole, sign for sign, and the section that was asked for alone."""

import pytest

from scoring.guides.quoting import quotation
from scoring.text.material import ContextText, Material
from tests.unit.scoring.scoring_support import prepared

BODY = "Returns are free. In Belgium a parcel costs € 5."
RETURNS = f"# Returns\n\n## Are returns free?\n\n{BODY}\n\n## Refunds\n\nWithin a week."
FREE = "Are returns free?"
STEPS = "1. Open **Settings**.\n2. Click **Reset**."
RESET = "How do I reset my password?"
SECTION = f"## Reset your password\n\n{STEPS}"


def quoted(answer, question=FREE, *documents, offset=0):
    """Say whether an answer is a quotation that may be sent."""
    texts = [prepared(text, "en") for text in documents or (RETURNS,)]
    context = tuple(ContextText(str(n), text, offset=offset) for n, text in enumerate(texts))
    return quotation(Material(prepared(question, "en"), prepared(answer, "en"), context)) is not None


@pytest.mark.parametrize(
    "answer", [BODY, f"  {BODY.replace('free', '**free**')}\n", f"Here is how:\n\n{BODY}"]
)
def test_a_whole_section_in_reply_to_its_heading_is_quoted(answer):
    assert quoted(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Returns are free in Belgium. A parcel costs € 5.",  # a stop moved
        BODY.replace("free. In", "free in"),
        "Returns are free.",  # what follows takes it back
        "In Belgium a parcel costs € 5.",
        BODY.lower(),
        BODY.replace("a parcel", "parcel"),
        f"Yes, certainly! {BODY}",
        f"{BODY} So yes, you can do that, good luck!",
        f"{BODY}\n\nGlad to help!",
        f"{BODY}\n\nWithin a week.",  # of the next section
        BODY.replace("5", "\u0665"),
        BODY.replace("parcel", "par\u200bcel"),
        BODY.replace("5", "-5"),
        "",
    ],
)
def test_anything_added_left_out_or_moved_is_no_quotation(answer):
    assert not quoted(answer)


@pytest.mark.parametrize(
    "question",
    ["Are returns free in Belgium?", "Are refunds free?", "Are returns not free?", "Is it free?", "?"],
)
def test_another_question_than_the_heading_is_not_answered_by_it(question):
    assert not quoted(BODY, question)


@pytest.mark.parametrize(
    ("heading", "question", "answers"),
    [
        ("Convert PDF to Word", "How do I convert PDF to Word?", True),
        ("Convert PDF to Word", "How do I convert Word to PDF?", False),
        ("Turn notifications off", "How do I turn notifications off?", True),
        ("Turn notifications off", "How do I turn notifications on?", False),
        ("Sign out", "How do I sign in?", False),
        ("Delete a draft of a colleague", "How do I delete a draft?", False),
        ("Delete a draft", "How do I delete all drafts of a colleague?", False),
    ],
)
def test_a_heading_has_the_words_of_the_question_no_more_and_in_their_order(heading, question, answers):
    assert quoted(STEPS, question, f"# Help\n\n## {heading}\n\n{STEPS}") == answers


@pytest.mark.parametrize(
    "page",
    [
        f"# Passwords\n\n{SECTION}\n\n### Known trouble\n\nIt fails at times.",
        f"# Phones\n\n## iPhone\n\n#{SECTION}",
        f"# Phones\n\n## Reset your password\n\n1. Hold the button.\n2. Wait.\n\n{SECTION}",
    ],
)
def test_a_section_that_is_one_of_several_or_goes_on_is_not_quoted(page):
    assert quoted(STEPS, RESET, f"# Passwords\n\n{SECTION}")
    assert not quoted(STEPS, RESET, page)


def test_a_section_of_the_same_name_in_another_document_is_a_rival():
    pages = [f"# {shop}\n\n## Return period\n\n{days} days." for shop, days in (("A", 14), ("B", 30))]
    assert quoted("14 days.", "What is the return period?", pages[0])
    assert not quoted("14 days.", "What is the return period?", *pages)


def test_a_title_that_joins_several_things_answers_for_none_of_them():
    page = "# Rates for individuals{}\n\n## Cost of a connection\n\nA connection costs € 9."
    asked = "What is the cost of a connection for individuals?"
    assert quoted("A connection costs € 9.", asked, page.format(""))
    assert not quoted("A connection costs € 9.", asked, page.format(" and companies"))


def test_of_a_part_of_a_document_the_first_line_is_no_title():
    part = "Delete a draft\n\nYou can delete a draft."
    assert quoted("You can delete a draft.", "Can I delete a draft?", part)
    assert not quoted("You can delete a draft.", "Can I delete a draft?", part, offset=40)


@pytest.mark.parametrize(
    "below", ["You get an e-mail.", "This wipes your phone.", "3. Click **Save**.", "- a note"]
)
def test_a_guide_is_quoted_together_with_what_stands_below_it_alone(below):
    page = f"# Passwords\n\n{SECTION}\n\n{below}\n\n## Other"
    assert quoted(f"{STEPS}\n\n{below}", RESET, page)
    assert not quoted(STEPS, RESET, page)


def test_many_sections_of_one_name_are_no_quotation():
    page = "# Help\n\n" + "## Note only\n\nDelete the draft text.\n\n" * 2_000
    assert not quoted("Delete the draft text.", "How do I delete a draft?", page)
