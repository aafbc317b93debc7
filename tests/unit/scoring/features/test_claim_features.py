"""Answers that say the opposite of the documents, on documents and answers written for these tests."""

import pytest

from scoring import Exchange, Passage, Scorer
from scoring.features.quantities_known import QuantitiesKnown
from scoring.features.request_possible import RequestPossible
from scoring.features.statements_agree import StatementsAgree
from scoring.features.verdict_agrees import VerdictAgrees
from tests.unit.scoring.scoring_support import judged, kinds, material

LIBRARY = {
    "en": """# Lending rules

You borrow books with your card, and students get one for free. A lost card cannot be replaced online.
Magazines are not lent out. Only librarians can extend a loan twice. Reservations are free of charge.
Returning books at another branch is not possible. A deposit is mandatory for board games. A fine above €
20 will block the card. A book is lent for 21 days.

## Returning books

1. Scan your card.
2. Put the books on the belt.
""",
    "nl": """# Uitleenregels

Je leent boeken met je kaart, en studenten krijgen er een gratis. Een verloren kaart kun je niet online
vervangen. Tijdschriften worden niet uitgeleend. Alleen bibliothecarissen kunnen een lening twee keer
verlengen. Reserveringen zijn gratis. Boeken inleveren bij een andere vestiging is niet mogelijk. Een borg
is verplicht voor bordspellen. Een boete boven € 20 blokkeert de kaart. Een boek leen je 21 dagen.

## Boeken inleveren

1. Scan je kaart.
2. Leg de boeken op de band.
""",
}
VERDICTS = [
    ("en", "Can I replace a lost card online?", "Yes, you find it under your account.", 0.0),
    ("en", "Can I replace a lost card online?", "No, come to the desk.", 1.0),
    ("en", "Are magazines lent out?", "Yes.", 0.0),
    ("en", "Can students extend a loan twice?", "Yes, you can.", 0.0),
    ("en", "Can students extend a loan twice?", "No, ask a librarian.", 1.0),
    ("en", "Are reservations free of charge?", "No, they cost a euro.", 0.0),
    ("en", "Are reservations free of charge?", "Yes, always.", 1.0),
    ("en", "Is a deposit optional for board games?", "Yes.", 0.0),
    ("en", "Does a fine of € 25 block the card?", "No.", 0.0),
    ("en", "Does a fine of € 15 block the card?", "Yes.", 0.0),
    ("en", "Does a fine of € 15 block the card?", "No.", 1.0),
    ("en", "Can't I replace a lost card online?", "Yes, you can.", None),
    ("en", "Is there a cafeteria on the roof?", "Yes, there is.", None),
    ("en", "Can I replace a lost card online?", "Come to the desk.", None),
    ("nl", "Kan ik een verloren kaart online vervangen?", "Ja, in je account.", 0.0),
    ("nl", "Kan ik een verloren kaart online vervangen?", "Nee hoor, kom langs.", 1.0),
    ("nl", "Worden tijdschriften uitgeleend?", "Ja, dat kan.", 0.0),
    ("nl", "Kunnen studenten een lening twee keer verlengen?", "Ja, dat kan.", 0.0),
    ("nl", "Zijn reserveringen gratis?", "Nee, die kosten een euro.", 0.0),
    ("nl", "Blokkeert een boete van € 25 de kaart?", "Nee.", 0.0),
    ("nl", "Blokkeert een boete van € 15 de kaart?", "Nee.", 1.0),
]


@pytest.mark.parametrize(("language", "question", "answer", "value"), VERDICTS)
def test_a_yes_or_no_is_that_of_the_sentence_that_answers_the_question(language, question, answer, value):
    found = VerdictAgrees().measure(material(answer, LIBRARY[language], question, language))
    assert found.value == value
    said = [("contradicted_verdict", answer.rstrip(".").split(",")[0].split()[0])]
    assert kinds(found) == (said if value == 0 else [])


def test_a_no_is_not_contradicted_by_a_rule_that_may_have_exceptions():
    document = "You can borrow a laptop within 24 hours of registration."
    question = "I registered 5 hours ago, can I borrow a laptop?"
    value = VerdictAgrees().measure(material("No, only students can.", document, question))
    assert kinds(value) == []


@pytest.mark.parametrize(
    ("language", "answer", "contradicted"),
    [
        ("en", "A lost card can be replaced online.", ["A lost card can be replaced online"]),
        ("en", "A deposit is optional for board games.", ["A deposit is optional for board games"]),
        ("en", "A deposit is not mandatory for board games.", ["A deposit is not mandatory for board games"]),
        ("en", "A deposit is not optional for board games.", []),
        ("en", "Reservations are free. Magazines are lent out.", ["Magazines are lent out"]),
        ("en", "Magazines cannot be lent out.", []),
        ("en", "The cafeteria is not open.", []),
        ("nl", "Een verloren kaart kun je online vervangen.", ["Een verloren kaart kun je online vervangen"]),
        (
            "nl",
            "Een borg is niet verplicht voor bordspellen.",
            ["Een borg is niet verplicht voor bordspellen"],
        ),
        ("nl", "Een verloren kaart is niet online te vervangen.", []),
    ],
)
def test_a_statement_turned_round_is_found_and_one_in_other_words_is_not(language, answer, contradicted):
    value = StatementsAgree().measure(material(answer, LIBRARY[language], "?", language))
    assert kinds(value) == [("contradicted_statement", text) for text in contradicted]


def test_a_statement_that_a_document_makes_of_one_case_and_denies_of_another_is_not_contradicted():
    documents = ["Adults can reserve a room online.", "Children cannot reserve a room online."]
    assert kinds(StatementsAgree().measure(material("You can reserve a room online.", documents))) == []


@pytest.mark.parametrize(
    ("language", "question", "answer", "value"),
    [
        ("en", "How do I return books at another branch?", "1. Scan your card.\n2. Use the belt.", 0.0),
        ("en", "How do I return books at another branch?", "That is not possible, I am afraid.", 1.0),
        ("en", "How do I return books at another branch?", "You can only use your own.", 1.0),
        ("en", "How do I return books?", "1. Scan your card.\n2. Use the belt.", None),
        ("en", "How do I return books at another branch?", "", None),
        (
            "nl",
            "Hoe lever ik boeken in bij een andere vestiging?",
            "1. Scan je kaart.\n2. Gebruik de band.",
            0.0,
        ),
        ("nl", "Hoe lever ik boeken in bij een andere vestiging?", "Dat gaat helaas niet.", 1.0),
        ("nl", "Hoe lever ik boeken in?", "1. Scan je kaart.\n2. Gebruik de band.", None),
    ],
)
def test_who_asks_for_what_cannot_be_done_must_be_told_so(language, question, answer, value):
    found = RequestPossible().measure(material(answer, LIBRARY[language], question, language))
    assert found.value == value
    assert [kind for kind, _ in kinds(found)] == (["denied_request"] if value == 0 else [])


@pytest.mark.parametrize(
    ("answer", "unknown", "value"),
    [
        ("It is lent for 28 days.", ["28"], 0.0),
        ("It is lent for 21 days.", [], 1.0),
        ("It is lent for twenty-one weeks.", [], None),
        ("Two of your 7 days are over.", [], 1.0),
        ("A fine above € 20 or € 50 will block the card.", ["50"], 0.5),
        ("After 21 days you pay, so after 3 weeks.", [], 1.0),
        ("Two fines of € 15 are € 30, so your card stops working.", [], 1.0),
        ("There are 30 seats.", [], None),
    ],
)
def test_a_number_that_neither_documents_nor_question_have_is_unknown(answer, unknown, value):
    texts = material(answer, LIBRARY["en"], "I have had it for 7 days, what now?")
    found = QuantitiesKnown().measure(texts)
    assert kinds(found) == [("unknown_quantity", text) for text in unknown]
    assert found.value == value


CLUB = {
    "en": """# Club rules

Visitors need no membership for the pool. A sauna visit cannot be booked without a membership. You can
bring no more than 3 guests to the pool. Swimming lessons cannot be moved to another day, but you can give
your place to a friend. Coaches can open the gym after closing time. The guest pass is not valid on
Sundays. The sauna is not available on Mondays. A towel is optional in the gym. A reservation is kept
for 15 minutes. You cannot share a locker of the gym. Ask at the desk for a second one.
""",
    "nl": """# Clubregels

Bezoekers hebben geen lidmaatschap nodig voor het zwembad. Een saunabezoek kun je niet boeken zonder
lidmaatschap. Je kunt niet meer dan 3 personen meenemen naar het zwembad. Zwemlessen kun je niet verplaatsen
naar een andere dag, maar je kunt je plek aan een vriend geven. Trainers kunnen de sportzaal openen na
sluitingstijd. De gastenpas is niet geldig op zondag. Een handdoek is optioneel in de sportzaal. Een
reservering blijft 15 minuten staan. Een kluisje van de sportzaal kun je niet delen. Vraag aan de balie om een
tweede.
""",
}


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "Can visitors use the pool without a membership?", "Yes, none is needed."),
        ("en", "Is it forbidden to move swimming lessons to another day?", "Yes."),
        ("en", "Is it impossible to share a locker of the gym?", "Yes, take a second one."),
        ("en", "Is the sauna unavailable on Mondays?", "Yes, it is closed."),
        ("en", "Is the guest pass invalid on Sundays?", "Yes, it is."),
        ("en", "Can I bring 2 guests to the pool?", "Yes, that is fine."),
        ("en", "Can a sauna visit be booked?", "Yes, with a membership."),
        ("en", "Can I move swimming lessons to another day?", "Yes, but not yourself: a friend takes them."),
        ("nl", "Kunnen bezoekers zonder lidmaatschap naar het zwembad?", "Ja, dat hoeft niet."),
        ("nl", "Is het verboden om zwemlessen te verplaatsen naar een andere dag?", "Ja."),
        ("nl", "Is het onmogelijk om een kluisje van de sportzaal te delen?", "Ja, vraag een tweede."),
        ("nl", "Is de gastenpas ongeldig op zondag?", "Ja, dat klopt."),
        ("nl", "Kan ik 2 personen meenemen naar het zwembad?", "Ja, dat is prima."),
        ("nl", "Kan ik een saunabezoek boeken?", "Ja, met een lidmaatschap."),
        (
            "nl",
            "Kan ik zwemlessen naar een andere dag verplaatsen?",
            "Ja, maar niet zelf: een vriend neemt ze.",
        ),
    ],
)
def test_a_yes_to_a_question_that_denies_or_beside_a_limit_or_condition_is_not_contradicted(
    language, question, answer
):
    assert kinds(VerdictAgrees().measure(material(answer, CLUB[language], question, language))) == []


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "Can I bring 5 guests to the pool?", "Yes, that is fine."),
        ("en", "Can I move swimming lessons to another day?", "Yes, call the desk."),
        ("nl", "Kan ik 5 personen meenemen naar het zwembad?", "Ja, dat is prima."),
        ("nl", "Kan ik zwemlessen naar een andere dag verplaatsen?", "Ja, bel de balie."),
    ],
)
def test_a_yes_beyond_a_limit_or_against_a_plain_no_is_contradicted(language, question, answer):
    found = VerdictAgrees().measure(material(answer, CLUB[language], question, language))
    assert [kind for kind, _ in kinds(found)] == ["contradicted_verdict"]


@pytest.mark.parametrize(
    ("language", "answer"),
    [
        ("en", "The guest pass is invalid on Sundays."),
        ("en", "You do not have to bring a towel: it is not necessary in the gym."),
        ("en", "A towel is not required in the gym."),
        ("en", "Coaches can open the gym after closing time; other gym visitors cannot."),
        ("en", "You can bring at most 3 guests to the pool."),
        ("nl", "De gastenpas is ongeldig op zondag."),
        ("nl", "Een handdoek hoeft niet in de sportzaal."),
        ("nl", "Trainers kunnen de sportzaal openen na sluitingstijd; andere bezoekers kunnen dat niet."),
        ("nl", "Je kunt maximaal 3 personen meenemen naar het zwembad."),
    ],
)
def test_the_same_in_other_words_of_denial_is_not_contradicted(language, answer):
    assert kinds(StatementsAgree().measure(material(answer, CLUB[language], "?", language))) == []


@pytest.mark.parametrize(
    ("language", "answer"),
    [
        ("en", "The guest pass is valid on Sundays."),
        ("en", "You have to bring a towel in the gym."),
        ("nl", "De gastenpas is geldig op zondag."),
    ],
)
def test_the_opposite_is_contradicted_whichever_word_denies(language, answer):
    document = CLUB[language].replace(
        "A towel is optional in the gym.", "Bring an optional towel in the gym. "
    )
    document = document.replace("Bring an optional towel", "It is optional to bring a towel")
    assert kinds(StatementsAgree().measure(material(answer, document, "?", language))) == [
        ("contradicted_statement", answer.rstrip("."))
    ]


def test_a_denial_of_something_else_contradicts_nothing():
    document = "Members print the monthly calendar of the pool."
    answer = "Members print the monthly calendar of the pool, not forgetting holidays."
    assert kinds(StatementsAgree().measure(material(answer, document))) == []


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "How do I move swimming lessons to another day?", "Give your place to a friend."),
        ("en", "How do I move swimming lessons to another day?", "Sorry, moving them is impossible."),
        ("en", "How do I share a locker of the gym?", "Ask for a second one at the desk."),
        ("en", "How do I bring guests to the pool?", "Write their names in the list."),
        ("en", "How do I book a sauna visit?", "Choose a time in the app."),
        ("nl", "Hoe verplaats ik zwemlessen naar een andere dag?", "Geef je plek aan een vriend."),
        ("nl", "Hoe verplaats ik zwemlessen naar een andere dag?", "Dat is helaas onmogelijk."),
        ("nl", "Hoe deel ik een kluisje van de sportzaal?", "Vraag aan de balie om een tweede."),
        ("nl", "Hoe neem ik personen mee naar het zwembad?", "Schrijf hun namen op de lijst."),
        ("nl", "Hoe boek ik een saunabezoek?", "Kies een tijd in de app."),
    ],
)
def test_what_the_document_offers_instead_or_denies_in_some_cases_only_may_be_explained(
    language, question, answer
):
    assert kinds(RequestPossible().measure(material(answer, CLUB[language], question, language))) == []


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("en", "How do I move swimming lessons to another day?", "Open the calendar and drag it."),
        ("nl", "Hoe verplaats ik zwemlessen naar een andere dag?", "Open de kalender en sleep ze."),
    ],
)
def test_an_answer_that_offers_anything_else_does_not_mention_the_denial(language, question, answer):
    found = RequestPossible().measure(material(answer, CLUB[language], question, language))
    assert [kind for kind, _ in kinds(found)] == ["denied_request"]


@pytest.mark.parametrize(
    ("language", "answer", "unknown"),
    [
        ("en", "A reservation is kept for 20 minutes.", ["20"]),
        ("en", "After 15 minutes the desk gives it away, so come a good 5 minutes early.", []),
        ("nl", "Een reservering blijft 20 minuten staan.", ["20"]),
        ("nl", "Kom dus ruim 5 minuten eerder, want na 15 minuten is hij weg.", []),
    ],
)
def test_a_number_is_unknown_only_where_a_document_says_the_same_with_another(language, answer, unknown):
    found = QuantitiesKnown().measure(material(answer, CLUB[language], "?", language))
    assert kinds(found) == [("unknown_quantity", text) for text in unknown]


EXTENDED, PAPER = Scorer("extended"), Scorer("paper")


@pytest.mark.parametrize(
    ("question", "answer", "decision", "reason"),
    [
        ("Can I replace a lost card online?", "Yes, you find it there.", "blocked", "contradicted"),
        ("How do I return books at another branch?", "Use the belt.", "review", "denied_request"),
        ("How long can I keep a book?", "A book is lent for 28 days.", "review", None),
        ("How do I keep a book longer?", "A book is lent for 28 days.", "review", "unknown_quantity"),
    ],
)
def test_what_contradicts_the_documents_is_blocked_or_held_in_the_extended_profile_alone(
    question, answer, decision, reason
):
    exchange = Exchange(question, answer, (Passage("rules", LIBRARY["en"]),), "en")
    found = judged(EXTENDED, exchange)
    if reason is None:
        assert found.reasons == ("message_type_not_scored",)
        return
    assert (found.score, found.decision, found.reasons) == (1.0, decision, (reason,))
    assert reason not in judged(PAPER, exchange).reasons
