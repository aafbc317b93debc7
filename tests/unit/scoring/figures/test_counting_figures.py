"""How many things there are, and how many may something, is counted in tables and lists."""

import pytest

from tests.unit.scoring.figures.figures_support import checked, outcome

PLANS_EN = """# Plans

Choose the plan that fits your team:

- Basic: € 9 per month
- Team: € 19 per month
- Business: € 29 per month

You can change plans at any time.
"""
PLANS_NL = """# Abonnementen

- Basis
  voor beginners
- Team
- Zakelijk

Je kunt op elk moment wisselen.
"""
ROLES_EN = """# Roles

| Role | Can edit | Can export |
|---|---|---|
| Owner | yes | ✓ |
| Manager | yes | ✓ |
| Editor | yes | ✓ |
| Author | yes | - |
| Guest | no | - |

Ask an owner.
"""
ROLES_NL = """# Rollen

Rol;Mag bewerken;Mag exporteren
Eigenaar;ja;ja
Redacteur;ja;ja
Auteur;ja;nee
Gast;nee;nee

Vraag het een eigenaar.
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
    ("Er zijn drie abonnementen", PLANS_NL, "nl", "Er zijn vijf abonnementen"),
    ("There are 5 roles", ROLES_EN, "en", "There are 7 roles"),
    ("3 roles can export", ROLES_EN, "en", "5 roles can export"),
    ("In total 4 roles can edit", ROLES_EN, "en", "In total 3 roles can edit"),
    ("60% of the roles can export", ROLES_EN, "en", "80% of the roles can export"),
    ("Three of the five roles can export", ROLES_EN, "en", "Two of the five roles can export"),
    ("Three of the five roles can export", ROLES_EN, "en", "Three of the six roles can export"),
    ("More than 2 roles can export", ROLES_EN, "en", "More than 4 roles can export"),
    ("Twee rollen mogen exporteren", ROLES_NL, "nl", "Drie rollen mogen exporteren"),
    ("50% van de rollen mag exporteren", ROLES_NL, "nl", "75% van de rollen mag exporteren"),
    ("Er zijn 3 formaten", FORMATS_NL, "nl", "Er zijn 4 formaten"),
]


@pytest.mark.parametrize(("claim", "document", "language"), [each[:3] for each in COUNTED])
def test_a_number_of_listed_things_is_confirmed(claim, document, language):
    assert outcome(claim, document, language) == "confirmed"


@pytest.mark.parametrize(("wrong", "document", "language"), [(each[3], *each[1:3]) for each in COUNTED])
def test_another_number_of_them_is_refuted(wrong, document, language):
    assert outcome(wrong, document, language) == "refuted"


def test_what_was_counted_is_told():
    found = checked("5 roles can export", ROLES_EN, "en", offset=10)
    assert (found.start, found.end) == (10, 11)
    assert found.derivation.formula == "3 of 5 rows"
    assert [cell.text for cell in found.derivation.cells] == ["Owner", "Manager", "Editor"]
    assert all(ROLES_EN[cell.start : cell.end] == cell.text for cell in found.derivation.cells)


@pytest.mark.parametrize(
    ("claim", "document", "language", "obstacle"),
    [
        ("Two roles cannot export", ROLES_EN, "en", "unknown_words"),
        ("Two roles can edit and export", ROLES_EN, "en", "unknown_words"),
        ("Two roles can export on Sundays", ROLES_EN, "en", "unknown_words"),
        ("Two thirds of the roles can export", ROLES_EN, "en", "data"),
        ("De helft van de abonnementen is gratis", PLANS_NL, "nl", "data"),
    ],
)
def test_what_is_not_clear_is_not_checkable(claim, document, language, obstacle):
    assert outcome(claim, document, language) == obstacle


def test_a_share_is_as_precise_as_it_is_written():
    three = "Pakket;Gratis\nBasis;ja\nTeam;nee\nZakelijk;nee\n\nKies zelf.\n"
    assert outcome("33% van de pakketten is gratis", three, "nl") == "confirmed"
    assert outcome("34% van de pakketten is gratis", three, "nl") == "rounding"
    assert outcome("40% van de pakketten is gratis", three, "nl") == "refuted"


def test_a_limit_is_no_number_of_things():
    assert outcome("You can have up to 5 roles", ROLES_EN, "en") is None


def test_two_lists_of_one_name_that_differ_settle_nothing():
    other = PLANS_EN.replace("- Business: € 29 per month\n", "")
    assert outcome("There are 3 plans", (PLANS_EN, PLANS_EN), "en") == "confirmed"
    assert outcome("There are 3 plans", (PLANS_EN, other), "en") == "several_data"
    assert outcome("There are 4 plans", (PLANS_EN, other), "en") == "several_data"


def test_examples_are_not_all():
    some = FORMATS_NL.replace("in deze formaten", "in formaten zoals deze")
    assert outcome("Er zijn 4 formaten", some, "nl") not in {"confirmed", "refuted"}
