"""A figure that may follow from data is left open where it cannot be computed; an invented one is not."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.unit.scoring.figures.figures_support import checked, outcome

DOCUMENTS = tomllib.loads((Path(__file__).parents[1] / "data" / "indirect.toml").read_text("utf-8"))[
    "documents"
]


def said(*kinds):
    """The sentences of these kinds, each with its document and language."""
    return [
        pytest.param(sentence, document["text"], document["language"], id=sentence)
        for document in DOCUMENTS
        for kind in kinds
        for sentence in document[kind]
    ]


def open_in(sentence, text, language):
    found = checked(sentence, text, language)
    return [sentence[start:end] for start, end in found.open_spans] if found else []


@pytest.mark.parametrize(("sentence", "text", "language"), said("true"))
def test_what_is_true_is_not_refuted(sentence, text, language):
    assert outcome(sentence, text, language) != "refuted"


@pytest.mark.parametrize(("sentence", "text", "language"), said("false", "invented"))
def test_what_is_not_true_is_not_confirmed(sentence, text, language):
    assert outcome(sentence, text, language) != "confirmed"


@pytest.mark.parametrize(("sentence", "text", "language"), said("unclear"))
def test_what_cannot_be_computed_is_neither(sentence, text, language):
    assert outcome(sentence, text, language) not in {None, "confirmed", "refuted"}


@pytest.mark.parametrize(("sentence", "text", "language"), said("invented"))
def test_what_no_data_could_give_is_not_open(sentence, text, language):
    assert not any("€" in figure or figure[:1].isdigit() for figure in open_in(sentence, text, language))


def test_most_are_computed():
    true, false = (Counter(outcome(*each.values) for each in said(kind)) for kind in ("true", "false"))
    assert (sum(true.values()), sum(false.values())) == (145, 142)
    assert true["confirmed"] >= 106
    assert false["refuted"] >= 106


PRICES = (
    "# Prices\n\nA day ticket costs € 49. A child pays € 25.\n\nReminders come after 7 and after 14 days.\n"
)
HOURS = "# Opening hours\n\n- Monday: 9:00 - 17:00\n- Tuesday: 9:00 - 21:00\n\nCall us.\n"


@pytest.mark.parametrize(
    ("sentence", "text", "figures"),
    [
        ("A day ticket costs € 79", PRICES, []),
        ("A day ticket and a child ticket cost € 74 together", PRICES, ["€ 74"]),
        ("A locker costs € 5 in total", PRICES, []),
        ("In total a day ticket costs € 49", PRICES, ["€ 49"]),
        ("A day ticket is 96% more expensive than a child ticket", PRICES, ["96%"]),
        ("The most expensive ticket costs € 79", PRICES, []),
        ("The third reminder comes after 30 days", PRICES, []),
        ("On Monday we are open 8 hours", HOURS, ["8 hours"]),
        ("Parking is free for 8 hours", HOURS, []),
    ],
)
def test_a_figure_is_open_by_what_is_said_of_it_and_what_stands_beside_others(sentence, text, figures):
    assert open_in(sentence, text, "en") == figures


def test_what_is_refuted_is_not_open():
    text = "Prices:\n\n- Basic: $10\n- Team: $25\n\nAsk us.\n"
    found = checked("Team is $20 more expensive than Basic", text, "en")
    assert (found.outcome, found.open_spans) == ("refuted", ())


def test_words_that_are_said_of_anything_leave_no_claim_open():
    text = "Attachments: 25 MB\nMailbox: 2 GB\nAliases: 10\n\nAsk us.\n"
    assert not checked("You can find more attachments in the archive", text, "en").is_about_data
    assert checked("Aliases are more than attachments", text, "en").is_about_data
