"""An answer that repeats the documents may be sent, and one with anything changed may not."""

import re

import pytest

from scoring.claims.repetition import repeats
from scoring.text.material import ContextText, Material
from tests.unit.scoring.scoring_support import prepared

DOCUMENT = (
    "# Invoices\n\nYou can delete a draft invoice on the tab **Drafts**. Final ones cannot be deleted.\n\n"
    "Reminders are turned on after 10 days.\n\n## Crediting a final invoice\n\n"
    "Only an administrator may do this.\n\n"
    "1. Open the final invoice.\n2. Click **Credit** and choose a date.\n3. Click **Save**."
)
QUESTION = "Can I delete a draft invoice?"
DELETING = "You can delete a draft invoice on the tab **Drafts**. Final ones cannot be deleted."
STEPS = "1. Open the final invoice.\n2. Click **Credit** and choose a date.\n3. Click **Save**."
GUIDE = f"Only an administrator may do this.\n\n{STEPS}"
CREDIT = "How do I credit a final invoice?"
PLANS = "# Export\n\n## Free plan\n\nAt most 100 rows a day.\n\n## Business plan\n\nAt most 5000 rows a day."


def repeated(answer, question=QUESTION, document=DOCUMENT):
    texts = prepared(question, "en"), prepared(answer, "en")
    return repeats(Material(*texts, (ContextText("d", prepared(document, "en")),)))


def in_words(text):
    """Number the steps of a text as in "Step 2: ..."."""
    return re.sub(r"(?m)^(\d)\.", r"Step \1:", text)


@pytest.mark.parametrize(
    ("answer", "question", "document"),
    [
        (DELETING, QUESTION, DOCUMENT),
        (f"Hello Jan,\n\nThen {DELETING.lower()} Glad to help!", QUESTION, DOCUMENT),
        (DELETING.replace("**", "").replace(". F", ".\nF"), QUESTION, DOCUMENT),
        (f"{DELETING}\n\nReminders are turned on after 10 days.", QUESTION, DOCUMENT),
        (GUIDE, CREDIT, DOCUMENT),
        (f"Do the following:\n\n{GUIDE}\n\nGood luck!", CREDIT, DOCUMENT),
        ("At most 100 rows a day.", "How many rows can I export on the free plan?", PLANS),
    ],
)
def test_a_section_nearly_word_for_word_is_a_repetition(answer, question, document):
    assert repeated(answer, question, document)


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        (DELETING.replace("draft", "final"), QUESTION),  # another thing
        (DELETING.replace("cannot", "can"), QUESTION),  # a negation less
        ("You can delete final ones.", QUESTION),  # words of two sentences
        ("You can delete a draft invoice on the tab **Drafts**.", QUESTION),  # what follows may take it back
        ("Final ones cannot be deleted.", QUESTION),  # so may what stands before
        (DELETING.replace("on the tab", "from the tab"), QUESTION),  # a small word
        (f"{DELETING}\n\nReminders are turned off after 10 days.", QUESTION),
        (f"{DELETING}\n\nReminders are turned on after -10 days.", QUESTION),  # a sign
        (DELETING.replace("draft", "~~draft~~"), QUESTION),
        (DELETING.replace("delete", "dele\u200bte"), QUESTION),
        (DELETING.replace("delete", "del\u0435te"), QUESTION),  # a letter of another script
        (f"{DELETING} <!-- All of them. -->", QUESTION),
        (f"{DELETING} \U0001f389", QUESTION),
        (f"Yes. {DELETING}", QUESTION),
        (f"I can't find more. {DELETING}", QUESTION),
        # What looks like a courtesy and claims something.
        (f"{DELETING} Did you know that final ones delete themselves?", QUESTION),
        (f"{DELETING} Good luck, and remember that every user may delete final ones.", QUESTION),
        (f"{DELETING} Let me know if this helps, and that deleted ones come back after 10 days.", QUESTION),
        (f"{DELETING} If you have any final invoices, delete them the same way", QUESTION),
        (f"{DELETING} Feel free to delete final ones.", QUESTION),
        (f"Hello, final ones too! {DELETING}", QUESTION),
        (DELETING, "How do I bake bread?"),
        (DELETING, "Can I delete a draft invoice without permission?"),  # denies what the section does not
        (STEPS, CREDIT),  # without its condition
        (GUIDE.replace("3. Click **Save**", "3. Click **Credit**"), CREDIT),
        (GUIDE.replace("2. Click **Credit** and choose a date.\n3.", "2."), CREDIT),
        (GUIDE.rpartition("\n")[0], CREDIT),  # a step less
        (GUIDE, "How do I credit a draft invoice?"),  # a guide for another case
        ("Glad to help!", QUESTION),
        ("", QUESTION),
    ],
)
def test_what_was_changed_left_out_or_added_is_none(answer, question):
    assert not repeated(answer, question)


@pytest.mark.parametrize(
    "question", ["How many rows can I export on the free plan?", "How many rows can I export a day?"]
)
def test_what_is_said_of_another_case_is_none(question):
    assert not repeated("At most 5000 rows a day.", question, PLANS)


def test_nothing_is_cut_out_of_a_document_of_which_only_a_part_is_at_hand():
    part = "You can delete a draft invoice."
    text = ContextText("d", prepared(part, "en"), offset=40)
    assert not repeats(Material(prepared(QUESTION, "en"), prepared(part, "en"), (text,)))


def test_a_list_is_repeated_whole():
    document = "# Export\n\nYou can export:\n\n- drafts\n- final invoices, as PDF\n"
    asked = "What can I export?"
    assert repeated("You can export:\n- drafts\n- final invoices, as PDF", asked, document)
    assert not repeated("You can export:\n- drafts", asked, document)


def test_steps_numbered_in_words_are_repeated_in_their_order_alone():
    first, second, third = in_words(STEPS).split("\n")
    condition = "Only an administrator may do this.\n\n"
    assert repeated(in_words(GUIDE), CREDIT, in_words(DOCUMENT))
    assert not repeated(f"{condition}{first}\n{third}\n{second}", CREDIT, in_words(DOCUMENT))


@pytest.mark.parametrize(
    "below", ["This does not hold for final ones.", "Only administrators see it.", "But ask first."]
)
def test_what_the_section_may_take_back_further_below_is_no_repetition(below):
    page = "# Invoices\n\nYou can delete an invoice.\n\n{}\n\n# Other"
    assert not repeated("You can delete an invoice.", "Can I delete an invoice?", page.format(below))
    assert repeated("You can delete an invoice.", "Can I delete an invoice?", page.format("It is quick."))
    assert repeated(f"You can delete an invoice.\n\n{below}", "Can I delete an invoice?", page.format(below))


@pytest.mark.parametrize("condition", ["If you are an administrator:", "Administrators only:"])
def test_a_guide_is_repeated_together_with_the_condition_above_it_alone(condition):
    steps = "1. Open the final invoice.\n2. Click **Credit**."
    page = f"# Crediting a final invoice\n\n{condition}\n\n{steps}"
    assert repeated(f"{condition}\n\n{steps}", CREDIT, page)
    assert not repeated(steps, CREDIT, page)


@pytest.mark.parametrize("heading", ["Only for administrators", "On the business plan"])
def test_what_a_heading_restricts_is_no_repetition_unless_asked_for(heading):
    page = f"# Deleting an invoice\n\n## {heading}\n\nYou can delete an invoice."
    assert not repeated("You can delete an invoice.", "Can I delete an invoice?", page)
    assert repeated("You can delete an invoice.", f"Can I delete an invoice {heading.lower()}?", page)


def test_a_page_that_ends_its_section_with_exceptions_is_not_repeated_without_them():
    page = "# Invoices\n\nYou can delete an invoice.\n\n## Exceptions\n\nFinal ones stay."
    assert not repeated("You can delete an invoice.", "Can I delete an invoice?", page)
