"""Every claim has a status, and its passage is a span of its document."""

import pytest

from scoring import Exchange, Passage, Policy, Scorer
from scoring.values.checked_claims import ClaimStatus, faithfulness
from streams.cli.demo.sample import sample_answers, sample_documents

SCORER = Scorer()
LINK = Passage(
    "link", "The link works for 24 hours.\n\nClick **Renew** for another.", "The link", version="v7"
)


def check(answer, question="For how many hours does the link work?", passage=LINK):
    return SCORER.score(Exchange(question, answer, (passage,), "en"))


@pytest.mark.parametrize(
    ("answer", "status", "mistake"),
    [
        ("The link works for 24 hours.", ClaimStatus.SUPPORTED, None),
        ("It is sent to your manager's telephone.", ClaimStatus.NOT_FOUND, "non_appearing_statement"),
        ("The link works for 48 hours.", ClaimStatus.CONTRADICTED, "answer_contradiction"),
        ("Click **Prolong** for another link.", ClaimStatus.NOT_FOUND, "unspecified_components"),
        ("Great question!", ClaimStatus.NOT_CHECKABLE, None),
        ("The documentation does not say how long.", ClaimStatus.CONTRADICTED, "context_limitation"),
    ],
)
def test_each_status_is_given_with_the_kind_of_the_mistake(answer, status, mistake):
    (claim,) = check(answer).claims
    assert (claim.status, claim.mistake) == (status, mistake)
    assert (claim.support is None) == (mistake in (None, "context_limitation") and status != "supported")


def test_the_explanation_of_another_error_code_contradicts_the_documents():
    codes = Passage("codes", "- **404**: the page does not exist.\n- **403**: you are not allowed to see it.")
    (claim,) = check("It means that you are not allowed to see it.", "I got error 404", codes).claims
    assert (claim.status, claim.mistake) == (ClaimStatus.CONTRADICTED, "error_mismatch")


def test_a_supported_claim_has_version_and_span_of_its_passage():
    (claim,) = check("The link works for 24 hours.").claims
    source = claim.source
    assert (source.document_id, source.version, source.text) == ("link", "v7", "The link works for 24 hours.")
    assert LINK.text[source.start : source.end] == source.text


def test_a_title_supports_a_claim_and_is_not_its_source():
    passage = Passage("d", "Here you see everything.", "Declaring kilometres")
    (claim,) = check("You are declaring kilometres.", passage=passage).claims
    assert (claim.status, claim.source) == (ClaimStatus.SUPPORTED, None)


@pytest.mark.parametrize("language", ["nl", "en"])
def test_spans_of_claims_and_passages_of_the_sample_are_right(language):
    documents = {each.document_id: each for each in sample_documents(language)}
    checked = 0
    for answer in sample_answers(language):
        passages = tuple(Passage(i, documents[i].text, documents[i].title) for i in answer.document_ids)
        assessment = SCORER.score(Exchange(answer.question, answer.answer, passages, language))
        for claim in assessment.claims:
            assert answer.answer[claim.start : claim.end] == claim.text
            if claim.source:
                text = documents[claim.source.document_id].text
                assert text[claim.source.start : claim.source.end] == claim.source.text
                checked += 1
    assert checked > 50


def test_faithfulness_is_the_share_of_supported_claims_among_those_that_can_be_checked():
    assessment = check("Hi! The link works for 24 hours. It is sent to your manager's telephone. Good luck!")
    assert faithfulness(assessment.claims) == 0.5
    assert faithfulness(check("Great question!").claims) is None
    paper = Scorer("paper").score(Exchange("How?", "It works for 24 hours.", (LINK,), "en"))
    assert (paper.claims, paper.support, faithfulness(paper.claims)) == ((), None, None)


ROLES = Passage(
    "roles",
    "| Role | Can edit |\n|---|---|\n| Owner | yes |\n| Guest | no |\n\nAsk us.\n",
    "Roles",
    version="v1",
    offset=40,
)


def test_a_figure_that_follows_from_the_data_is_supported_by_its_derivation():
    assessment = check("There are two roles.", "Which roles are there?", ROLES)
    (claim,) = assessment.claims
    assert (claim.status, claim.derivation) == (ClaimStatus.SUPPORTED, "2 rows")
    assert (claim.source.text[:5], claim.source.text[-5:]) == ("Owner", "Guest")
    # The span is that in the whole document, of which the passage is a part.
    start = claim.source.start - ROLES.offset
    assert ROLES.text[start : start + len(claim.source.text)] == claim.source.text
    assert assessment.contradiction == 0


def test_a_figure_that_does_not_follow_contradicts_the_data_and_is_reviewed():
    assessment = check("There are 4 roles.", "Are there 4 roles?", ROLES)
    (claim,) = assessment.claims
    assert (claim.status, claim.mistake) == (ClaimStatus.CONTRADICTED, "answer_contradiction")
    assert claim.derivation == "2 rows"
    assert str(assessment.reason) == "refuted_figure"
    assert Policy().decide(assessment).decision == "review"
