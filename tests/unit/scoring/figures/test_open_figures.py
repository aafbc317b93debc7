"""A figure that may follow from data is left open; an invented one is not, and a true one is not unknown."""

import pytest

from scoring.features.figures import UNKNOWN_NUMBER, NumbersKnown
from tests.unit.scoring.figures.figures_support import checked, open_in, outcome, said
from tests.unit.scoring.scoring_support import material

# Sentences as people say them over small documents: what is true of these, what is not, what follows from
# them by more than one computation ("unclear"), and what no data of theirs could give ("invented").
TRUE = [*said("figures", "true"), *said("indirect", "true", "unclear")]
UNTRUE = [*said("figures", "false"), *said("indirect", "false", "invented")]


@pytest.mark.parametrize(("sentence", "text", "language"), TRUE)
def test_what_is_true_is_not_refuted(sentence, text, language):
    assert outcome(sentence, text, language) != "contradicted"


@pytest.mark.parametrize(("sentence", "text", "language"), UNTRUE)
def test_what_is_not_true_is_not_confirmed(sentence, text, language):
    assert outcome(sentence, text, language) != "supported"


@pytest.mark.parametrize(("file", "blocked", "sentences"), [("figures", 12, 161), ("indirect", 1, 164)])
def test_few_true_sentences_have_a_number_that_counts_as_invented(file, blocked, sentences):
    true = said(file, "true", "unclear")
    unknown = [
        sentence
        for sentence, text, language in true
        for each in NumbersKnown().measure(material(sentence, text, language=language)).evidence
        if each.kind == UNKNOWN_NUMBER
    ]
    assert (len({*unknown}), len(true)) == (blocked, sentences)


@pytest.mark.parametrize(("sentence", "text", "language"), said("indirect", "invented"))
def test_what_no_data_could_give_is_not_open(sentence, text, language):
    # Bare numbers beside it may be of any unit.
    is_open = sentence == "In total, attachments can be 40 MB."
    figures = open_in(sentence, text, language)
    assert any("€" in figure or figure[:1].isdigit() for figure in figures) is is_open


PRICES = (
    "# Prices\n\nA day ticket costs € 49. A child pays € 25.\n\nReminders come after 7 and after 14 days.\n"
)
HOURS = "# Opening hours\n\n- Monday: 9:00 - 17:00\n- Tuesday: 9:00 - 21:00\n\nCall us.\n"
ROLES = "# Roles\n\n| Role | Can edit |\n|---|---|\n| Owner | yes |\n| Guest | no |\n\nAsk us.\n"
SALES = "# Sales\n\nIn euros:\n\n| Month | Revenue |\n|---|---|\n| January | 1,200 |\n| February | 1,500 |\n"
DATES = "# Project\n\nStart date: March 3, 2024\nEnd date: 2024-04-12\n"
PAYING = "# Prices\n\nYou can pay with:\n\n- Visa\n- PayPal\n\nAsk us.\n"


@pytest.mark.parametrize(
    ("sentence", "text", "figures"),
    [
        ("A day ticket costs € 79", PRICES, []),
        ("A day ticket and a child ticket cost € 74 together", PRICES, ["€ 74"]),
        ("A locker costs € 5 in total", PRICES, []),
        ("In total that is € 74", PRICES, ["€ 74"]),
        ("In total a day ticket costs € 49", PRICES, ["€ 49"]),
        ("A day ticket is 96% more expensive than a child ticket", PRICES, ["96%"]),
        ("The most expensive ticket costs € 79", PRICES, []),
        ("The third reminder comes after 30 days", PRICES, []),
        ("On Monday we are open 8 hours", HOURS, ["8 hours"]),
        ("Parking is free for 8 hours", HOURS, []),
        ("50% of the roles can edit", ROLES, ["50%"]),
        ("You can have up to 5 roles", ROLES, []),
        ("The total revenue was 2,700 euro", SALES, ["2,700 euro"]),
        ("Revenue was 300 higher in February", SALES, ["300"]),
        ("There are 40 days between the start date and the end date", DATES, ["40 days"]),
        ("There are 2 ways to pay", PAYING, ["2"]),
    ],
)
def test_a_figure_is_open_by_what_is_said_of_it_and_what_stands_beside_others(sentence, text, figures):
    assert open_in(sentence, text, "en") == figures


def test_what_is_open_makes_its_clause_not_checkable():
    found = checked("A day ticket and a child ticket cost € 74 together", PRICES, "en", offset=7)
    assert (found.status, found.start, found.end, found.derivation) == ("not_checkable", 7, 57, None)
