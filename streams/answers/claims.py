"""The claims of an assessment as a verdict carries them, so many and so long as fit a Kafka record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.records import VerdictClaim, VerdictClaimSource
from scoring.values.claims import CheckedClaim, ClaimSource, ClaimStatus

#: Within what a topic of verdicts takes beside the texts of an answer, at the smallest ``max_value_bytes``
#: too: a hundred claims of a usual length with their passages.
MAX_CLAIMS_BYTES: Final = 32 * 1024
#: A sentence is far shorter; a text without stops, or a table, is one claim or one passage.
MAX_TEXT_CHARACTERS: Final = 1_000

#: What is wrong is what a reader looks for: it is left out last.
_PRECEDENCE: Final = {
    ClaimStatus.CONTRADICTED: 0,
    ClaimStatus.NOT_FOUND: 1,
    ClaimStatus.SUPPORTED: 2,
    ClaimStatus.NOT_CHECKABLE: 3,
}
# Offsets, support, lengths of texts and choices of unions take no more in Avro.
_OTHER_BYTES: Final = 64


def told_claims(claims: Sequence[CheckedClaim]) -> tuple[VerdictClaim, ...]:
    """Give the claims as a verdict tells them, in their order, in no more than MAX_CLAIMS_BYTES of Avro.

    Of a long claim or passage its beginning is told, with the offsets of that. Where not all claims fit,
    those that could not be checked are left out first, then supported ones, then those not found.
    """
    kept: dict[int, VerdictClaim] = {}
    room = MAX_CLAIMS_BYTES
    for place in sorted(range(len(claims)), key=lambda place: _PRECEDENCE[claims[place].status]):
        claim = _told(claims[place])
        if (size := _size(claim)) <= room:
            kept[place] = claim
            room -= size
    return tuple(kept[place] for place in sorted(kept))


def _size(claim: VerdictClaim) -> int:
    texts = [claim.text, claim.status, claim.mistake, claim.derivation]
    if claim.source is not None:
        texts += [claim.source.document_id, claim.source.version, claim.source.text]
    return _OTHER_BYTES + sum(len(text.encode("utf-8", "surrogatepass")) for text in texts if text)


def _told(claim: CheckedClaim) -> VerdictClaim:
    text = claim.text[:MAX_TEXT_CHARACTERS]
    return VerdictClaim(
        text=text,
        start=claim.start,
        end=claim.start + len(text),
        status=claim.status.value,
        mistake=claim.mistake,
        support=claim.support,
        source=_source(claim.source) if claim.source else None,
        derivation=claim.derivation[:MAX_TEXT_CHARACTERS] if claim.derivation else None,
    )


def _source(source: ClaimSource) -> VerdictClaimSource:
    text = source.text[:MAX_TEXT_CHARACTERS]
    return VerdictClaimSource(
        source.document_id, source.version, text, source.start, source.start + len(text)
    )
