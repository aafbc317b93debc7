"""The last blocked answers, and what of them may be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from schemas.records import Verdict, VerdictEvidence, VerdictOpinion
from scoring.assessing.known_rules import describe
from streams.answers.evidence import FAULTS, all_evidence, offending
from streams.pages.views import (
    Blocked,
    BlockedAnswer,
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
    faults = offending(verdict)
    begin = max(0, faults[0].start - _BEFORE_CHARACTERS) if faults else 0
    end = min(len(verdict.answer), begin + _ANSWER_CHARACTERS)
    begin = max(0, min(begin, end - _ANSWER_CHARACTERS))
    spans = list(islice(all_evidence(verdict), _MOST_SPANS))
    return Excerpt(
        question=_shortened(verdict.question),
        answer=tuple(pieces(verdict.answer, spans, begin, end)),
        cut_before=begin > 0,
        cut_after=end < len(verdict.answer),
    )


def pieces(text: str, spans: Sequence[VerdictEvidence], begin: int, end: int) -> Iterator[Piece]:
    """Divide ``text[begin:end]`` where spans begin and end; the pieces put together are that text.

    Spans may overlap and repeat each other. Offsets are in characters: what shows the pieces need not
    count in the same units.
    """
    edges = {begin, end} | {place for span in spans for place in (span.start, span.end)}
    inside = sorted(place for place in edges if begin <= place <= end)
    for left, right in pairwise(inside):
        kinds = tuple(dict.fromkeys(span.kind for span in spans if span.start <= left and right <= span.end))
        yield Piece(text[left:right], kinds, not FAULTS.isdisjoint(kinds))


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
        excerpt=excerpt(verdict) if texts else None,
    )


def _evidence(verdict: Verdict) -> tuple[EvidenceCount, ...]:
    kinds = Counter(evidence.kind for evidence in all_evidence(verdict))
    told = [EvidenceCount(kind, count, kind in FAULTS) for kind, count in kinds.items()]
    return tuple(sorted(told, key=lambda each: (not each.at_fault, each.kind)))[:_MOST_CODES]


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


def _shortened(text: str) -> str:
    return text if len(text) <= _QUESTION_CHARACTERS else text[: _QUESTION_CHARACTERS - 1] + "…"
