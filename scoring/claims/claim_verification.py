"""The claims in doubt, and a verifier's opinion on them within its timeout."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scoring.claims.grounding import GroundedClaim, grounded_claims, sentence_index
from scoring.text.prepared_text import PreparedExchange
from scoring.values.rules import Reason
from scoring.verifier.onnx import OnnxVerifier, VerifierInput

#: A claim is in doubt between these shares of its words: below, the documents hardly mention it; above, they
#: nearly have its wording. Each call costs time.
IN_DOUBT_FROM: Final = 0.2
IN_DOUBT_BELOW: Final = 0.9
#: At 25 ms each, a small model's time for so many claims is two fifths of the default timeout.
MAX_CLAIMS_IN_DOUBT: Final = 8

# The share of words that is least informative.
_UNCERTAIN_SHARE = 0.5
# The length of the passages on which the verifier of training/verifier is trained.
_MAX_PASSAGE_WORDS = 50
# Models truncate to a few hundred tokens: at worst a claim is judged by its start.
_MAX_PASSAGE, _MAX_CLAIM = 800, 400


def claims_in_doubt(exchange: PreparedExchange) -> Mapping[int, VerifierInput]:
    """Return the verifier's inputs for the claims in doubt, by index among the claims of the answer.

    These are the most uncertain ones, at most :data:`MAX_CLAIMS_IN_DOUBT`. Each is paired with the passage
    that has most of its words, widened by sentences after and before to about fifty words: one passage, not
    several, since each costs as much again. A claim of which no document has a word is left out.
    """
    claims = exchange.cached(grounded_claims)
    distances = {
        index: abs(claim.grounding.share - _UNCERTAIN_SHARE)
        for index, claim in enumerate(claims)
        if claim.grounding
        and claim.grounding.document_index is not None
        and IN_DOUBT_FROM <= claim.grounding.share < IN_DOUBT_BELOW
    }
    indices = sorted(distances, key=distances.__getitem__)[:MAX_CLAIMS_IN_DOUBT]
    return {
        index: VerifierInput(
            exchange.question.compared_text,
            exchange.answer.original[claims[index].claim.start : claims[index].claim.end][:_MAX_CLAIM],
            _passage(claims[index], exchange)[:_MAX_PASSAGE],
        )
        for index in indices
    }


def _passage(grounded: GroundedClaim, exchange: PreparedExchange) -> str:
    grounding = grounded.grounding
    assert grounding is not None
    assert grounding.document_index is not None
    text = exchange.context[grounding.document_index].text
    sentences = text.cached(sentence_index)
    first, last = grounding.first_sentence, grounding.last_sentence

    def fits(first: int, last: int) -> bool:
        if first < 0 or last == len(sentences.spans):
            return False
        passage = text.original[slice(*sentences.span(first, last))]
        return len(passage) <= _MAX_PASSAGE and len(passage.split()) <= _MAX_PASSAGE_WORDS

    while (can_append := fits(first, last + 1)) or fits(first - 1, last):
        first, last = (first, last + 1) if can_append else (first - 1, last)
    return text.original[slice(*sentences.span(first, last))]


@dataclass(frozen=True, slots=True)
class Verification:
    """The probabilities that the documents support claims, by index among the claims of the answer.

    ``gaps``: why claims in doubt are missing.
    """

    support_probabilities: Mapping[int, float]
    gaps: tuple[Reason, ...] = ()


def verify_claims(
    verifier: OnnxVerifier, inputs: Mapping[int, VerifierInput], language: str, timeout_seconds: float
) -> Verification:
    """Have a verifier predict the claims of one answer in one call within its timeout.

    Claims that the timeout left out are missing, ``verifier_timeout``; where the verifier fails, all are,
    ``verifier_failed``.
    """
    if not inputs:
        return Verification({})
    try:
        result = verifier.verify(tuple(inputs.values()), language, timeout_seconds)
    except Exception:  # noqa: BLE001 - whatever a model fails on, the answer can be scored without it
        return Verification({}, (Reason.VERIFIER_FAILED,))
    predictions = zip(inputs, result.predictions, strict=True)
    probabilities = {index: min(each.supported, 1.0) for index, each in predictions if each is not None}
    return Verification(probabilities, () if result.is_complete else (Reason.VERIFIER_TIMEOUT,))
