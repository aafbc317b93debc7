"""An answer that repeats the documents may be sent, and one with anything changed may not."""

import re

import pytest

from scoring.claims.repetition import repeats
from scoring.text.material import ContextText, Material
from tests.unit.scoring.scoring_support import prepared

DOCUMENT = (
    "# Invoices\n\nYou can delete a draft invoice on the tab **Drafts**. A final invoice cannot be deleted. "
    "Only an administrator may credit a final invoice.\n\n## Crediting a final invoice\n\n"
    "1. Open the final invoice.\n2. Click **Credit** and choose a date.\n3. Click **Save**."
)
QUESTION = "Can I delete a draft invoice?"
GUIDE = "1. Open the final invoice.\n2. Click **Credit** and choose a date.\n3. Click **Save**."
STEPS = (
    "Step 1: Open the final invoice.\nStep 2: Click **Credit** and choose a date.\nStep 3: Click **Save**."
)
CREDIT = "How do I credit a final invoice?"


def repeated(answer, question=QUESTION, document=DOCUMENT):
    texts = prepared(question, "en"), prepared(answer, "en")
    return repeats(Material(*texts, (ContextText("d", prepared(document, "en")),)))


def in_words(text):
    """Number the steps of a text as in "Step 2: ..."."""
    return re.sub(r"(?m)^(\d)\.", r"Step \1:", text)


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("You can delete a draft invoice on the tab **Drafts**.", QUESTION),
        ("Then you can just delete the draft invoice on the tab **Drafts**. Glad to help!", QUESTION),
        ("You can delete a draft invoice on the tab Drafts. A final invoice cannot be deleted.", QUESTION),
        (GUIDE, CREDIT),
        (f"Only an administrator may credit a final invoice.\n\n{GUIDE}", CREDIT),
    ],
)
def test_what_the_documents_say_nearly_word_for_word_is_a_repetition(answer, question):
    assert repeated(answer, question)


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("You can delete a final invoice on the tab **Drafts**.", QUESTION),  # another thing
        ("A final invoice can be deleted.", QUESTION),  # a negation less
        ("An administrator may credit a final invoice.", CREDIT),  # a restriction less
        ("Yes. You can delete a draft invoice on the tab **Drafts**.", QUESTION),  # a verdict is no quotation
        ("You can delete a draft invoice on the tab **Drafts** within a week.", QUESTION),  # more
        ("Drafts can delete the tab on an invoice.", QUESTION),  # another order
        ("You can delete a draft invoice on the tab **Drafts**.", "How do I bake bread?"),  # no answer
        ("I can't find more. You can delete a draft invoice on the tab **Drafts**.", QUESTION),  # refuses
        ("1. Open the final invoice.\n2. Click **Save**.\n3. Click **Credit** and choose a date.", CREDIT),
        (GUIDE, "How do I credit a draft invoice?"),  # a guide for another case
        ("Glad to help!", QUESTION),
        ("", QUESTION),
    ],
)
def test_what_was_changed_left_out_or_added_is_none(answer, question):
    assert not repeated(answer, question)


def test_steps_numbered_in_words_are_repeated_in_their_order_alone():
    first, second, third = in_words(GUIDE).split("\n")
    assert repeated(in_words(GUIDE), CREDIT, in_words(DOCUMENT))
    assert not repeated(f"{first}\n{third}\n{second}", CREDIT, in_words(DOCUMENT))
