"""How near the numbered guides of an answer come to those of the documents; nothing is sent for it."""

import pytest

from scoring.features.quotation import VerbatimGuide
from tests.unit.scoring.scoring_support import kinds, material

GUIDE = "1. Open **HR / Leave**.\n2. Enter at most 90 days.\n3. Do not tick **Paid**.\n4. Click **Save**."
DOCUMENT = f"# Entering leave\n\n{GUIDE}\n\n# Afterwards\n\nThe change shows at once."
OTHER = "1. Open **Sales**.\n2. Send the quote."


def measure(answer, context=(DOCUMENT,), language="en"):
    return VerbatimGuide().measure(material(answer, context, "How do I enter my leave?", language))


@pytest.mark.parametrize(
    "answer",
    [
        GUIDE,
        f"Follow these steps:\n\n{GUIDE}",
        GUIDE.replace(". ", ") "),
        "\n".join(f"Step {line}".replace(". ", ": ", 1) for line in GUIDE.split("\n")),
        GUIDE.replace("\n", "\n\n"),
        GUIDE.replace("**", ""),
    ],
)
def test_a_copied_guide_is_near_in_every_numbering_style(answer):
    assert measure(answer).value > 0.9


def test_dutch_steps_are_recognised():
    pages = ("# Verlof aanvragen\n\n1. Open **Verlof**.\n2. Klik op **Opslaan**.",)
    assert measure("Stap 1: Open **Verlof**.\nStap 2: Klik op **Opslaan**.", pages, "nl").value > 0.9


def test_the_step_that_differs_is_the_evidence():
    value = measure(GUIDE.replace("90", "60"))
    assert kinds(value) == [("differing_step", "Enter at most 60 days.")]
    assert value.evidence[0].document_id == "d-0"
    assert measure(GUIDE).evidence == ()


def test_the_nearest_guide_of_the_context_counts():
    assert measure(GUIDE, (OTHER, DOCUMENT)).value == pytest.approx(1.0)
    assert measure(OTHER).value < measure(OTHER, (OTHER,)).value


def test_fewer_steps_lower_the_value():
    shorter = GUIDE.rsplit("\n", 1)[0]
    assert measure(shorter).value == pytest.approx(0.75)


@pytest.mark.parametrize("answer", ["", "Click **Save**.", "1. Click **Save**.", "In 2024. We\n3. had"])
def test_an_answer_without_a_guide_is_not_measured(answer):
    assert measure(answer).value is None


def test_a_guide_without_any_in_the_context_has_the_value_nought():
    assert measure(GUIDE, ("Nothing numbered.",)).value == 0
