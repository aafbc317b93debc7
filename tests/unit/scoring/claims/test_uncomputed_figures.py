"""A figure that may follow from the data and cannot be computed is reviewed; an invented one is blocked."""

import pytest

from scoring import Exchange, Passage, Policy, Scorer
from scoring.values.checked_claims import ClaimStatus

SCORER = Scorer()
PLANS = {
    "en": """# Plans

Choose a plan:

- Basic: € 9 per month
- Team: € 19 per month
- Business: € 29 per month

You can change plans at any time.
""",
    "nl": """# Abonnementen

- Basis: € 9 per maand
- Team: € 19 per maand
- Zakelijk: € 29 per maand

Je kunt op elk moment wisselen.
""",
}


def judged(answer, language="en"):
    assessment = SCORER.score(
        Exchange("What does it cost?", answer, (Passage("plans", PLANS[language]),), language)
    )
    decided = Policy().decide(assessment)
    return decided.decision, decided.reasons[0], [claim.status for claim in assessment.claims]


OPEN = [
    ("Two of the three plans have support by phone.", "en"),
    ("Cumulatively, the plans cost € 85.", "en"),
    ("Samen kosten de abonnementen € 57.", "nl"),
]


@pytest.mark.parametrize(
    ("answer", "language", "reason"),
    [
        ("A year of the Team plan costs € 228.", "en", "derived_number"),
        ("Een jaar Team kost € 228.", "nl", "derived_number"),
        *((*case, "no_applicable_feature") for case in OPEN),
    ],
)
def test_a_figure_that_may_follow_is_not_checkable_and_reviewed(answer, language, reason):
    assert judged(answer, language) == ("review", reason, [ClaimStatus.NOT_CHECKABLE])


@pytest.mark.parametrize(
    ("answer", "language"),
    [
        ("The Team plan costs € 79 per month.", "en"),
        ("There are three plans, and Basic costs € 12 per month.", "en"),
        ("You can have up to 8 plans.", "en"),
        ("Team kost € 79 per maand.", "nl"),
        ("A year of the Team plan costs € 228. Basic costs € 12 per month.", "en"),
    ],
)
def test_an_invented_number_is_blocked(answer, language):
    assert judged(answer, language)[:2] == ("blocked", "unknown_number")


def test_a_claim_that_the_documents_have_as_it_stands_is_supported_though_it_cannot_be_computed():
    text = "# Fees\n\nOn average the median fee is € 9.\n\n- Low: € 5\n- High: € 20\n\nAsk us.\n"
    assessment = SCORER.score(
        Exchange("What is it?", "On average the median fee is € 9.", (Passage("fees", text),), "en")
    )
    assert [claim.status for claim in assessment.claims] == [ClaimStatus.SUPPORTED]


def test_a_refuted_figure_contradicts_also_where_its_number_stands_nowhere():
    decision, _, statuses = judged("There are 5 plans.")
    assert (decision, statuses) == ("blocked", [ClaimStatus.CONTRADICTED])


@pytest.mark.parametrize(
    ("answer", "language"),
    [
        ("Op die manier betaal je voor Team en Basis samen € 28.", "nl"),
        ("Together, Team and Basic cost 28 €.", "en"),
    ],
)
def test_a_figure_at_the_end_belongs_to_its_claim_with_its_sign(answer, language):
    assessment = SCORER.score(Exchange("?", answer, (Passage("plans", PLANS[language]),), language))
    assert "28" in assessment.claims[0].text
    assert not any(feature.evidence for feature in assessment.features if feature.name == "numbers_known")
