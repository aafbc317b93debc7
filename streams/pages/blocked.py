"""The last blocked answers, and what of them may be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from schemas.records import Verdict, VerdictClaim, VerdictEvidence, VerdictOpinion
from scoring.assessing.known_rules import describe
from streams.answers.evidence import FAULTS, WRONG, all_evidence, marked_claims, offending
from streams.pages.markdown import PLAIN, Styled, styled
from streams.pages.views import (
    Blocked,
    BlockedAnswer,
    ClaimCount,
    ClaimTold,
    EvidenceCount,
    Excerpt,
    OpinionTold,
    Piece,
    ReasonTold,
)
from streams.rates.outcome import milliseconds

SHOWN_ANSWERS: Final = 20
#: A text may be a megabyte long; what explains the verdict is around the first span at fault.
_ANSWER_CHARACTERS: Final = 1_500
_BEFORE_CHARACTERS: Final = 400
_QUESTION_CHARACTERS: Final = 400
_WORDS_CHARACTERS: Final = 200
_PASSAGE_CHARACTERS: Final = 600
_MOST_CLAIMS: Final = 50
_MOST_SPANS: Final = 200
_MOST_CODES: Final = 20


class LastBlocked:
    """The newest blocked answers, each once; without texts none of their text is kept.

    Args:
        texts: whether questions and answers may be shown.
        shown: how many are kept.
    """

    def __init__(self, texts: bool, shown: int = SHOWN_ANSWERS) -> None:
        self._texts = texts
        self._shown = shown
        self._kept: dict[str, BlockedAnswer] = {}
        self.number = 0

    def add(self, verdict: Verdict) -> None:
        """Take a verdict in; ``number`` grows when what is shown changes."""
        told = _told(verdict, texts=self._texts)
        if self._kept.get(told.verdict_id) == told:
            return
        kept = {**self._kept, told.verdict_id: told}
        newest = sorted(kept.values(), key=lambda answer: (-answer.scored_at, answer.verdict_id))
        self._kept = {answer.verdict_id: answer for answer in newest[: self._shown]}
        self.number += told.verdict_id in self._kept

    def document(self) -> Blocked:
        """Give all, newest first."""
        return Blocked(self.number, self._texts, tuple(self._kept.values()))


def excerpt(verdict: Verdict) -> Excerpt:
    """Cut out of the answer what explains the verdict, with its evidence marked."""
    begin = max(0, _explaining(verdict) - _BEFORE_CHARACTERS)
    end = min(len(verdict.answer), begin + _ANSWER_CHARACTERS)
    begin = max(0, min(begin, end - _ANSWER_CHARACTERS))
    spans = list(islice(all_evidence(verdict), _MOST_SPANS))
    inside = [claim for claim in marked_claims(verdict) if claim.start < end and begin < claim.end]
    claims = sorted(inside[:_MOST_CLAIMS], key=lambda claim: claim.start)
    return Excerpt(
        question=_shortened(verdict.question, _QUESTION_CHARACTERS),
        answer=tuple(pieces(verdict.answer, spans, begin, end, claims, styled(verdict.answer, begin, end))),
        cut_before=begin > 0,
        cut_after=end < len(verdict.answer),
        claims=tuple(map(_claim, claims)),
    )


def _explaining(verdict: Verdict) -> int:
    """Give the place of the answer that explains the verdict most."""
    wrong = next((claim for claim in marked_claims(verdict) if claim.status in WRONG), None)
    return wrong.start if wrong else next((fault.start for fault in offending(verdict)), 0)


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


def _told(verdict: Verdict, *, texts: bool) -> BlockedAnswer:
    return BlockedAnswer(
        verdict_id=verdict.verdict_id,
        answer_id=verdict.answer_id,
        scored_at=milliseconds(verdict.scored_at),
        message_type=verdict.message_type,
        language=verdict.language,
        score=verdict.score,
        reasons=tuple(ReasonTold(code, describe(code) or "") for code in verdict.reasons[:_MOST_CODES]),
        evidence=_evidence(verdict),
        opinions=tuple(map(_opinion, verdict.opinions[:_MOST_CODES])),
        documents=tuple(dict.fromkeys(verdict.context_ids))[:_MOST_CODES],
        claims=_counted(verdict),
        faithfulness=verdict.faithfulness,
        excerpt=excerpt(verdict) if texts else None,
    )


def _evidence(verdict: Verdict) -> tuple[EvidenceCount, ...]:
    kinds = Counter(evidence.kind for evidence in all_evidence(verdict))
    told = [EvidenceCount(kind, count, kind in FAULTS) for kind, count in kinds.items()]
    return tuple(sorted(told, key=lambda each: (not each.at_fault, each.kind)))[:_MOST_CODES]


def _counted(verdict: Verdict) -> tuple[ClaimCount, ...]:
    counts = Counter(claim.status for claim in marked_claims(verdict))
    return tuple(ClaimCount(status, count) for status, count in counts.items())


def _claim(claim: VerdictClaim) -> ClaimTold:
    source = claim.source
    return ClaimTold(
        status=claim.status,
        mistake=claim.mistake,
        words=_shortened(claim.text, _WORDS_CHARACTERS),
        passage=_shortened(source.text, _PASSAGE_CHARACTERS) if source else None,
        document_id=source.document_id if source else None,
        version=source.version if source else None,
        derivation=_shortened(claim.derivation, _PASSAGE_CHARACTERS) if claim.derivation else None,
    )


def _opinion(opinion: VerdictOpinion) -> OpinionTold:
    return OpinionTold(
        method=opinion.method,
        models=opinion.models[:_MOST_CODES],
        label=opinion.label,
        confidence=opinion.confidence,
        unsure=opinion.unsure,
        mistakes=opinion.mistakes[:_MOST_CODES],
        shortened=opinion.shortened,
    )


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
