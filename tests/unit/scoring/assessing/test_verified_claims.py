"""A verifier that is named changes score and status of the claims in doubt, and never ends the process."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import Exchange, Passage, Policy, Scorer, ScorerOptions
from scoring.claims.claim_verification import claims_in_doubt
from scoring.features.claims_covered import ClaimsCovered
from scoring.features.claims_verified import ClaimsVerified
from scoring.values.exchange import Decision
from scoring.verifier.onnx import open_verifier
from scoring.verifier.verifying import VerifierPrediction, VerifierResult, VerifierUnavailable
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


def test_what_the_verifier_finds_probable_is_similar_and_raises_the_score_and_the_other_way_round():
    yes, plain_yes = (
        ask("The link yes yes works for a week."),
        ask("The link yes yes works for a week.", PLAIN),
    )
    no, plain_no = ask("The link no no works for a week."), ask("The link no no works for a week.", PLAIN)
    assert [each.claims[0].status for each in (yes, no)] == ["similar", "not_found"]
    assert {each.claims[0].decided_by for each in (yes, no)} == {"verifier"}
    assert no.claims[0].mistake == "non_appearing_statement"
    assert verified(yes) > 0.9
    assert verified(no) < 0.1
    assert yes.score > plain_yes.score
    assert no.score < plain_no.score
    # What tells how much of its words stand there does so still.
    assert yes.claims[0].support == plain_yes.claims[0].support


def test_the_temperature_of_the_language_makes_it_milder():
    dutch = Exchange(
        "Hoe lang werkt het?", "De link yes werkt een week.", (Passage("l", "De link werkt 24 uur."),), "nl"
    )
    english = "The link yes works for a week."
    assert 0.5 < verified(SCORER.score(dutch)) < verified(ask(english))


def test_without_a_verifier_it_is_as_before_and_the_feature_does_not_apply():
    assessment = ask("The link yes yes works for a week.", PLAIN)
    assert verified(assessment) is None
    assert assessment.degraded == ()


def test_profile_paper_asks_nobody_and_opens_nothing(tmp_path):
    Scorer("paper", ScorerOptions(verifier=tmp_path))
    with pytest.raises(VerifierUnavailable, match=r"model\.onnx is missing"):
        Scorer("truthgate", ScorerOptions(verifier=tmp_path))


def test_it_is_opened_once_and_its_time_is_told_as_a_part_of_its_own():
    names = [timing.name for timing in ask("The link works for a week.").timings]
    assert names[3:6] == ["parse", "claims in doubt", "verifier"]
    assert "verifier" not in [
        timing.name
        for timing in Scorer(options=replace(OPTIONS, verifier=None))
        .score(Exchange("How?", "So.", (LINK,), "en"))
        .timings
    ]


class Broken:
    """Like an onnxruntime session that cannot go on with some texts."""

    def __init__(self, error):
        self._error = error

    def verify(self, asked, language, seconds):
        raise self._error


class Late:
    def verify(self, asked, language, seconds):
        return VerifierResult((None,) * len(asked), seconds)


class Sure:
    def __init__(self, probability):
        self._probability = probability

    def verify(self, asked, language, seconds):
        return VerifierResult(
            (VerifierPrediction(self._probability, 0, 1 - self._probability),) * len(asked), 0
        )


@pytest.mark.parametrize(
    ("verifier", "code"),
    [
        (Late(), "verifier_timeout"),
        (Broken(RuntimeError("x")), "verifier_failed"),
        (Broken(MemoryError()), "verifier_failed"),
    ],
)
def test_where_it_has_no_time_or_fails_the_words_decide_and_nothing_is_sent_by_itself(
    monkeypatch, verifier, code
):
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
def test_a_claim_that_nobody_was_asked_about_counts_with_the_share_of_its_words(probable):
    texts = material("The link works for a week. The mail works too. It is blue. Great!", LINK.text)
    value = ClaimsVerified().measure(replace(texts, support_probabilities=probable)).value
    assert 0 <= value <= 1
    alone = ClaimsVerified().measure(replace(texts, support_probabilities={})).value
    assert alone == pytest.approx(ClaimsCovered().measure(texts).value)
    doubtful = claims_in_doubt(texts)
    raised = (
        ClaimsVerified().measure(replace(texts, support_probabilities=dict.fromkeys(doubtful, 1.0))).value
    )
    assert raised > alone
    assert ClaimsVerified().measure(texts).value is None


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "verifier.json"])
def test_a_folder_that_lacks_a_file_is_told_with_its_name_in_one_line(tmp_path, file):
    folder = Path(shutil.copytree(TINY, tmp_path / "model"))
    (folder / file).unlink()
    with pytest.raises(VerifierUnavailable, match=file.replace(".", r"\.")) as refused:
        Scorer(options=ScorerOptions(verifier=folder))
    assert str(folder) in str(refused.value)
    assert "\n" not in str(refused.value)
