"""Claims in doubt, and what a verifier says of them within its timeout."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scoring.claims.grounding import GroundedClaim, grounded_claims, passages
from scoring.text.prepared import Material
from scoring.values.rules import Reason
from scoring.verifier.verifying import Asked, Verifier

#: A claim is in doubt from the first share of its words on and below the second: with fewer the documents
#: hardly speak of it, with more they have it nearly as it stands, and each question costs.
IN_DOUBT_FROM: Final = 0.2
IN_DOUBT_BELOW: Final = 0.9
#: So many claims of an answer are asked about: of a small model, at 25 ms each, two fifths of the time.
MOST_ASKED: Final = 8

# Where the words of a claim tell least: from there on it counts as supported by them.
_UNCERTAIN = 0.5
# A passage is as long as those that the verifier of training/verifier learns from.
_WORDS = 50
# Models read a few hundred tokens and drop what is more: at worst a claim is judged by its beginning.
_LONGEST_PASSAGE, _LONGEST_CLAIM = 800, 400


def asked(material: Material) -> Mapping[int, Asked]:
    """Return what to ask about the claims in doubt, by their place among those of the answer.

    They are the at most ``MOST_ASKED`` whose words tell least. Each is laid beside the passage that has most
    of its words, with as many sentences after and before that as make about fifty words: one passage, not
    several, since each costs as much again. A claim of which no document has a word is not asked about.
    """
    claims = material.derived(grounded_claims)
    certain = {place: found for place, each in enumerate(claims) if (found := _certainty(each)) is not None}
    chosen = sorted(certain, key=certain.__getitem__)[:MOST_ASKED]
    return {place: _asked(claims[place], material) for place in chosen}


def _certainty(each: GroundedClaim) -> float | None:
    """Return how much the words of a claim tell, from 0 on; None where it is not asked about."""
    found = each.grounding
    if found is None or found.document is None or not IN_DOUBT_FROM <= found.share < IN_DOUBT_BELOW:
        return None
    return abs(found.share - _UNCERTAIN)


def _asked(each: GroundedClaim, material: Material) -> Asked:
    claim = material.answer.original[each.claim.start : each.claim.end]
    passage = _passage(each, material)
    return Asked(material.question.compared, claim[:_LONGEST_CLAIM], passage[:_LONGEST_PASSAGE])


def _passage(each: GroundedClaim, material: Material) -> str:
    found = each.grounding
    assert found is not None
    assert found.document is not None
    text = material.context[found.document].text
    known, first, last = text.derived(passages), found.first, found.last

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

    supported: Mapping[int, float]
    gaps: tuple[Reason, ...] = ()


def verification(
    verifier: Verifier, asked: Mapping[int, Asked], language: str, seconds: float
) -> Verification:
    """Ask a verifier about claims of one answer, all at once, for so many seconds.

    What it could not say in time is left out, ``verifier_timeout``; where it fails, everything is,
    ``verifier_failed``.
    """
    if not asked:
        return Verification({})
    try:
        told = verifier.verify(tuple(asked.values()), language, seconds)
    except Exception:  # noqa: BLE001 - whatever a model fails on, the answer has been judged without it
        return Verification({}, (Reason.VERIFIER_FAILED,))
    given = zip(asked, told.opinions, strict=True)
    supported = {place: min(opinion.supported, 1.0) for place, opinion in given if opinion is not None}
    return Verification(supported, () if told.complete else (Reason.VERIFIER_TIMEOUT,))
