import pytest

from scoring.features.word_combinations import SubjectCombination
from tests.unit.scoring.scoring_support import kinds, material

DOCUMENT = "The manager approves the request. The invoice is sent at night. Employees see their payslip."


def measure(answer, context=DOCUMENT, language="en"):
    return SubjectCombination().measure(material(answer, context, language=language))


def test_pairs_of_the_document_are_found_in_any_form():
    assert measure("Managers approve it. The invoices were sent. An employee saw it.").value == 1


def test_another_subject_is_the_evidence_from_subject_to_verb():
    value = measure("The employee approves the request. The invoice is sent.")
    assert value.value == 0.5
    assert kinds(value) == [("unsupported_subject", "employee approves")]


def test_another_verb_is_the_evidence():
    assert kinds(measure("The manager deletes the request.")) == [("unsupported_subject", "manager deletes")]


def test_a_pair_is_counted_once():
    assert measure("The manager approves it. The manager approves that. A dog barks.").value == 0.5


def test_pairs_of_several_documents_count():
    answer = "The manager approves it. The clerk sends it."
    assert measure(answer, (DOCUMENT, "The clerk sends a letter.")).value == 1
    assert measure(answer).value == 0.5


@pytest.mark.parametrize("answer", ["", "Click **Save**.", "You can send it, and it works."])
def test_an_answer_without_a_nominal_subject_is_not_measured(answer):
    assert measure(answer).value is None


def test_without_documents_no_pair_is_supported():
    assert measure("The manager approves it.", ()).value == 0


def test_dutch_subjects_are_found():
    document = "De beheerder verstuurt de factuur."
    assert measure("De beheerder verstuurt de brief.", document, "nl").value == 1
    assert measure("De klant verstuurt de brief.", document, "nl").value == 0
