"""How many things there are is counted in tables and lists."""

from dataclasses import replace

import pytest

from scoring.figures.figure_checking import check_clause
from tests.unit.scoring.figures.figures_support import LEXICONS, checked, outcome, prepared

PLANS_EN = """# Plans

Choose the plan that fits your team:

- Basic: € 9 per month
- Team: € 19 per month
- Business: € 29 per month

You can change plans at any time.
"""
PLANS_NL = """# Abonnementen

Er zijn abonnementen voor ieder:

- Basis
  voor beginners
- Team
- Zakelijk

Je kunt op elk moment wisselen.
"""
ROLES_EN = """# Roles

| Role | Can edit |
|---|---|
| Owner | yes |
| Editor | yes |
| Guest | no |

Ask us.
"""
FORMATS_NL = """# Exporteren

Je kunt in deze formaten exporteren:

- CSV
- JSON
- PDF

Een export duurt een paar minuten.
"""

COUNTED = [
    # (claim, its document, language, a wrong one)
    ("There are 3 plans", PLANS_EN, "en", "There are 4 plans"),
    ("There are three plans", PLANS_EN, "en", "There are six plans"),
    ("In total there are 3 plans", PLANS_EN, "en", "In total there are 4 plans"),
    ("There are more than 2 plans", PLANS_EN, "en", "There are more than 4 plans"),
    ("Er zijn drie abonnementen", PLANS_NL, "nl", "Er zijn vijf abonnementen"),
    ("There are 3 roles", ROLES_EN, "en", "There are 7 roles"),
    ("Er zijn 3 formaten", FORMATS_NL, "nl", "Er zijn 4 formaten"),
]


@pytest.mark.parametrize(("claim", "document", "language", "wrong"), COUNTED)
def test_a_number_of_listed_things_is_confirmed_and_another_one_refuted(claim, document, language, wrong):
    assert outcome(claim, document, language) == "supported"
    assert outcome(wrong, document, language) == "contradicted"


def test_what_was_counted_is_told():
    found = checked("There are 5 roles", ROLES_EN, "en", offset=10)
    assert (found.start, found.end, found.open_spans) == (20, 21, ())
    assert found.derivation.formula == "3 rows"
    assert [row.text for row in found.derivation.rows] == ["Owner", "Editor", "Guest"]
    assert all(ROLES_EN[row.start : row.end] == row.text for row in found.derivation.rows)


@pytest.mark.parametrize(
    "claim",
    [
        "There are two roles on Sundays",
        "Two roles can edit",
        "There are not two roles",
        "60% of the roles can edit",
        "Two of the three roles can edit",
    ],
)
def test_a_claim_that_says_more_than_how_many_there_are_is_not_checkable(claim):
    assert outcome(claim, ROLES_EN, "en") == "not_checkable"


def test_a_limit_is_no_number_of_things():
    assert outcome("You can have up to 5 roles", ROLES_EN, "en") is None


def test_a_row_of_totals_is_not_counted():
    text = ROLES_EN.replace("\n\nAsk", "\n| Total | 2 |\n\nAsk")
    assert outcome("There are 3 roles", text, "en") == "supported"


def test_two_lists_of_one_name_that_differ_settle_nothing():
    other = PLANS_EN.replace("- Business: € 29 per month\n", "")
    assert outcome("There are 3 plans", (PLANS_EN, PLANS_EN), "en") == "supported"
    assert outcome("There are 3 plans", (PLANS_EN, other), "en") == "not_checkable"
    assert outcome("There are 4 plans", (PLANS_EN, other), "en") == "not_checkable"


@pytest.mark.parametrize(
    "text",
    [
        FORMATS_NL.replace("in deze formaten", "in formaten zoals deze"),
        FORMATS_NL.replace("\nEen export duurt een paar minuten.\n", ""),
        FORMATS_NL.replace("- PDF", "- JSON"),
    ],
    ids=["examples", "edge", "twice"],
)
def test_a_list_that_may_have_more_or_less_refutes_nothing(text):
    assert outcome("Er zijn 4 formaten", text, "nl") == "not_checkable"


@pytest.mark.parametrize("claim", ["Klik op Opslaan.", "De omzet in maart was € 1.350.", ""])
def test_what_claims_nothing_that_follows_from_data_is_no_claim(claim):
    assert checked(claim, PLANS_NL, "nl") is None


def test_a_language_without_words_for_figures_claims_none():
    lexicon = replace(LEXICONS["en"], figures=None)
    assert check_clause("There are four plans", 0, lexicon, {"d-1": prepared(PLANS_EN, "en")}) is None
