"""A verifier changes score and status of the claims in doubt, and never ends the process."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import Exchange, Passage, Policy, Scorer, ScorerOptions
from scoring.claims.claim_verification import claims_in_doubt
from scoring.features.claim_support import ClaimsCovered, ClaimsVerified
from scoring.values.exchange import Decision
from scoring.verifier.onnx import VerifierPrediction, VerifierResult, VerifierUnavailable, open_verifier
from tests.unit.scoring.scoring_support import material

TINY = Path(__file__).parents[1] / "verifier" / "tiny"
OPTIONS = ScorerOptions(verifier=TINY, timed=True)
SCORER, PLAIN, VARIED = Scorer(options=OPTIONS), Scorer(), Scorer(options=OPTIONS)
LINK = Passage("link", "The link works for 24 hours.\n\nClick **Renew** for another.")
PROBABILITIES = st.floats(0, 1)


def ask(answer, scorer=SCORER, language="en"):
    return scorer.score(Exchange("How long does it work?", answer, (LINK,), language))


def verified(assessment):
    return next(value.value for value in assessment.features if value.name == "claims_verified")


def test_a_probable_claim_is_similar_and_raises_the_score_and_vice_versa():
    answers = "The link yes yes works for a week.", "The link no no works for a week."
    (yes, no), (plain_yes, plain_no) = ([ask(answer, s) for answer in answers] for s in (SCORER, PLAIN))
    assert [each.claims[0].status for each in (yes, no)] == ["similar", "not_found"]
    assert {each.claims[0].decided_by for each in (yes, no)} == {"verifier"}
    assert no.claims[0].mistake == "non_appearing_statement"
    assert verified(no) < 0.1
    assert verified(yes) > 0.9
    assert (yes.score > plain_yes.score, no.score < plain_no.score) == (True, True)
    # The share of its words stays the same.
    assert yes.claims[0].support == plain_yes.claims[0].support
    assert (verified(plain_yes), plain_yes.degraded) == (None, ())


def test_the_temperature_of_the_language_makes_probabilities_milder():
    dutch = Exchange(
        "Hoe lang werkt het?", "De link yes werkt een week.", (Passage("l", "De link werkt 24 uur."),), "nl"
    )
    english = "The link yes works for a week."
    assert 0.5 < verified(SCORER.score(dutch)) < verified(ask(english))


def test_profile_paper_opens_no_verifier(tmp_path):
    Scorer("paper", ScorerOptions(verifier=tmp_path))
    with pytest.raises(VerifierUnavailable, match=r"model\.onnx is missing"):
        Scorer("truthgate", ScorerOptions(verifier=tmp_path))


def test_the_verifier_has_its_own_timing():
    names = [timing.name for timing in ask("The link works for a week.").timings]
    assert names[4:7] == ["parse", "claims in doubt", "verifier"]
    without = ask("So.", Scorer(options=replace(OPTIONS, verifier=None)))
    assert "verifier" not in [timing.name for timing in without.timings]


class Broken:
    """A verifier that fails."""

    def __init__(self, error):
        self._error = error

    def verify(self, inputs, language, seconds):
        raise self._error


class Late:
    def verify(self, inputs, language, seconds):
        return VerifierResult((None,) * len(inputs), seconds)


class Sure:
    def __init__(self, probability):
        self._prediction = VerifierPrediction(probability, 0, 1 - probability)

    def verify(self, inputs, language, seconds):
        return VerifierResult((self._prediction,) * len(inputs), 0)


@pytest.mark.parametrize(
    ("verifier", "code"),
    [
        (Late(), "verifier_timeout"),
        (Broken(RuntimeError("x")), "verifier_failed"),
        (Broken(MemoryError()), "verifier_failed"),
    ],
)
def test_without_predictions_the_words_decide_and_nothing_is_sent(monkeypatch, verifier, code):
    monkeypatch.setattr(SCORER, "_verifier", verifier)
    answer = "The link works for a week."
    late, plain = ask(answer), ask(answer, PLAIN)
    assert late.degraded == (code,)
    assert late.claims == plain.claims
    covered = next(value.value for value in late.features if value.name == "claims_covered")
    assert verified(late) == pytest.approx(covered)
    keen = Policy(auto_send_at=1.5, block_below=1.0)
    assert keen.decide(plain).decision is Decision.AUTO_SEND
    decided = keen.decide(late)
    assert (decided.decision, decided.reasons[0]) == (Decision.REVIEW, code)
    # What was not verified adds to what else could not be had.
    more = SCORER.score(Exchange("How?", answer, (LINK,), "en"), ("documents_stale",))
    assert more.degraded == ("documents_stale", code)


def test_a_model_that_gives_no_numbers_has_failed(monkeypatch):
    broken = open_verifier(TINY)
    monkeypatch.setattr(broken, "_logits", lambda encodings: np.full((len(encodings), 3), np.nan, np.float32))
    monkeypatch.setattr(SCORER, "_verifier", broken)
    assessment = ask("The link works for a week.")
    assert assessment.degraded == ("verifier_failed",)
    assert 1 <= assessment.score <= 5


@settings(deadline=None, max_examples=50)
@given(PROBABILITIES, PROBABILITIES)
def test_the_more_probable_the_claims_the_higher_the_score(one, other):
    low, high = sorted((one, other))
    scores = []
    for probability in (low, high):
        VARIED._verifier = Sure(probability)
        scores.append(ask("The link works for a week. The mail works too.", VARIED).score)
    assert scores[0] <= scores[1] + 1e-9


@given(st.dictionaries(st.integers(0, 3), PROBABILITIES))
def test_an_unverified_claim_counts_with_the_share_of_its_words(probable):
    texts = material("The link works for a week. The mail works too. It is blue. Great!", LINK.text)
    value = ClaimsVerified().measure(replace(texts, support_probabilities=probable)).value
    assert 0 <= value <= 1
    alone = ClaimsVerified().measure(replace(texts, support_probabilities={})).value
    assert alone == pytest.approx(ClaimsCovered().measure(texts).value)
    doubtful = claims_in_doubt(texts)
    certain = replace(texts, support_probabilities=dict.fromkeys(doubtful, 1.0))
    assert ClaimsVerified().measure(certain).value > alone
    assert ClaimsVerified().measure(texts).value is None
