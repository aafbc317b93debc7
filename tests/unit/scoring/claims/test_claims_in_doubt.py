"""A verifier is asked about the claims that their words leave in doubt, beside the best passage there is."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.claims.claim_verification import (
    IN_DOUBT_BELOW,
    IN_DOUBT_FROM,
    MAX_CLAIMS_IN_DOUBT,
    claims_in_doubt,
    verify_claims,
)
from scoring.claims.grounding import grounded_claims
from scoring.verifier.onnx import open_verifier
from scoring.verifier.verifying import VerifierInput, VerifierPrediction, VerifierResult
from tests.unit.scoring.scoring_support import material

TINY = Path(__file__).parents[1] / "verifier" / "tiny"
LINK = "The link works for 24 hours.\n\nClick **Renew** for another."
SAID = "The link works for 24 hours."
DOUBTFUL = "The link works for two weeks."
INVENTED = "Bananas ripen overnight."
WORDS = st.sampled_from(
    [SAID, DOUBTFUL, INVENTED, "Great! ", "The mail works.", "Renew the hours, or what?", "\n"]
)


def shares(texts):
    return [each.grounding and each.grounding.share for each in texts.cached(grounded_claims)]


def test_what_stands_there_and_what_is_nowhere_is_not_asked_about():
    texts = material(f"{SAID} {DOUBTFUL} {INVENTED} Great question!", LINK)
    assert list(claims_in_doubt(texts)) == [1]


def test_question_claim_and_passage_are_those_of_the_texts_as_they_stand():
    texts = material(DOUBTFUL, LINK, "Hi! How *long* does it work?")
    assert list(claims_in_doubt(texts).values()) == [
        VerifierInput("Hi! How *long* does it work?", DOUBTFUL[:-1], LINK[:-1])
    ]


@settings(deadline=None, max_examples=50)
@given(st.lists(WORDS, max_size=30).map(" ".join), st.lists(WORDS | st.text(max_size=20), max_size=3))
def test_at_most_eight_are_asked_about_all_in_doubt_and_none_left_out_tells_less(answer, context):
    texts = material(answer, context)
    chosen, found = claims_in_doubt(texts), shares(texts)
    assert len(chosen) <= MAX_CLAIMS_IN_DOUBT
    assert all(IN_DOUBT_FROM <= found[place] < IN_DOUBT_BELOW for place in chosen)
    assert all(each.passage and each.passage in "\0".join(context) for each in chosen.values())
    if len(chosen) == MAX_CLAIMS_IN_DOUBT:
        worst = max(abs(found[place] - 0.5) for place in chosen)
        left = [each for place, each in enumerate(found) if place not in chosen and each is not None]
        assert all(abs(share - 0.5) >= worst for share in left if IN_DOUBT_FROM <= share < IN_DOUBT_BELOW)


def test_of_many_claims_in_doubt_the_eight_are_asked_about_whose_words_tell_least():
    texts = material("The link works for weeks. The mail works for weeks. " * 6, LINK)
    half, third = shares(texts)[:2]
    assert abs(half - 0.5) < abs(third - 0.5)
    assert IN_DOUBT_FROM <= third < half < IN_DOUBT_BELOW
    assert list(claims_in_doubt(texts)) == [0, 2, 4, 6, 8, 10, 1, 3]


def test_a_passage_is_widened_to_about_fifty_words_on_both_sides_and_not_beyond():
    before, after = ["Open the page now."] * 9, ["It saves every hour."] * 9
    context = " ".join([*before, SAID, *after])
    (each,) = claims_in_doubt(material("The link works for weeks.", context)).values()
    assert SAID[:-1] in each.passage
    assert 45 < len(each.passage.split()) <= 50
    assert "Open the page" in each.passage
    assert "saves every" in each.passage


def test_long_texts_are_cut_and_the_best_passage_stays():
    longest = "word " * 20_000
    texts = material(f"{DOUBTFUL[:-1]} {longest}", f"{longest}\n{LINK}\n{longest}", longest)
    for each in claims_in_doubt(material(DOUBTFUL, f"{longest}\n{LINK}\n{longest}", longest)).values():
        assert each.claim == DOUBTFUL[:-1]
        assert SAID[:-1] in each.passage
    assert all(
        len(each.claim) <= 400 and len(each.passage) <= 800 for each in claims_in_doubt(texts).values()
    )


class Says:
    """A verifier that says what it is told to, and remembers what it was asked."""

    def __init__(self, *opinions):
        self.opinions = opinions
        self.calls = []

    def verify(self, asked, language, seconds):
        self.calls.append((tuple(asked), language, seconds))
        return VerifierResult(self.opinions, 0.1)


class Fails:
    def verify(self, asked, language, seconds):
        raise ValueError("these texts")


PAIRS = {4: VerifierInput("q", "yes", "d"), 2: VerifierInput("q", "no", "d")}


def test_all_claims_are_asked_about_at_once_and_keep_their_places():
    verifier = Says(VerifierPrediction(0.9, 0.1, 0), VerifierPrediction(0.2, 0.8, 0))
    found = verify_claims(verifier, PAIRS, "nl", 0.5)
    assert (found.support_probabilities, found.gaps) == ({4: 0.9, 2: 0.2}, ())
    assert verifier.calls == [(tuple(PAIRS.values()), "nl", 0.5)]


def test_where_nothing_is_in_doubt_nobody_is_asked():
    verifier = Says()
    assert verify_claims(verifier, {}, "en", 0.5) == verify_claims(Fails(), {}, "en", 0.5)
    assert verifier.calls == []


def test_what_there_was_no_time_for_is_left_out_and_told():
    found = verify_claims(Says(None, VerifierPrediction(0.2, 0.8, 0)), PAIRS, "en", 0.5)
    assert (found.support_probabilities, found.gaps) == ({2: 0.2}, ("verifier_timeout",))


def test_a_model_that_fails_is_told_and_nothing_else_happens():
    found = verify_claims(Fails(), PAIRS, "en", 0.5)
    assert (found.support_probabilities, found.gaps) == ({}, ("verifier_failed",))


def test_a_probability_that_rounding_has_raised_above_one_is_one():
    assert verify_claims(
        Says(VerifierPrediction(1.0000001, 0, 0)), {0: PAIRS[2]}, "en", 0.5
    ).support_probabilities == {0: 1.0}


def test_time_is_kept_by_the_clock_of_the_model_between_its_batches():
    verifier, seconds = open_verifier(TINY), itertools.count()
    verifier._clock = lambda: float(next(seconds))
    pairs = {place: replace(PAIRS[4], passage="other " * place) for place in range(8)}
    found = verify_claims(verifier, pairs, "en", 1.5)
    assert sorted(found.support_probabilities) == [0, 1]
    assert found.gaps == ("verifier_timeout",)
    assert verify_claims(verifier, pairs, "en", 100).gaps == ()


@pytest.mark.parametrize("answer", [INVENTED, "", "Great!", SAID])
def test_an_answer_without_doubt_has_nothing_to_ask(answer):
    assert claims_in_doubt(material(answer, LINK)) == {}
