"""Excerpts of Markdown with the marked words of an answer."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice, pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from schemas.records import Verdict, VerdictClaim, VerdictEvidence, VerdictOpinion
from streams.explaining.explaining import reasons_of
from streams.pipeline.verdict import FAULTS, WRONG, all_evidence, marked_claims, offending
from streams.rates.outcomes import milliseconds
from streams.web.views import (
    AnswerTold,
    ClaimCount,
    ClaimTold,
    EvidenceCount,
    Excerpt,
    OpinionTold,
    Piece,
    view,
)

Span = tuple[int, int]

# Between what is shown stand marks, line ends and indentation, else this is not where a text came from.
_BETWEEN: Final = re.compile(r"[*_`#\s]*")
_MARKS: Final = re.compile(r"[*_`]+|#{1,6}[ \t]+$")

_OPENING: Final = frozenset({"em_open", "strong_open"})
_CLOSING: Final = frozenset({"em_close", "strong_close"})


@dataclass(frozen=True, slots=True)
class Styled:
    """Which characters of a text are marks that need not be shown, and which are stressed by some."""

    hidden: tuple[Span, ...] = ()
    strong: tuple[Span, ...] = ()

    @property
    def edges(self) -> frozenset[int]:
        """Where the style changes."""
        return frozenset(place for span in (*self.hidden, *self.strong) for place in span)

    def hides(self, place: int) -> bool:
        """Say whether the character there is a mark."""
        return _within(place, self.hidden)

    def stresses(self, place: int) -> bool:
        """Say whether the character there is stressed."""
        return _within(place, self.strong)


PLAIN: Final = Styled()


def styled(text: str, begin: int, end: int) -> Styled:
    """Find the marks of bold, italics, code and headings in ``text[begin:end]``; all else stays as it is.

    Offsets are those of the whole text. Addresses of links are shown, since they may be what is untrue.
    """
    hidden: list[Span] = []
    strong: list[Span] = []
    at = begin
    for content, is_strong in _contents(text[begin:end]):
        found = text.find(content, at, end)
        if found < 0 or not _BETWEEN.fullmatch(text, at, found):
            break  # written otherwise than it is read: the rest is shown as it came
        hidden += _marks(text, at, found)
        at = found + len(content)
        if is_strong:
            strong.append((found, at))
    if _BETWEEN.fullmatch(text, at, end) and strong:
        hidden += _marks(text, at, end)
    return Styled(tuple(hidden), tuple(strong))


def _marks(text: str, start: int, end: int) -> list[Span]:
    return [mark.span() for mark in _MARKS.finditer(text, start, end)]


def _contents(text: str) -> Iterator[tuple[str, bool]]:
    """Give what is shown of a text, in order, and whether it is stressed."""
    in_heading = False
    for token in _reader().parse(text):
        if token.type in {"heading_open", "heading_close"}:
            in_heading = token.type == "heading_open"
        yield from _inline(token.children or (), in_heading=in_heading)


def _inline(children: Iterable[Token], *, in_heading: bool) -> Iterator[tuple[str, bool]]:
    depth = int(in_heading)
    for child in children:
        depth += (child.type in _OPENING) - (child.type in _CLOSING)
        if child.content:
            yield child.content, depth > 0 or child.type == "code_inline"


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("zero").enable(["heading", "emphasis", "backticks"])


def _within(place: int, spans: Iterable[Span]) -> bool:
    return any(start <= place < end for start, end in spans)


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


_MOST: Final = 100


def without_texts(verdict: Verdict) -> Verdict:
    """Give a verdict without question and answer, and without anything that quotes them or a document."""
    return replace(
        verdict,
        question="",
        answer="",
        metadata={},
        context=tuple(replace(each, title=None, url=None) for each in verdict.context),
        features=tuple(replace(each, evidence=_placed(each.evidence)) for each in verdict.features),
        opinions=tuple(replace(each, evidence=_placed(each.evidence)) for each in verdict.opinions),
        claims=tuple(_without_words(claim) for claim in verdict.claims),
    )


def cut(verdict: Verdict) -> Verdict:
    """Give a verdict with its long lists and texts cut, and without its metadata and answer.

    Of the answer there is an excerpt. Whoever wrote it could make it as long as a record may be.
    """
    return replace(
        verdict,
        question=shortened(verdict.question, IN_FULL.question),
        answer="",
        metadata={},
        reasons=verdict.reasons[:_MOST],
        degraded=verdict.degraded[:_MOST],
        context_ids=verdict.context_ids[:_MOST],
        missing_context_ids=verdict.missing_context_ids[:_MOST],
        context=verdict.context[:_MOST],
        features=tuple(replace(each, evidence=_cut(each.evidence)) for each in verdict.features[:_MOST]),
        opinions=tuple(replace(each, evidence=_cut(each.evidence)) for each in verdict.opinions[:_MOST]),
        claims=tuple(map(_shortened_claim, verdict.claims[:_MOST])),
    )


def _placed(evidence: Iterable[VerdictEvidence]) -> tuple[VerdictEvidence, ...]:
    return tuple(replace(each, text="") for each in evidence)


def _cut(evidence: tuple[VerdictEvidence, ...]) -> tuple[VerdictEvidence, ...]:
    return tuple(replace(each, text=shortened(each.text, IN_FULL.words)) for each in evidence[:_MOST])


def _without_words(claim: VerdictClaim) -> VerdictClaim:
    source = replace(claim.source, text="") if claim.source else None
    return replace(claim, text="", derivation=None, source=source)


def _shortened_claim(claim: VerdictClaim) -> VerdictClaim:
    source, derivation = claim.source, claim.derivation
    return replace(
        claim,
        text=shortened(claim.text, IN_FULL.words),
        source=replace(source, text=shortened(source.text, IN_FULL.passage)) if source else None,
        derivation=shortened(derivation, IN_FULL.passage) if derivation else None,
    )
