import json
import re
from importlib.resources import files

import pytest

from scoring.features.verbatim_guide import VerbatimGuide
from tests.unit.scoring.scoring_support import kinds, material

GUIDE = "1. Open **HR / Leave**.\n2. Enter at most 90 days.\n3. Do not tick **Paid**.\n4. Click **Save**."
DOCUMENT = f"# Entering leave\n\n{GUIDE}\n\n# Afterwards\n\nThe change shows at once."
OTHER = "1. Open **Sales**.\n2. Send the quote."


QUESTION = "How do I enter my leave?"


def measure(answer, context=(DOCUMENT,), language="en", question=QUESTION):
    return VerbatimGuide().measure(material(answer, context, question, language))


def is_verbatim(value):
    return {evidence.kind for evidence in value.evidence} == {"verbatim_guide"}


@pytest.mark.parametrize(
    "answer",
    [
        GUIDE,
        f"Follow these steps:\n\n{GUIDE}",
        GUIDE.replace(". ", ") "),
        GUIDE.replace("1. ", "Step 1: ")
        .replace("2. ", "Step 2: ")
        .replace("3. ", "Step 3: ")
        .replace("4. ", "Step 4: "),
        GUIDE.replace("\n", "\n\n"),
        GUIDE.replace("**", ""),
    ],
)
def test_a_copied_guide_is_verbatim_in_every_numbering_style(answer):
    value = measure(answer)
    assert is_verbatim(value)
    assert value.value > 0.9
    assert value.evidence[0].document_id == "d-0"


@pytest.mark.parametrize(
    "change",
    [
        ("90", "60"),
        ("Do not tick", "Tick"),
        ("**Save**", "**Send**"),
        ("at most", "at least"),
        ("HR / Leave", "Leave / HR"),
        ("\n4. Click **Save**.", ""),
        ("Click", "Then click"),
        ("90", "-90"),
        ("90", "90%"),
        ("90", "9\u03380"),
        ("HR / Leave", "HR-Leave"),
        ("Click **Save**", "~~Click **Save**~~"),
        ("Click", "\U0001f6ab Click"),
        ("Click", "Click \U0001f17d\U0001f17e\U0001f183"),
        (
            "2. Enter at most 90 days.\n3. Do not tick **Paid**.",
            "2. Do not tick **Paid**.\n3. Enter at most 90 days.",
        ),
    ],
)
def test_one_changed_number_negation_component_or_step_is_not_verbatim(change):
    assert not is_verbatim(measure(GUIDE.replace(*change)))


@pytest.mark.parametrize(
    "addition",
    [
        "\n\nThis also works for contractors.",
        "\n\nThe change does not show at once.",
        "\n\nThe change shows at once.",
        "\n\nAfterwards click **Publish**.",
        "\n\nThis is free.",
        "\nClick **Erase everything**",
        "\n8) Remove all leave.",
        "\nStep 8: Remove everything.",
        "\n\nGood luck with your leave, nobody will ever check it again.",
        "\n\nshows at once.",
        "\n\nThe\nchange\nshows",
        "\n\n\u24b9\u24de\u24dd\u24e3",
        "\n\nGo to [this page](https://example.com/login):",
        "\n\n```\nrm -rf / :\n```",
    ],
)
def test_a_guide_with_a_claim_of_its_own_beside_it_is_not_verbatim(addition):
    assert not is_verbatim(measure(GUIDE + addition))


@pytest.mark.parametrize(
    "lead_in",
    [
        "You do not need a role:",
        "Within 24 hours you do this:",
        "Never do the following because it would destroy your data:",
        "This is how you remove a colleague:",
        "Hello, free for ever.",
        "Follow these steps: or else:",
    ],
)
def test_only_a_line_of_the_lexicon_may_introduce_a_guide(lead_in):
    assert not is_verbatim(measure(f"{lead_in}\n{GUIDE}"))


def test_a_guide_of_something_else_than_was_asked_is_no_answer():
    assert not is_verbatim(measure(GUIDE, question="How do I delete a quote?"))


def test_a_document_that_goes_on_with_another_step_is_not_quoted_whole():
    assert not is_verbatim(measure(GUIDE, (f"# Leave\n\n{GUIDE}\n5. Wait for the approval.",)))


def test_the_step_that_differs_is_the_evidence():
    value = measure(GUIDE.replace("90", "60"))
    assert kinds(value) == [("differing_step", "Enter at most 60 days.")]


def test_dutch_steps_are_recognised():
    guide = "Stap 1: Open **Verlof**.\nStap 2: Klik op **Opslaan**."
    assert is_verbatim(
        measure(
            guide,
            ("# Verlof aanvragen\n\n1. Open **Verlof**.\n2. Klik op **Opslaan**.",),
            "nl",
            "Hoe vraag ik verlof aan?",
        )
    )


def test_the_nearest_guide_of_the_context_counts():
    assert measure(GUIDE, (OTHER, DOCUMENT)).evidence[0].document_id == "d-1"
    assert measure(OTHER).value < measure(OTHER, (OTHER,)).value


def test_fewer_steps_lower_the_value():
    shorter = GUIDE.rsplit("\n", 1)[0]
    assert measure(shorter).value == pytest.approx(0.75)


@pytest.mark.parametrize("answer", ["", "Click **Save**.", "1. Click **Save**.", "In 2024. We\n3. had"])
def test_an_answer_without_a_guide_is_not_measured(answer):
    assert measure(answer).value is None


def test_a_guide_without_any_in_the_context_has_the_value_nought():
    assert measure(GUIDE, ("Nothing numbered.",)).value == 0


STEPS = "1. Open **Invoices**.\n2. Click **Delete**."
INVOICES = (
    f"# Invoices\n\n## Deleting an invoice\n\n{STEPS}\n\n"
    "## Copying an invoice\n\n1. Open **Invoices**.\n2. Click **Copy**."
)


def asked(question, answer=STEPS, document=INVOICES):
    return is_verbatim(measure(answer, (document,), question=question))


def test_a_guide_answers_the_question_that_its_heading_names():
    assert asked("How do I delete an invoice?")
    assert asked("How can I copy an invoice?", "1. Open **Invoices**.\n2. Click **Copy**.")


@pytest.mark.parametrize(
    "question",
    [
        "How do I copy an invoice?",
        "How do I undelete an invoice?",
        "How do I prevent deleting an invoice?",
        "How do I not delete an invoice?",
        "How do I avoid that I delete an invoice?",
        "How do I delete an invoice without a reason?",
        "How do I delete an invoice in SAP?",
        "How do I delete an invoice from 3 years ago?",
        "How do I delete an employee?",
        "How do I stop someone deleting an invoice?",
        "How do I do it?",
        "",
    ],
)
def test_a_true_guide_is_no_answer_to_another_question(question):
    assert not asked(question)


@pytest.mark.parametrize(
    "document",
    [
        f"# Deleting an invoice\n\nNever do this:\n\n{STEPS}",
        f"# Deleting an invoice\n\nThe old way, which no longer works:\n\n{STEPS}",
        f"# Never deleting an invoice\n\n{STEPS}",
        f"# Deleting an invoice\n\n{STEPS}\n   This cannot be undone.\n3. Click **Confirm**.",
        f"# Deleting an invoice\n\n{STEPS}\n- Only drafts.\n3. Click **Confirm**.",
        f"# Deleting an invoice\n\n{STEPS}\n![screen](x.png)\n\n3. Click **Confirm**.",
        f"# Deleting an invoice\n\n{STEPS}\n\nThen wait a minute.\n\n3. Click **Confirm**.",
        f"# Deleting an invoice\n\n{STEPS}\n   1. Choose a reason.",
    ],
)
def test_a_guide_that_is_taken_back_or_goes_on_is_not_quoted_whole(document):
    assert asked("How do I delete an invoice?", document=f"# Deleting an invoice\n\n{STEPS}")
    assert not asked("How do I delete an invoice?", document=document)


RESTRICTIONS = {
    "en": (
        "Only for administrators.",
        "This does not work on the free plan.",
        "You need the role **Bookkeeper** for this.",
        "Administrators may do this.",
        "From version 12 on the button is in another menu.",
        "This way was removed in May.",
        "This wasn't tested with drafts.",
        "It works until the invoice is final.",
        "Use **Bin** instead.",
        "- Invoices of last year are excluded.",
        "### Exceptions\n\nFinal invoices stay.\n\nThey cannot be deleted.",
        "Deleting takes a minute.\n\nIt cannot be undone.",
    ),
    "nl": (
        "Alleen voor beheerders.",
        "Dit werkt niet met het gratis abonnement.",
        "Vanaf versie 12 staat de knop ergens anders.",
        "U hebt daarvoor de rol **Boekhouder** nodig.",
        "Deze knop is in mei vervallen.",
        "Dat mag de boekhouder.",
        "Het kan tot de factuur definitief is.",
        "### Let op\n\nConcepten blijven niet bewaard.",
    ),
}
HARMLESS = {
    "en": ("The invoice goes to the bin at once.", "## Afterwards\n\nThis does not concern drafts."),
    "nl": ("De factuur gaat meteen naar de prullenbak.", "## Terugzetten\n\nDat kan niet bij concepten."),
}
NL_STEPS = "1. Open **Facturen**.\n2. Klik op **Verwijderen**."
GUIDES = {
    "en": ("Deleting an invoice", STEPS, "How do I delete an invoice?", "Do the following:"),
    "nl": ("Factuur verwijderen", NL_STEPS, "Hoe kan ik een factuur verwijderen?", "Volg deze stappen:"),
}


def guided(language, around, answer=None, question=None):
    """Say whether an answer, the guide by itself if none is given, quotes a page of which it is a part."""
    heading, steps, asked_for, lead_in = GUIDES[language]
    page = around.format(heading=heading, steps=steps, lead_in=lead_in)
    return is_verbatim(measure(answer or steps, (page,), language, question or asked_for))


def each(table):
    return [(language, text) for language, texts in table.items() for text in texts]


@pytest.mark.parametrize(("language", "restriction"), each(RESTRICTIONS))
def test_a_guide_that_is_restricted_below_is_sent_only_together_with_that(language, restriction):
    below = "## {heading}\n\n{steps}\n\n" + restriction
    assert not guided(language, below)
    # A section that goes on below a heading of its own is held with it, too.
    assert guided(language, below, f"{GUIDES[language][1]}\n\n{restriction}") == ("#" not in restriction)


@pytest.mark.parametrize(("language", "restriction"), each(RESTRICTIONS))
def test_a_guide_that_is_restricted_above_its_lead_in_is_not_sent(language, restriction):
    above = f"## {{heading}}\n\n{restriction}\n\n{{lead_in}}\n\n{{steps}}"
    assert not guided(language, above)
    assert not guided(language, f"{{heading}}\n\n{restriction}\n\n{{lead_in}}\n\n{{steps}}")


@pytest.mark.parametrize(("language", "addition"), each(HARMLESS))
def test_a_guide_with_anything_below_it_in_its_section_is_held(language, addition):
    assert guided(language, "## {heading}\n\n{steps}\n\n" + addition) == addition.startswith("## ")


@pytest.mark.parametrize(
    "document",
    [
        "# {heading} (administrators only)\n\n{steps}",
        "# {heading}\n\n## With the role Bookkeeper\n\n{steps}",
        "# {heading}\n\n## On the business plan\n\n### Steps\n\n{steps}",
        "Only for administrators\n\n## {heading}\n\n{steps}",
    ],
)
def test_a_heading_that_restricts_must_be_in_the_question(document):
    assert not guided("en", document)
    asked_for = "How do I delete an invoice with the role Bookkeeper?"
    assert guided("en", document, question=asked_for) == ("Bookkeeper" in document)


def test_stars_that_are_not_bold_are_compared():
    def document(code):
        return f"# Deleting an invoice\n\n1. Open {code}.\n2. Click **Delete**."

    def answer(code):
        return f"1. Open {code}.\n2. Click **Delete**."

    for said, written in (("src//file", "src/**/file"), ("210", "2**10"), ("`a`", "`**a**`")):
        assert asked("How do I delete an invoice?", answer(written), document(written))
        assert not asked("How do I delete an invoice?", answer(said), document(written))


def sections(text):
    """Give the heading and the numbered lines of every section of a document that has such."""
    for section in text.split("## ")[1:]:
        steps = [line for line in section.split("\n") if re.match(r"[0-9]+[.] ", line)]
        if len(steps) > 1:
            yield section.split("\n")[0], "\n".join(steps)


@pytest.mark.parametrize("language", ["nl", "en"])
def test_no_guide_of_the_sample_answers_the_question_of_another(language):
    """Every section's heading is asked, with every guide of the same document as the answer."""
    lines = (files("streams") / "sample" / f"documents.{language}.jsonl").read_text("utf-8").splitlines()
    quoted = []
    for document in map(json.loads, lines):
        text = f"{document['title']}\n\n{document['text']}"
        for heading, _ in sections(text):
            for other, guide in sections(text):
                quoted.append((heading == other, is_verbatim(measure(guide, (text,), language, heading))))
    assert quoted.count((False, True)) == 0
    assert quoted.count((True, True)) > 20  # the others are restricted by what stands around them
    assert quoted.count((False, False)) > 40
