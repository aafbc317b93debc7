import pytest

from scoring.features.word_combinations import Hal
from tests.unit.scoring.scoring_support import kinds, material

DOCUMENT = (
    "Employees request paid leave in the portal. The manager approves every request within five days.\n\n"
    "The bookkeeper closes the period on the last working day. A closed period cannot be reopened."
)


def measure(answer, context=DOCUMENT, question="", language="en"):
    return Hal().measure(material(answer, context, question, language))


def test_what_the_document_says_has_the_value_one_and_no_evidence():
    value = measure("The manager approves every request within five days.")
    assert (value.value, value.evidence) == (1.0, ())


def test_known_words_that_the_document_keeps_apart_lower_the_value_and_are_the_evidence():
    value = measure("Employees closes the portal.")
    assert value.value < 0.7
    assert kinds(value) == [("unsupported_words", "Employees closes")]


def test_nearer_pairs_weigh_more():
    near = measure("request paid leave", "Request paid leave.")
    far = measure("request paid leave", "Request the one two three four five six paid seven eight leave.")
    assert far.value < near.value == 1.0


def test_a_word_that_no_text_knows_tells_nothing():
    assert measure("The manager quickly approves every request.").value == 1.0


def test_a_number_must_stand_where_the_document_has_it():
    document = "A claim is paid within 14 days. A claim is checked within 30 hours."
    assert measure("A claim is paid within 14 days.", document).value == 1.0
    assert measure("A claim is paid within 21 days.", document).value < 0.7


def test_a_negation_makes_a_difference():
    document = "The draft is visible in the portal."
    elsewhere = "Never panic about a bonus or any other small or late payment that some employer sends."
    assert measure(document, (document, elsewhere)).value == 1
    assert measure("The draft is never visible in the portal.", (document, elsewhere)).value < 1


def test_what_the_user_states_may_be_repeated():
    question = "Can I close the period of our Antwerp branch?"
    assert measure("The Antwerp branch.", question=question).value == 1


def test_several_documents_are_read_as_one_context():
    assert measure("paid leave, closed period", DOCUMENT.split("\n\n")).evidence[0].text == "leave, closed"


def test_an_answer_of_words_that_no_text_knows_has_the_value_nought():
    assert measure("Bananas are yellow fruits.").value == 0


@pytest.mark.parametrize("answer", ["", "Leave.", "...", "the of"])
def test_fewer_than_two_words_are_not_measured(answer):
    assert measure(answer).value is None


def test_dutch_is_measured_on_lemmas():
    document = "De beheerders en de klanten versturen de factuur."
    assert measure("De beheerder en de klant versturen de factuur.", document, language="nl").value == 1
