"""Claims with another value than the one place of the documents that their words lead to."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from scoring import Exchange, Passage, Scorer
from scoring.claims.compared_values import compared_values
from scoring.features.figures import ValuesAgree
from scoring.text.prepared_text import TranslationSource
from scoring.values.checked_claims import ClaimStatus
from tests.unit.scoring.scoring_support import judged, kinds, material

DOCUMENTS = tomllib.loads((Path(__file__).parents[1] / "data" / "contradictions.toml").read_text("utf-8"))[
    "documents"
]
PLANS = DOCUMENTS[0]["text"]


@pytest.fixture(scope="module")
def scorer():
    return Scorer()


def said(kind):
    return [
        pytest.param(sentence, document["text"], document["language"], id=sentence)
        for document in DOCUMENTS
        for sentence in document[kind]
    ]


def contradicted(answer, context, language="en"):
    texts = material(answer, context, language=language)
    return kinds(ValuesAgree().measure(texts))


@pytest.mark.parametrize(("sentence", "text", "language"), said("true"))
def test_what_is_true_is_not_contradicted(sentence, text, language):
    assert contradicted(sentence, text, language) == []


@pytest.mark.parametrize("held_out", [False, True])
def test_most_of_what_a_page_contradicts_is_found(held_out):
    found = [
        bool(contradicted(sentence, document["text"], document["language"]))
        for document in DOCUMENTS
        if document["held_out"] is held_out
        for sentence in document["false"]
    ]
    assert (sum(found), len(found)) == ((53, 57) if held_out else (55, 56))


def test_the_value_is_the_share_of_claims_with_the_value_of_their_place():
    texts = material("Pro costs € 11. Starter has an API. Ask us about discounts.", PLANS)
    assert ValuesAgree().measure(texts).value == 0.5
    assert ValuesAgree().measure(material("Ask us about discounts.", PLANS)).value is None


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        (
            "The Pro plan is € 9.",
            PLANS[PLANS.index("| Plan") : PLANS.index("yes | yes |") + len("yes | yes |")],
        ),
        (
            "A yearly subscription can be cancelled halfway through the year.",
            "A yearly subscription cannot be cancelled halfway through the year.",
        ),
    ],
)
def test_a_contradicted_claim_is_shown_beside_the_table_or_sentence_that_says_otherwise(
    scorer, answer, place
):
    passage = Passage("plans", PLANS, "Plans")
    verdict = judged(scorer, Exchange("What about Pro?", answer, (passage,), "en"))
    (claim,) = verdict.claims
    assert (claim.status, claim.mistake) == ("contradicted", "answer_contradiction")
    assert (claim.source.document_id, claim.source.text) == ("plans", place)
    assert PLANS[claim.source.start : claim.source.end] == place
    assert verdict.decision == "review"
    assert verdict.reasons[0] == "contradicted_value"
    assert verdict.contradiction == 0.9


HOURS = "## Opening hours\n\n| Day | Hours |\n|---|---|\n| Saturday | 10:00 - 13:00 |\n| Sunday | closed |\n"


@pytest.mark.parametrize(
    "sentence",
    ["On Saturday we are open until 17:00.", "We are open on Saturday from 9:00.", "On Sunday we are open."],
)
def test_opening_hours_in_a_table_of_days_are_compared(sentence):
    assert contradicted(sentence, HOURS) != []


@pytest.mark.parametrize(
    "sentence",
    [
        "On Saturday we are open until 13:00.",
        "On Saturday we are open.",
        "On Sunday we are closed.",
        "On Saturday you can come from 11:00.",
        "Sunday: closed.",
    ],
)
def test_opening_hours_that_a_table_of_days_has_are_not_contradicted(sentence):
    assert contradicted(sentence, HOURS) == []


def test_a_claim_that_another_place_bears_out_is_not_contradicted():
    other = "# Prices abroad\n\nPro: € 7\nTeam: € 6\n"
    assert contradicted("The Pro plan is € 7.", [PLANS]) != []
    assert contradicted("The Pro plan is € 7.", [PLANS, other]) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Webhooks can be paused in that case.",
        "This can be paused.",
        "Only webhooks can be paused.",
        "If you are an administrator, webhooks can be paused.",
        "Webhooks cannot not be paused.",
        "Webhooks and imports can be paused.",
    ],
)
def test_a_sentence_that_says_more_than_its_place_is_left_alone(sentence):
    assert contradicted(sentence, "# Webhooks\n\nWebhooks cannot be paused.\n") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "You don't need the API with Team.",
        "Starter will have an API.",
        "Starter lacks an API.",
        "Pro costs € 9 with the discount.",
        "From 1 May Pro costs € 9.",
        "Pro costs € 9 to € 11.",
        "Team has 5 users, not 10.",
        "Team is for no more than 10 users.",
        "Starter or Pro has an API.",
        "A user of Pro costs € 9.",
    ],
)
def test_a_claim_that_says_more_than_its_cell_is_left_alone(sentence):
    assert contradicted(sentence, PLANS) == []


def test_who_does_it_to_whom_must_be_the_same():
    text = "Editors cannot remove viewers."
    assert contradicted("Editors can remove viewers.", text)
    assert contradicted("Viewers can remove editors.", text) == []


def test_words_that_lead_to_two_rows_or_columns_say_nothing():
    text = "| Plan | Monthly | Yearly |\n|---|---|---|\n| Pro | € 11 | € 110 |\n| Pro Plus | € 20 | € 200 |\n"
    assert contradicted("Pro costs € 12.", text) == []
    assert contradicted("Pro and Pro Plus cost € 12 monthly.", text) == []
    assert contradicted("Pro costs € 12 monthly.", text)
    assert contradicted("Pro Plus costs € 20 monthly.", text) == []


def test_a_translation_is_not_compared():
    texts = material("The Pro plan is € 7.", PLANS)
    (found,) = compared_values(texts).values()
    assert (found.status, found.document_index) == (ClaimStatus.CONTRADICTED, 0)
    translated = replace(texts.answer, source=TranslationSource(texts.answer.original, ()))
    assert compared_values(replace(texts, answer=translated, _cache={})) == {}


@pytest.mark.parametrize(
    ("text", "sentence", "language"),
    [
        (
            "Exact wordt ondersteund. Twinfield wordt niet ondersteund.",
            "Boekmaat koppelt met Twinfield.",
            "nl",
        ),
        ("Boekmaat koppelt met Exact, AFAS en SnelStart.", "Boekmaat koppelt niet met Exact.", "nl"),
    ],
)
def test_what_a_page_denies_or_lists_by_name_is_contradicted(text, sentence, language):
    assert [kind for kind, _ in contradicted(sentence, text, language)] == ["contradicted_value"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Children over 12 may swim alone.", "Children under 12 may not swim alone."),
        ("You can cancel an order within 3 days.", "No, you can cancel an order within 3 days."),
    ],
)
def test_the_other_side_of_a_bound_and_a_no_that_answers_the_question_contradict_nothing(text, sentence):
    assert contradicted(sentence, text) == []
