"""Claims made by hand, and whether those of a verdict can be followed to where they stand."""

from collections.abc import Mapping, Sequence

from schemas.records import Verdict, VerdictClaim, VerdictClaimSource
from scoring.values.checked_claims import CheckedClaim, ClaimSource, ClaimStatus

#: The texts of documents by their ids: passages that an answer brings may share one.
Texts = Mapping[str, Sequence[str]]


def claim_of(
    answer: str,
    words: str,
    status: ClaimStatus,
    source: ClaimSource | None = None,
    mistake: str | None = None,
) -> CheckedClaim:
    """Give the claim that the first such words of the answer make."""
    start = answer.index(words)
    return CheckedClaim(words, start, start + len(words), status, mistake, None, source)


def source_of(document_id: str, text: str, words: str, version: str | None = None) -> ClaimSource:
    """Give the passage that the first such words of the document are."""
    start = text.index(words)
    return ClaimSource(document_id, version, words, start, start + len(words))


def astray(verdict: Verdict, texts: Texts) -> list[VerdictClaim]:
    """Give the claims that do not stand in the answer, or their passages not in their documents, as told."""
    return [
        claim
        for claim in verdict.claims
        if not _stands(claim, verdict.answer)
        or (claim.source and not any(_stands(claim.source, text) for text in texts[claim.source.document_id]))
    ]


def _stands(told: VerdictClaim | VerdictClaimSource, text: str) -> bool:
    return bool(told.text) and text[told.start : told.end] == told.text
