"""What is read of a text: its clauses, whether they deny, its quantities and the answer's verdict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.claims.alignment import aligned, coverage
from scoring.claims.known import known
from scoring.claims.quantities import Limit, numbers, quantities
from scoring.claims.question import question_of
from scoring.claims.reading import sentences
from scoring.claims.verdict import verdict
from tests.unit.scoring.scoring_support import prepared


def clauses(text, language="en"):
    return [claim for sentence in sentences(prepared(text, language)) for claim in sentence.claims]


@pytest.mark.parametrize(
    ("language", "text", "negative"),
    [
        ("en", "A parcel cannot be returned.", [True]),
        ("en", "A parcel can be returned.", [False]),
        ("en", "It isn't that it never works.", [False]),
        ("en", "You can look at it, but not change it.", [False, True]),
        ("en", "Parcels without a label are returned.", [False]),
        ("en", "No label is needed.", [True]),
        ("en", "No, a label is needed.", [False, False]),
        ("en", "No you may send it.", [False]),
        ("en", "You may send no more than 5 parcels.", [False]),
        ("en", "A label may not be larger than 9 cm.", [False]),
        ("en", "A parcel can no longer be returned.", [True]),
        ("en", "There are no more parcels than before.", [True]),
        ("nl", "Je mag niet meer dan 5 pakketten sturen.", [False]),
        ("nl", "Een etiket mag niet groter zijn dan 9 cm.", [False]),
        ("nl", "Een pakket gaat niet langer terug.", [True]),
        ("nl", "Een pakket kun je niet retourneren.", [True]),
        ("nl", "Nee hoor, dat is niet nodig.", [False, True]),
        ("nl", "Je kunt het bekijken maar niet wijzigen.", [False, True]),
        ("nl", "Pakketten zonder etiket gaan terug.", [False]),
    ],
)
def test_a_clause_denies_where_it_holds_a_negation_of_its_own(language, text, negative):
    assert [claim.negative for claim in clauses(text, language)] == negative


def test_a_clause_speaks_of_its_lemmas_and_not_of_what_is_possible_when_or_for_whom():
    (claim,) = clauses("Only admins can delete final reports.")
    assert claim.content >= {"delete", "report"}
    assert claim.content.isdisjoint({"only", "can"})
    assert claim.restricted_to == claim.content
    assert clauses("Everybody can delete reports.")[0].restricted_to is None


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("The door opens at nine.", True),
        ("# Opening the door", False),
        ("1. The door opens.", False),
        ("Click **Open**.", False),
        ("1. Click **Open**. The door opens at once.", [False, True]),
        ("Doors and windows\n\nThe door opens.", [False, True]),
    ],
)
def test_headings_and_steps_state_nothing(text, states):
    expected = states if isinstance(states, list) else [states]
    assert [sentence.states for sentence in sentences(prepared(text))] == expected


def test_a_sentence_with_a_condition_or_a_number_holds_for_some_cases_only():
    found = sentences(prepared("It opens. It opens if you knock. It opens 5 times."))
    assert [sentence.conditional for sentence in found] == [False, True, True]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "It takes 2,500 bytes.", [(2500.0, "byte", None)]),
        ("en", "At most three parcels and 15% off.", [(3.0, "parcel", Limit.MOST), (15.0, "%", None)]),
        ("en", "Above € 12.50 you sign.", [(12.5, "€", Limit.LEAST)]),
        ("en", "1. Open it.\n2. Close it.", []),
        ("en", "No more than 5 parcels.", [(5.0, "parcel", Limit.MOST)]),
        ("en", "It may not be larger than 10 cm.", [(10.0, "cm", Limit.MOST)]),
        ("en", "Not less than two parcels.", [(2.0, "parcel", Limit.LEAST)]),
        ("nl", "Niet meer dan 5 pakketten.", [(5.0, "pakket", Limit.MOST)]),
        ("nl", "Niet minder dan twee pakketten.", [(2.0, "pakket", Limit.LEAST)]),
        ("nl", "Maximaal 2.500 pakketten.", [(2500.0, "pakket", Limit.MOST)]),
        ("nl", "Kortingen boven 15% gaan langs de chef.", [(15.0, "%", Limit.LEAST)]),
        ("nl", "Vanaf € 0,25 betaal je.", [(0.25, "€", Limit.LEAST)]),
    ],
)
def test_a_quantity_is_a_number_with_what_it_counts_and_a_limit_where_the_words_say_so(
    language, text, expected
):
    found = quantities(prepared(text, language))
    assert [(quantity.value, quantity.unit, quantity.limit) for quantity in found] == expected


def test_a_limit_admits_what_is_within_it_and_says_nothing_of_other_units():
    most, three, week = (quantities(prepared(text))[0] for text in ("up to 4 days", "3 days", "5 weeks"))
    assert most.admits(three) is True
    assert most.admits(most) is True
    assert most.admits(week) is None
    assert three.admits(most) is None
    least, five = (quantities(prepared(text))[0] for text in ("more than 4 days", "5 days"))
    assert (least.admits(five), least.admits(three)) == (True, False)


def test_every_number_of_a_text_is_known_whatever_it_counts():
    assert numbers(prepared("Room 12 has two doors.")) == {12.0, 2.0}


@pytest.mark.parametrize(
    ("language", "text", "is_yes"),
    [
        ("en", "Yes, it does.", True),
        ("en", "No. It does not.", False),
        ("en", "No key is needed.", None),
        ("en", "No more than three keys are needed.", None),
        ("en", "It does.", None),
        ("en", "", None),
        ("nl", "**Ja**, dat kan.", True),
        ("nl", "Nee hoor, dat kan niet.", False),
        ("en", "Yes, but not at once.", None),
        ("en", "Yes, but it is slow.", True),
        ("nl", "Ja, maar niet meteen.", None),
        ("nl", "Ja, maar het duurt even.", True),
    ],
)
def test_a_verdict_is_the_yes_or_no_that_an_answer_begins_with(language, text, is_yes):
    found = verdict(prepared(text, language))
    assert (found.is_yes if found else None) is is_yes


def test_words_of_one_root_are_alike_and_short_ones_only_where_they_are_the_same():
    document = known(prepared("De factuur staat klaar. De goedkeuring volgt in de map.", "nl"))
    assert "factuur" in document.like("conceptfactuur")
    assert "goedkeuring" in document.like("goedkeuren")
    assert document.like("kaart") == frozenset()
    assert document.like("mappen") == frozenset()


def test_a_clause_whose_verbs_do_not_tell_what_is_done_is_elliptic():
    assert [claim.elliptic for claim in clauses("Admins can edit, other users cannot.")] == [False, True]
    (both,) = clauses("Andere gebruikers kunnen dat niet.", "nl")
    assert both.elliptic


@pytest.mark.parametrize(
    ("language", "text", "denies"),
    [
        ("en", "Can I pay without a card?", True),
        ("en", "Is paying by card forbidden?", True),
        ("en", "Can I pay by card?", False),
        ("nl", "Kan ik zonder kaart betalen?", True),
        ("nl", "Is betalen met een kaart verboden?", True),
        ("nl", "Kan ik met een kaart betalen?", False),
    ],
)
def test_what_a_yes_means_is_unclear_where_the_question_denies_something(language, text, denies):
    assert (question_of(prepared(text, language)) is None) is denies


HELP = (
    "An invoice is sent. The invoice and its letter are paid. Who pays an invoice gets a letter, a mail. "
    "A call costs money. Mails are sent by the office; the office pays for letters, mails and calls."
)


@given(st.randoms())
def test_words_have_the_same_weight_to_the_last_digit_in_whatever_order(chance):
    document = known(prepared(HELP))
    words = sorted(document.places)
    assert document.weights(chance.sample(words, len(words))) == document.weights(words)


def test_clauses_and_sentences_that_fit_come_in_the_order_of_the_text():
    document = known(prepared(HELP))
    by_claim = [[m.claim.start for m in aligned(claim, document, 0.1)] for claim in document.claims]
    assert any(len(starts) > 1 for starts in by_claim)
    assert all(starts == sorted(starts) for starts in by_claim)
    covered = [asked.sentence.span for asked in coverage(frozenset(document.places), document)]
    assert len(covered) > 1
    assert covered == sorted(covered)
