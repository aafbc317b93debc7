"""The claims of an assessment as a verdict carries them, so many and so long as fit a Kafka record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from schemas.records import VerdictClaim, VerdictClaimSource, VerdictSpan
from scoring.claims.checking import NON_APPEARING
from scoring.values.assessment import Decided
from scoring.values.claims import CheckedClaim, ClaimSource, ClaimStatus, DecidedBy
from scoring.values.opinion import Mistake, Opinion
from scoring.values.reasons import Reason
from scoring.values.types import Evidence

#: Within what a topic of verdicts takes beside the texts of an answer, at the smallest ``max_value_bytes``
#: too: a hundred claims of a usual length with their passages.
MAX_CLAIMS_BYTES: Final = 32 * 1024
#: A sentence is far shorter; a text without stops, or a table, is one claim or one passage.
MAX_TEXT_CHARACTERS: Final = 1_000

#: What is wrong is what a reader looks for: it is left out last.
_PRECEDENCE: Final = {
    ClaimStatus.CONTRADICTED: 0,
    ClaimStatus.NOT_FOUND: 1,
    ClaimStatus.SIMILAR: 2,
    ClaimStatus.SUPPORTED: 3,
    ClaimStatus.NOT_CHECKABLE: 4,
}
# What a judge has to say against words that the documents speak of.
_CONTRADICTING: Final = frozenset({Mistake.CONTRADICTION, Mistake.NUMBER, Mistake.ENTITY, Mistake.ORDER})
# Offsets, support, lengths of texts and choices of unions take no more in Avro, nor the two of a span.
_OTHER_BYTES: Final = 64
_SPAN_BYTES: Final = 10


def judged_claims(
    claims: Sequence[CheckedClaim], opinion: Opinion | None, decided: Decided
) -> tuple[CheckedClaim, ...]:
    """Return the claims as the opinion that counted leaves them, those that it changes as the judge's.

    A claim with words that it calls wrong is contradicted or, where it only misses them in the documents,
    similar: it is supported no more. An opinion that decided that the answer is true, of whole documents and
    with no wrong words, supports what was similar or not found for want of words; what a check found against
    a claim stays.
    """
    if opinion is None:
        return tuple(claims)
    is_true = Reason.JUDGED_TRUE in decided.reasons and not (opinion.wrong or opinion.shortened)
    return tuple(_judged(claim, opinion.wrong, is_true) for claim in claims)


def _judged(claim: CheckedClaim, wrong: Sequence[Evidence], is_true: bool) -> CheckedClaim:
    met = [each for each in wrong if each.start < claim.end and claim.start < each.end]
    if met and claim.status in (ClaimStatus.SUPPORTED, ClaimStatus.SIMILAR):
        against = next((each for each in met if each.kind in _CONTRADICTING), None)
        return replace(
            claim,
            status=ClaimStatus.CONTRADICTED if against else ClaimStatus.SIMILAR,
            mistake=(against or met[0]).kind,
            lacking=tuple((max(each.start, claim.start), min(each.end, claim.end)) for each in met),
            decided_by=DecidedBy.JUDGE,
        )
    is_open = claim.status is ClaimStatus.SIMILAR or claim.mistake == NON_APPEARING
    if is_true and is_open:
        status, by = ClaimStatus.SUPPORTED, DecidedBy.JUDGE
        return replace(claim, status=status, mistake=None, lacking=(), decided_by=by)
    return claim


def told_claims(claims: Sequence[CheckedClaim]) -> tuple[VerdictClaim, ...]:
    """Give the claims as a verdict tells them, in their order, in no more than MAX_CLAIMS_BYTES of Avro.

    Of a long claim or passage its beginning is told, with the offsets of that. Where not all claims fit,
    those that could not be checked are left out first, then supported, similar, and those not found.
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
    texts = [claim.text, claim.status, claim.mistake, claim.derivation, claim.decided_by]
    if claim.source is not None:
        texts += [claim.source.document_id, claim.source.version, claim.source.text]
    return (
        _OTHER_BYTES
        + _SPAN_BYTES * len(claim.lacking)
        + sum(len(text.encode("utf-8", "surrogatepass")) for text in texts if text)
    )


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
        lacking=tuple(VerdictSpan(*span) for span in claim.lacking if span[1] <= claim.start + len(text)),
        decided_by=claim.decided_by.value,
    )


def _source(source: ClaimSource) -> VerdictClaimSource:
    text = source.text[:MAX_TEXT_CHARACTERS]
    return VerdictClaimSource(
        source.document_id, source.version, text, source.start, source.start + len(text)
    )
