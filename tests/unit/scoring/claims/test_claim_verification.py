"""A verifier gets the claims in doubt with their best passage, and predictions are matched with claims."""

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
    Verification,
    claims_in_doubt,
    verify_claims,
)
from scoring.claims.grounding import grounded_claims
from scoring.verifier.onnx import VerifierInput, VerifierPrediction, VerifierResult, open_verifier
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


def test_supported_and_invented_claims_are_not_in_doubt():
    texts = material(f"{SAID} {DOUBTFUL} {INVENTED} Great question!", LINK)
    assert list(claims_in_doubt(texts)) == [1]
    for answer in (INVENTED, "", "Great!", SAID):
        assert claims_in_doubt(material(answer, LINK)) == {}


def test_question_claim_and_passage_are_the_original_texts():
    texts = material(DOUBTFUL, LINK, "Hi! How *long* does it work?")
    assert list(claims_in_doubt(texts).values()) == [
        VerifierInput("Hi! How *long* does it work?", DOUBTFUL[:-1], LINK[:-1])
    ]


@settings(deadline=None, max_examples=50)
@given(st.lists(WORDS, max_size=30).map(" ".join), st.lists(WORDS | st.text(max_size=20), max_size=3))
def test_at_most_eight_claims_are_verified_and_none_left_out_is_less_certain(answer, context):
    texts = material(answer, context)
    chosen, found = claims_in_doubt(texts), shares(texts)
    assert len(chosen) <= MAX_CLAIMS_IN_DOUBT
    assert all(IN_DOUBT_FROM <= found[place] < IN_DOUBT_BELOW for place in chosen)
    assert all(each.passage and each.passage in "\0".join(context) for each in chosen.values())
    if len(chosen) == MAX_CLAIMS_IN_DOUBT:
        worst = max(abs(found[place] - 0.5) for place in chosen)
        left = [each for place, each in enumerate(found) if place not in chosen and each is not None]
        assert all(abs(share - 0.5) >= worst for share in left if IN_DOUBT_FROM <= share < IN_DOUBT_BELOW)


def test_of_many_claims_the_eight_least_certain_are_verified():
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


def test_long_texts_are_truncated_around_the_best_passage():
    longest = "word " * 20_000
    document = f"{'Word by word. ' * 500}\n\n{LINK}\n\n{longest}"
    (each,) = claims_in_doubt(material(DOUBTFUL, document)).values()
    assert each.claim == DOUBTFUL[:-1]
    assert SAID[:-1] in each.passage
    claim, passage = f"The link works for {'very ' * 100}two weeks.", f"The link works {'very ' * 200}well."
    (each,) = claims_in_doubt(material(claim, passage)).values()
    assert (len(each.claim), len(each.passage)) == (400, 800)


class Predicts:
    """A verifier with fixed predictions that records its calls."""

    def __init__(self, *predictions):
        self.predictions = predictions
        self.calls = []

    def verify(self, inputs, language, seconds):
        self.calls.append((tuple(inputs), language, seconds))
        return VerifierResult(self.predictions, 0.1)


class Fails:
    def verify(self, inputs, language, seconds):
        raise ValueError("these texts")


NO = VerifierPrediction(0.2, 0.8, 0)
PAIRS = {4: VerifierInput("q", "yes", "d"), 2: VerifierInput("q", "no", "d")}


@pytest.mark.parametrize(
    ("verifier", "probabilities", "gaps"),
    [
        (Predicts(VerifierPrediction(0.9, 0.1, 0), NO), {4: 0.9, 2: 0.2}, ()),
        (Predicts(None, NO), {2: 0.2}, ("verifier_timeout",)),
        (Predicts(VerifierPrediction(1.0000001, 0, 0), NO), {4: 1.0, 2: 0.2}, ()),
        (Fails(), {}, ("verifier_failed",)),
    ],
    ids=["both", "timeout", "rounding", "failure"],
)
def test_predictions_are_matched_with_their_claims(verifier, probabilities, gaps):
    result = verify_claims(verifier, PAIRS, "nl", 0.5)
    assert (result.support_probabilities, result.gaps) == (probabilities, gaps)
    assert getattr(verifier, "calls", [])[:1] in ([], [(tuple(PAIRS.values()), "nl", 0.5)])


def test_without_claims_in_doubt_the_verifier_is_not_called():
    assert verify_claims(Fails(), {}, "en", 0.5) == Verification({})


def test_the_timeout_is_checked_between_batches():
    verifier, seconds = open_verifier(TINY), itertools.count()
    verifier._clock = lambda: float(next(seconds))
    pairs = {place: replace(PAIRS[4], passage="other " * place) for place in range(8)}
    found = verify_claims(verifier, pairs, "en", 1.5)
    assert sorted(found.support_probabilities) == [0, 1]
    assert found.gaps == ("verifier_timeout",)
    assert verify_claims(verifier, pairs, "en", 100).gaps == ()
