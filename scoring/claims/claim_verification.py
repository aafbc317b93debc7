"""Claims in doubt, and what a verifier says of them within its timeout."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scoring.claims.grounding import GroundedClaim, grounded_claims, sentence_index
from scoring.text.prepared_text import PreparedExchange
from scoring.values.rules import Reason
from scoring.verifier.verifying import Verifier, VerifierInput

#: A claim is in doubt from the first share of its words on and below the second: with fewer the documents
#: hardly speak of it, with more they have it nearly as it stands, and each question costs.
IN_DOUBT_FROM: Final = 0.2
IN_DOUBT_BELOW: Final = 0.9
#: So many claims of an answer are asked about: of a small model, at 25 ms each, two fifths of the time.
MAX_CLAIMS_IN_DOUBT: Final = 8

# Where the words of a claim tell least: from there on it counts as supported by them.
_UNCERTAIN = 0.5
# A passage is as long as those that the verifier of training/verifier learns from.
_WORDS = 50
# Models read a few hundred tokens and drop what is more: at worst a claim is judged by its beginning.
_LONGEST_PASSAGE, _LONGEST_CLAIM = 800, 400


def claims_in_doubt(exchange: PreparedExchange) -> Mapping[int, VerifierInput]:
    """Return what to ask about the claims in doubt, by their place among those of the answer.

    They are the at most ``MOST_ASKED`` whose words tell least. Each is laid beside the passage that has most
    of its words, with as many sentences after and before that as make about fifty words: one passage, not
    several, since each costs as much again. A claim of which no document has a word is not asked about.
    """
    claims = exchange.cached(grounded_claims)
    certain = {place: found for place, each in enumerate(claims) if (found := _certainty(each)) is not None}
    chosen = sorted(certain, key=certain.__getitem__)[:MAX_CLAIMS_IN_DOUBT]
    return {place: _verifier_input(claims[place], exchange) for place in chosen}


def _certainty(each: GroundedClaim) -> float | None:
    """Return how much the words of a claim tell, from 0 on; None where it is not asked about."""
    found = each.grounding
    if found is None or found.document_index is None or not IN_DOUBT_FROM <= found.share < IN_DOUBT_BELOW:
        return None
    return abs(found.share - _UNCERTAIN)


def _verifier_input(each: GroundedClaim, exchange: PreparedExchange) -> VerifierInput:
    claim = exchange.answer.original[each.claim.start : each.claim.end]
    passage = _passage(each, exchange)
    return VerifierInput(exchange.question.compared_text, claim[:_LONGEST_CLAIM], passage[:_LONGEST_PASSAGE])


def _passage(each: GroundedClaim, exchange: PreparedExchange) -> str:
    found = each.grounding
    assert found is not None
    assert found.document_index is not None
    text = exchange.context[found.document_index].text
    known, first, last = text.cached(sentence_index), found.first_sentence, found.last_sentence

    def fits(first: int, last: int) -> bool:
        if first < 0 or last == len(known.spans):
            return False
        passage = text.original[slice(*known.span(first, last))]
        return len(passage) <= _LONGEST_PASSAGE and len(passage.split()) <= _WORDS

    while (after := fits(first, last + 1)) or fits(first - 1, last):
        first, last = (first, last + 1) if after else (first - 1, last)
    return text.original[slice(*known.span(first, last))]


@dataclass(frozen=True, slots=True)
class Verification:
    """How probable it is that the documents support a claim, in [0, 1], by its place in the answer.

    ``gaps`` says why claims that were asked about are not among them.
    """

    support_probabilities: Mapping[int, float]
    gaps: tuple[Reason, ...] = ()


def verify_claims(
    verifier: Verifier, inputs: Mapping[int, VerifierInput], language: str, timeout_seconds: float
) -> Verification:
    """Ask a verifier about claims of one answer, all at once, for so many seconds.

    What it could not say in time is left out, ``verifier_timeout``; where it fails, everything is,
    ``verifier_failed``.
    """
    if not inputs:
        return Verification({})
    try:
        told = verifier.verify(tuple(inputs.values()), language, timeout_seconds)
    except Exception:  # noqa: BLE001 - whatever a model fails on, the answer has been judged without it
        return Verification({}, (Reason.VERIFIER_FAILED,))
    given = zip(inputs, told.predictions, strict=True)
    supported = {place: min(opinion.supported, 1.0) for place, opinion in given if opinion is not None}
    return Verification(supported, () if told.is_complete else (Reason.VERIFIER_TIMEOUT,))
