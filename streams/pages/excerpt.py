"""What of a verdict is shown: a summary, and an excerpt of its texts with the evidence marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Final

from schemas.records import Verdict, VerdictClaim, VerdictEvidence, VerdictOpinion
from streams.answers.evidence import FAULTS, WRONG, all_evidence, marked_claims, offending
from streams.explaining.explaining import reasons_of
from streams.pages.markdown import PLAIN, Styled, styled
from streams.pages.views import (
    AnswerTold,
    ClaimCount,
    ClaimTold,
    EvidenceCount,
    Excerpt,
    OpinionTold,
    Piece,
    view,
)
from streams.rates.outcome import milliseconds

_MOST_CLAIMS: Final = 50
#: Marks words of a claim as evidence does: its passage lacks them, or a judge calls them wrong.
LACKING: Final = "lacking"
_MOST_SPANS: Final = 200
_MOST_CODES: Final = 20


@dataclass(frozen=True, slots=True)
class Length:
    """How many characters of each text are shown; of the answer, ``before`` stand before what explains it."""

    answer: int
    before: int
    question: int
    words: int
    passage: int


#: A text may be a megabyte long; what explains the verdict is around the first span at fault.
IN_LIST: Final = Length(answer=1_500, before=400, question=400, words=200, passage=600)
IN_FULL: Final = Length(answer=10_000, before=2_000, question=4_000, words=1_000, passage=1_000)


def excerpt(verdict: Verdict, length: Length = IN_LIST) -> Excerpt:
    """Cut out of the answer what explains the verdict, with its evidence marked."""
    wrong = next((claim.start for claim in marked_claims(verdict) if claim.status in WRONG), None)
    place = next((fault.start for fault in offending(verdict)), 0) if wrong is None else wrong
    begin = max(0, place - length.before)
    end = min(len(verdict.answer), begin + length.answer)
    begin = max(0, min(begin, end - length.answer))
    lacking = (
        VerdictEvidence(LACKING, verdict.answer[span.start : span.end], span.start, span.end)
        for claim in marked_claims(verdict)
        for span in claim.lacking
    )
    spans = list(islice(chain(all_evidence(verdict), lacking), _MOST_SPANS))
    inside = [claim for claim in marked_claims(verdict) if claim.start < end and begin < claim.end]
    claims = sorted(inside[:_MOST_CLAIMS], key=lambda claim: claim.start)
    return Excerpt(
        question=shortened(verdict.question, length.question),
        answer=tuple(pieces(verdict.answer, spans, begin, end, claims, styled(verdict.answer, begin, end))),
        cut_before=begin > 0,
        cut_after=end < len(verdict.answer),
        claims=tuple(_claim(claim, length) for claim in claims),
    )


def pieces(
    text: str,
    spans: Sequence[VerdictEvidence],
    begin: int,
    end: int,
    claims: Sequence[VerdictClaim] = (),
    style: Styled = PLAIN,
) -> Iterator[Piece]:
    """Divide ``text[begin:end]`` where spans and claims begin and end; the pieces put together are that text.

    Spans may overlap and repeat each other. Offsets are in characters: what shows the pieces need not
    count in the same units. What ``style`` hides is left out.
    """
    marks: list[VerdictEvidence | VerdictClaim] = [*spans, *claims]
    edges = {begin, end, *style.edges} | {place for mark in marks for place in (mark.start, mark.end)}
    inside = sorted(place for place in edges if begin <= place <= end)
    for left, right in pairwise(inside):
        if style.hides(left):
            continue
        kinds = tuple(dict.fromkeys(span.kind for span in spans if span.start <= left and right <= span.end))
        claim = next((at for at, it in enumerate(claims) if it.start <= left and right <= it.end), None)
        yield Piece(text[left:right], kinds, not FAULTS.isdisjoint(kinds), claim, style.stresses(left))


def told(verdict: Verdict, *, texts: bool) -> AnswerTold:
    """Sum a verdict up, with an excerpt of its texts where they may be shown."""
    return view(
        AnswerTold,
        verdict,
        scored_at=milliseconds(verdict.scored_at),
        reasons=reasons_of(verdict)[:_MOST_CODES],
        evidence=_evidence(verdict),
        opinions=tuple(map(_opinion, verdict.opinions[:_MOST_CODES])),
        documents=tuple(dict.fromkeys(verdict.context_ids))[:_MOST_CODES],
        claims=_counted(verdict),
        excerpt=excerpt(verdict) if texts else None,
    )


def _evidence(verdict: Verdict) -> tuple[EvidenceCount, ...]:
    kinds = Counter(evidence.kind for evidence in all_evidence(verdict))
    told = [EvidenceCount(kind, count, kind in FAULTS) for kind, count in kinds.items()]
    return tuple(sorted(told, key=lambda each: (not each.at_fault, each.kind)))[:_MOST_CODES]


def _counted(verdict: Verdict) -> tuple[ClaimCount, ...]:
    counts = Counter(claim.status for claim in marked_claims(verdict))
    return tuple(ClaimCount(status, count) for status, count in counts.items())


def _claim(claim: VerdictClaim, length: Length) -> ClaimTold:
    source = claim.source
    return view(
        ClaimTold,
        claim,
        words=shortened(claim.text, length.words),
        passage=shortened(source.text, length.passage) if source else None,
        document_id=source.document_id if source else None,
        version=source.version if source else None,
        derivation=shortened(claim.derivation, length.passage) if claim.derivation else None,
    )


def _opinion(opinion: VerdictOpinion) -> OpinionTold:
    models, mistakes = opinion.models[:_MOST_CODES], opinion.mistakes[:_MOST_CODES]
    return view(OpinionTold, opinion, models=models, mistakes=mistakes)


def shortened(text: str, most: int) -> str:
    """Cut a text that is longer than ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
