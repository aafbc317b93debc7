"""Numbers: true answers are not blocked however they are said, and most that are untrue are."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from scoring import Exchange, Passage, Scorer
from scoring.features.figures import NumbersKnown
from scoring.policy import Policy
from scoring.values.exchange import Decision
from tests.unit.scoring.scoring_support import material

DOCUMENTS = tomllib.loads((Path(__file__).parents[1] / "data" / "numbers.toml").read_text("utf-8"))[
    "documents"
]


@pytest.fixture(scope="module")
def blocked():
    """Which answers the checks block, by what is true of them; a low score blocks none."""
    scorer, policy = Scorer(), Policy(block_below=1.0)
    found = {"true": [], "false": []}
    for document in DOCUMENTS:
        passage = Passage("help", document["text"], document["title"])
        for kind, answers in found.items():
            for question, answer in document[kind]:
                scored = scorer.score(Exchange(question, answer, (passage,), document["language"]))
                decided = policy.decide(scored)
                answers.append((answer, decided.decision is Decision.BLOCKED, decided.reasons[0]))
    return found


def test_one_true_answer_of_192_is_blocked(blocked):
    """It says "from 1001 on" where the page has "more than 1.000"."""
    assert len(blocked["true"]) == 192
    assert [answer for answer, is_blocked, _ in blocked["true"] if is_blocked] == [
        "Dat kan. Vanaf 1001 gebruikers maakt verkoop een offerte."
    ]


def test_most_untrue_answers_are_blocked(blocked):
    """70 of 83; before numbers were read by all their readings 71, and 81 of the 192 true ones."""
    reasons = Counter(reason for _, is_blocked, reason in blocked["false"] if is_blocked)
    assert len(blocked["false"]) == 83
    assert reasons.total() >= 70
    assert reasons["unknown_number"] >= 62


def evidence(language, document, answer, question="?"):
    found = NumbersKnown().measure(material(answer, document, question=question, language=language))
    return [(each.kind, each.text) for each in found.evidence]


@pytest.mark.parametrize(
    ("language", "document", "answer"),
    [
        ("nl", "Het kost € 66,00.", "66 euro."),
        ("nl", "Het kost € 1.234,56.", "1234.56 euro"),
        ("en", "Up to 1.500 pieces.", "1500, or 1.5"),
        ("nl", "Van 9.00 tot 12.00 uur.", "Tussen 9 en 12 uur."),
        ("nl", "Vanaf 9.30 uur.", "Om half 10."),
        ("nl", "Tot 15.15 uur.", "Tot kwart over 3."),
        ("en", "From 4:45 pm.", "From quarter to 5."),
        ("en", "Day and night.", "24 hours a day."),
        ("nl", "Binnen drie weken.", "Binnen 21 dagen."),
        ("en", "Within a fortnight.", "Within 14 days."),
        ("nl", "Een half jaar.", "6 maanden."),
        ("nl", "Anderhalf uur.", "90 minuten, of 1,5 uur."),
        ("nl", "Vijfentwintig of tweehonderdvijftig.", "25 of 250"),
        ("en", "Two hundred and five; thirty-one thousand.", "205 and 31,000"),
        ("en", "A quarter of all.", "25%, 0.25 or 1/4"),
        ("nl", "Driekwart van de klanten.", "75%, of 3 van de 4"),
        ("nl", "Het is 5 promille.", "0,5%"),
        ("nl", "2.000 stuks, 1,5 miljoen euro", "2k of 2 duizend, 1.500.000 euro"),
        ("en", "On 2 May 2024, client 2.10.4.", "2/5/2024, client 2.10"),
        ("nl", "Open van 11.30 tot 13.30 uur.", "Van 11u30 tot 13h30."),
        ("nl", "Open tot 17.00 uur.", "Tot 5 bereikbaar."),
        ("nl", "Van middernacht tot 12.00 uur.", "Van 0:00 tot 12 uur 's middags."),
        ("en", "From noon on.", "From 12:00 on."),
        ("en", "Shipping is free of charge.", "Shipping costs € 0."),
        ("nl", "Tot 2 kg.", "Tot 2000 gram."),
        ("en", "Two dozen.", "24"),
    ],
)
def test_a_number_is_known_by_any_reading_of_it(language, document, answer):
    assert evidence(language, document, answer) == []


@pytest.mark.parametrize(
    ("language", "document", "answer", "figure"),
    [
        ("nl", "Het kost € 66,00.", "€ 6600", "6600"),
        ("en", "Client 2.10.4.", "2.10.5", "2.10.5"),
        ("en", "Open until 9 pm.", "Until 9 am.", "9"),
        ("nl", "De tweede herinnering.", "Na 22 dagen.", "22"),
        ("nl", "Open van 9.00 tot 17.00 uur.", "€ 5 per maand", "5"),
        ("nl", "Open van 9.00 tot 17.00 uur.", "Dat is 17 euro.", "17"),
        ("en", "Open from 9:00 to 17:00.", "17 users", "17"),
        ("en", "Open from 9:00 to 17:00.", "17 GB", "17"),
        ("en", "A copy is made every 6 hours.", "At 18:00.", "18:00"),
    ],
)
def test_what_no_reading_gives_is_unknown(language, document, answer, figure):
    assert evidence(language, document, answer) == [("unknown_number", figure)]


@pytest.mark.parametrize(
    ("question", "document", "answer", "figure"),
    [
        ("", "It costs € 19 a month.", "A year is € 228.", "228"),
        ("For 3 users?", "Each user pays € 7.", "That is € 21.", "21"),
        ("", "First 6 weeks, then 4 weeks.", "10 weeks in all.", "10"),
        ("I paid € 50.", "A discount of 20%.", "You save € 10.", "10"),
        ("", "It costs $13.99.", "About $14.", "14"),
        ("", "Monthly price: € 29.", "€ 348 a year.", "348"),
        ("", "The annual fee is € 120.", "€ 10 monthly.", "10"),
        ("", "Half of the deposit, € 250, is returned.", "It is € 500 in all.", "500"),
        ("", "Signed on 1 March 2026 for 14 days.", "It ends on 15 March 2026.", "15"),
        ("", "Sold from 2019 on. It has 5 years of support.", "Until 2024.", "2024"),
        ("", "A class of 12 girls and 15 boys.", "27 in all.", "27"),
        ("", "A pack of 20 costs € 10.", "Each is € 0.50.", "0.50"),
        ("", f"A fine is € 200. {'It is due at once. ' * 20}Pay early and it is 25% less.", "€ 150", "150"),
        ("How much for ten?", "One costs € 5.60, ten cost € 47.60.", "15% less than € 56.", "15"),
    ],
)
def test_what_one_computation_gives_goes_to_review(question, document, answer, figure):
    assert ("derived_number", figure) in evidence("en", document, answer, question)


def test_a_price_a_month_and_a_price_a_year_are_computed_from_compounds():
    assert evidence("nl", "Het maandbedrag is € 12,50.", "€ 150 per jaar.") == [("derived_number", "150")]


@pytest.mark.parametrize("question", ["Can I come at 11?", "Open at 11 on Saturday?", "Come at eleven?"])
def test_an_hour_that_the_question_names_is_known(question):
    assert evidence("en", "Open from 9:00 to 17:00.", "At 11:00 it is open.", question) == []


def test_a_share_that_is_no_percentage_is_taken_only_of_amounts_beside_it():
    text = f"The guarantee is 2 years. {'Have it cleaned. ' * 20}The pressure is 0.5 bar."
    assert evidence("en", text, "You have 3 years.") == [("unknown_number", "3")]
