"""A claim stands in the passage that has most of its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.claims.claim_extraction import claims
from scoring.claims.grounding import ground_words, grounded_claims, question_coverage, sentence_index
from scoring.text.prepared_text import PreparedExchange, PreparedPassage
from tests.unit.scoring.scoring_support import prepared

DOCUMENT = (
    "Paid leave ends in May. The bonus follows in June. Ask the manager for it.\n\n"
    "Invoices are sent by mail. A final invoice keeps its number. Drafts have none. Nobody can change it."
)


def ground(claim, document=DOCUMENT, question="", language="en"):
    (found,) = claims(prepared(claim, language))
    document, question = (sentence_index(prepared(text, language)) for text in (document, question))
    return ground_words(found.words, [document], question), document


@pytest.mark.parametrize(
    ("claim", "document", "language"),
    [
        ("The bonus follows in June.", DOCUMENT, "en"),
        ("The bonuses followed in June.", DOCUMENT, "en"),
        ("De facturen gaan per mail.", "De factuur gaat per mail.", "nl"),
    ],
)
def test_what_a_passage_says_is_there_whatever_the_form_of_its_words(claim, document, language):
    assert ground(claim, document, language=language)[0].share == pytest.approx(1)


def test_words_that_stand_far_apart_do_not_ground_a_claim():
    together, _ = ground("The bonus follows in June.")
    apart, _ = ground("The number of the bonus stays.")
    assert apart.share < together.share


def test_a_compound_counts_for_a_part_of_what_it_names():
    half, _ = ground("Een conceptfactuur.", "Een factuur.", language="nl")
    assert 0.3 < half.share < 0.9


def test_what_the_question_supplies_is_no_invention_and_no_support():
    unasked, _ = ground("The printer works.")
    asked, _ = ground("The printer works.", question="My printer?")
    assert (unasked.share, unasked.document_index) == (0, None)
    assert 0 < asked.share <= 0.7
    assert asked.document_index is None


def test_the_passage_is_no_longer_than_what_the_claim_is_found_in():
    found, document = ground("A final invoice keeps its number.")
    text = DOCUMENT[document.spans[found.first_sentence][0] : document.spans[found.last_sentence][1]]
    assert text == "A final invoice keeps its number"
    wide, document = ground("A final invoice keeps its number, drafts have none.")
    assert wide.last_sentence == wide.first_sentence + 1


def test_refusals_are_weighed_by_what_the_documents_say_of_the_question():
    def asked(question):
        document = PreparedPassage("d", prepared(DOCUMENT, "en"))
        return question_coverage(
            PreparedExchange(prepared(question, "en"), prepared("I don't know.", "en"), (document,))
        )

    assert asked("When does paid leave end?") > 0.9
    assert asked("How do I bake bread?") == 0
    assert asked("?") == 0


@given(st.text(max_size=120), st.text(max_size=120), st.text(max_size=60))
def test_shares_are_between_nothing_and_all_for_whatever_texts(answer, document, question):
    texts = [prepared(text, "en") for text in (question, answer, document)]
    material = PreparedExchange(texts[0], texts[1], (PreparedPassage("d", texts[2]),))
    for each in grounded_claims(material):
        if each.grounding:
            assert 0 <= each.grounding.share <= 1
            assert each.grounding.weight > 0
