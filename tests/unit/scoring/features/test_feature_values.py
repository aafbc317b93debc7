"""What each feature makes of a few words, to the digit, and which words it shows for it."""

import pytest

from scoring.features.answer_words import (
    ComplexAnswer,
    PromptOverlap,
    first_content_word_spans,
)
from scoring.features.claim_support import ClaimsCovered, RefusalJustified
from scoring.features.error_mismatch import ErrorMismatch
from scoring.features.figures import FiguresFollow, NumbersKnown
from scoring.features.word_combinations import PhrasesKnown
from tests.unit.scoring.scoring_support import kinds, material, prepared


def test_content_words_are_no_function_words_numbers_or_single_letters():
    assert list(first_content_word_spans(prepared("The x menu of 2024, K9 and Ox: the menu."))) == [
        "menu",
        "ox",
    ]


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("Open the menu.", 0.0),
        ("No, because it is closed.", 0.25),
        ("No, because it is closed, because.", 0.25),
        ("No, because it is closed. For example, take March.", 0.5),
    ],
)
def test_an_answer_is_as_complex_as_it_has_kinds_of_signal_words(answer, share):
    value = ComplexAnswer().measure(material(answer))
    assert value.value == share
    assert len(value.evidence) == share * 4


def test_signal_words_are_shown_whole_by_their_kind_and_no_words_are_no_answer():
    value = ComplexAnswer().measure(material("Take March, for example, because it is closed."))
    assert kinds(value) == [("example_signal", "for example"), ("reasoning_signal", "because")]
    assert ComplexAnswer().measure(material("!")).value is None


@pytest.mark.parametrize(
    ("question", "answer", "share", "shown"),
    [
        ("Can I copy schedules?", "Copy it.", 0.5, ["Copy"]),
        ("Can I copy a report?", "You copy the reports. Copy them.", 1.0, ["copy", "reports"]),
        ("Can I copy copies?", "No.", 0.0, []),
        ("Can I?", "Copy it.", None, []),
        ("Can I copy it?", "", None, []),
    ],
)
def test_overlap_is_the_share_of_the_questions_words_that_come_back(question, answer, share, shown):
    value = PromptOverlap().measure(material(answer, (), question))
    assert value.value == share
    assert kinds(value) == [("question_word", word) for word in shown]


@pytest.mark.parametrize(
    ("answer", "share", "unknown"),
    [
        ("It works for 2 days.", 1.0, []),
        ("It works for 2 days and costs 3 euros.", 0.5, ["3"]),
        ("It costs 3 euros or 4 for 5 users and 9 days.", 0.25, ["3", "4", "5"]),
        ("It works.", None, []),
    ],
)
def test_numbers_are_known_from_documents_and_question(answer, share, unknown):
    value = NumbersKnown().measure(material(answer, ["It works for two days."], "What after 9 days?"))
    assert value.value == (share if share is None else pytest.approx(share))
    assert kinds(value) == [("unknown_number", number) for number in unknown]


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("The link works for a day.", 0.5),
        ("The link in the mail works for a day.", 1.0),
        ("Link works.", None),
        ("The bonus follows in June.", 0.0),
    ],
)
def test_phrases_are_known_from_the_documents(answer, share):
    assert PhrasesKnown().measure(material(answer, ["The link in the mail works for a day."])).value == share


def test_phrases_are_known_from_the_question_too_and_in_their_order_alone():
    assert (
        PhrasesKnown()
        .measure(material("The red link works.", (), "Does it help if the red link works?"))
        .value
        == 1
    )
    assert (
        PhrasesKnown().measure(material("Day a for works link the.", ["The link works for a day."])).value
        == 0
    )


def test_claims_are_covered_by_the_weight_of_their_words():
    document = ["Paid leave ends in May."]
    covered = ClaimsCovered().measure(
        material("The paid leave ends in May. The bonus follows in June.", document)
    )
    assert 0.3 < covered.value < 0.7
    assert ClaimsCovered().measure(material("Paid leave ends in May.", document)).value == 1
    assert ClaimsCovered().measure(material("The bonus follows in June.", document)).value == 0
    assert ClaimsCovered().measure(material("Great!", document)).value is None


def test_a_refusal_is_as_justified_as_the_documents_are_silent():
    document, refusal = ["A draft invoice can be deleted."], "I cannot find that in the documentation."

    def justified(question, answer=refusal):
        return RefusalJustified().measure(material(answer, document, question)).value

    assert justified("How do I delete a draft invoice?") == 0
    assert justified("How do I cancel my holiday?") == 1
    assert 0 < justified("How do I delete a draft holiday?") < 1
    assert justified("How do I delete a draft invoice?", "Click it.") is None


CODES = "- **404**: the page does not exist.\n- **403**: you are not allowed to see it."


def mismatch(answer, question="I got error 404", context=(CODES,)):
    return ErrorMismatch().measure(material(answer, context, question))


def test_an_error_is_explained_as_the_one_asked_about_as_another_or_as_none():
    right, wrong = mismatch("The page does not exist."), mismatch("You are not allowed to see it.")
    assert (right.value, right.evidence) == (1, ())
    assert wrong.value == 0
    assert {kind for kind, _ in kinds(wrong)} == {"error_mismatch"}
    assert 0 < mismatch("The page does not exist, you are not allowed to see it.").value < 1
    assert mismatch("Try it again tomorrow.").value is None


@pytest.mark.parametrize(
    ("question", "context"),
    [
        ("I got an error", (CODES,)),
        ("I got error 500", (CODES,)),
        ("I got error 404", ("- **404**: the page does not exist.",)),
        ("I got error 404", ()),
    ],
)
def test_without_both_explanations_errors_are_not_compared(question, context):
    assert mismatch("You are not allowed to see it.", question, context).value is None


def test_explanations_of_several_documents_are_taken_together():
    apart = (
        "**404**: the page does not exist.",
        "**404**: a bookmark vanished.",
        "**403**: you are not allowed.",
    )
    value = mismatch("The page does not exist, the bookmark vanished.", context=apart)
    assert (value.value, value.evidence) == (1, ())
    one = mismatch("The page does not exist.", context=apart)
    assert one.value == 1, "the second does not take the place of the first"


def test_an_explanation_begins_on_the_line_of_its_code_where_that_is_the_first_of_it():
    before = "Nobody may enter: error 403.\n\nThe page vanished: error 404."
    assert mismatch("The page vanished.", context=(before,)).value == 1
    assert mismatch("Nobody may enter.", context=(before,)).value == 0


PLANS = "# Plans\n\nChoose a plan:\n\n- Basic: $10\n- Team: $25\n\nAsk us.\n"


def test_numbers_of_listed_things_are_known_and_others_are_shown():
    follows, refuted = (material(f"There are {n} plans.", [PLANS], "") for n in (2, 20))
    assert (FiguresFollow().measure(follows).value, FiguresFollow().measure(follows).evidence) == (1, ())
    ((kind, text),) = kinds(FiguresFollow().measure(refuted))
    assert (kind, "20" in text) == ("refuted_figure", True)
    assert NumbersKnown().measure(follows).value == 1
    assert kinds(NumbersKnown().measure(refuted)) == [("unknown_number", "20")]
    assert FiguresFollow().measure(material("Choose Team.", [PLANS], "")).value is None


def test_a_count_that_follows_is_covered_though_its_words_stand_nowhere_together():
    document = ["# Export\n\nFormat,Size\nCSV,small\nJSON,large\nPDF,large\n\nAsk us.\n"]
    assert ClaimsCovered().measure(material("There are 3 formats in total.", document)).value == 1
    assert ClaimsCovered().measure(material("There are 5 formats in total.", document)).value < 1
