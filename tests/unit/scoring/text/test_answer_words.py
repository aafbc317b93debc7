import pytest

from scoring.features.complex_answer import ComplexAnswer
from scoring.features.prompt_overlap import PromptOverlap
from tests.unit.scoring.scoring_support import kinds, material


@pytest.mark.parametrize(
    ("answer", "language", "value"),
    [
        ("Click Save.", "en", 0),
        ("It fails because the year is closed.", "en", 0.25),
        ("In general it fails because the year is closed, however a draft, for example, is open.", "en", 1),
        ("Dat kan niet, omdat het jaar dicht is.", "nl", 0.25),
        ("Meestal kan dat, echter niet bijvoorbeeld in maart, omdat het jaar dan dicht is.", "nl", 1),
    ],
)
def test_complex_answer_counts_the_kinds_of_signal_words(answer, language, value):
    assert ComplexAnswer().measure(material(answer, language=language)).value == value


def test_a_signal_word_is_evidence_of_its_kind():
    value = ComplexAnswer().measure(material("It fails because of that, because."))
    assert kinds(value) == [("reasoning_signal", "because")]


@pytest.mark.parametrize(
    ("question", "answer", "language", "value"),
    [
        ("How do I extend a contract?", "You extend contracts in HR.", "en", 1),
        ("How do I extend a contract?", "A contract ends.", "en", 0.5),
        ("How do I extend a contract?", "No idea.", "en", 0),
        ("Hoe verleng ik een contract?", "Contracten kun je verlengen.", "nl", 1),
        ("Can I?", "Yes, you can.", "en", None),
        ("How do I extend a contract?", "", "en", None),
    ],
)
def test_prompt_overlap_is_the_share_of_the_questions_content_words(question, answer, language, value):
    assert PromptOverlap().measure(material(answer, question=question, language=language)).value == value
