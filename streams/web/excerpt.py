"""Excerpts of an answer with its marked words, and verdicts without texts or with truncated ones."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice, pairwise
from operator import itemgetter
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from schemas.records import Verdict, VerdictClaim, VerdictEvidence, VerdictOpinion
from streams.explaining.verdict_explainer import explain_reasons
from streams.pipeline.verdict import FAULTS, WRONG_STATUSES, all_evidence, fault_evidence, marked_claims
from streams.rates.verdict_counts import to_epoch_ms
from streams.web.page_data import (
    AnswerSegment,
    AnswerSummary,
    ClaimCount,
    EvidenceCount,
    Excerpt,
    from_attributes,
)

Span = tuple[int, int]

# Only marks, line ends and indentation may be between the parts of a displayed text.
_BETWEEN: Final = re.compile(r"[*_`#\s]*")
_MARKS: Final = re.compile(r"[*_`]+|#{1,6}[ \t]+$")

_OPENING: Final = frozenset({"em_open", "strong_open"})
_CLOSING: Final = frozenset({"em_close", "strong_close"})


@dataclass(frozen=True, slots=True)
class MarkdownStyle:
    """Which characters of a text are Markdown marks, not to be displayed, and which are emphasised."""

    hidden: tuple[Span, ...] = ()
    strong: tuple[Span, ...] = ()

    @property
    def edges(self) -> frozenset[int]:
        """The offsets at which the style changes."""
        return frozenset(place for span in (*self.hidden, *self.strong) for place in span)

    def is_hidden(self, offset: int) -> bool:
        """Return whether the character there is a mark."""
        return _within(offset, self.hidden)

    def is_strong(self, offset: int) -> bool:
        """Return whether the character there is emphasised."""
        return _within(offset, self.strong)


PLAIN: Final = MarkdownStyle()


def markdown_style(text: str, begin: int, end: int) -> MarkdownStyle:
    """Find the marks of bold, italics, code and headings in ``text[begin:end]``; all else is unchanged.

    Offsets are those of the whole text. Addresses of links are shown, since they may be what is untrue.
    """
    hidden: list[Span] = []
    strong: list[Span] = []
    at = begin
    for content, is_strong in _contents(text[begin:end]):
        found = text.find(content, at, end)
        if found < 0 or not _BETWEEN.fullmatch(text, at, found):
            break  # the parsed text differs from the source: the rest is shown as it is
        hidden += _marks(text, at, found)
        at = found + len(content)
        if is_strong:
            strong.append((found, at))
    if _BETWEEN.fullmatch(text, at, end) and strong:
        hidden += _marks(text, at, end)
    return MarkdownStyle(tuple(hidden), tuple(strong))


def _marks(text: str, start: int, end: int) -> list[Span]:
    return [mark.span() for mark in _MARKS.finditer(text, start, end)]


def _contents(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the displayed parts of a text, in order, and whether each is emphasised."""
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


def _within(offset: int, spans: Sequence[Span]) -> bool:
    """Return whether one of the spans, which are in order and do not overlap, has an offset."""
    before = bisect_right(spans, offset, key=itemgetter(0))
    return before > 0 and offset < spans[before - 1][1]


_MAX_CLAIMS: Final = 50
#: Marks words of a claim as evidence does: the documents lack them, or a judge calls them wrong.
LACKING: Final = "lacking"
_MAX_SPANS: Final = 200
_MAX_CODES: Final = 20


@dataclass(frozen=True, slots=True)
class ExcerptLimits:
    """How many characters of each text are shown; ``before``: those before its first mark."""

    answer: int
    before: int
    question: int
    words: int
    passage: int


#: A text may be a megabyte long; what explains the verdict is around the first span at fault.
LIST_LIMITS: Final = ExcerptLimits(answer=1_500, before=400, question=400, words=200, passage=600)
DETAIL_LIMITS: Final = ExcerptLimits(answer=10_000, before=2_000, question=4_000, words=1_000, passage=1_000)


def make_excerpt(verdict: Verdict, limits: ExcerptLimits = LIST_LIMITS) -> Excerpt:
    """Return the part of the answer that explains the verdict, with its evidence marked."""
    wrong = next((claim.start for claim in marked_claims(verdict) if claim.status in WRONG_STATUSES), None)
    place = next((fault.start for fault in fault_evidence(verdict)), 0) if wrong is None else wrong
    begin = max(0, place - limits.before)
    end = min(len(verdict.answer), begin + limits.answer)
    begin = max(0, min(begin, end - limits.answer))
    lacking = (
        VerdictEvidence(LACKING, verdict.answer[span.start : span.end], span.start, span.end)
        for claim in marked_claims(verdict)
        for span in claim.lacking
    )
    spans = list(islice(chain(all_evidence(verdict), lacking), _MAX_SPANS))
    inside = [claim for claim in marked_claims(verdict) if claim.start < end and begin < claim.end]
    claims = sorted(inside[:_MAX_CLAIMS], key=lambda claim: claim.start)
    return Excerpt(
        question=truncate(verdict.question, limits.question),
        answer=tuple(
            segments(verdict.answer, spans, begin, end, claims, markdown_style(verdict.answer, begin, end))
        ),
        cut_before=begin > 0,
        cut_after=end < len(verdict.answer),
        claims=tuple(truncate_claim(claim, limits) for claim in claims),
    )


def segments(
    text: str,
    spans: Sequence[VerdictEvidence],
    begin: int,
    end: int,
    claims: Sequence[VerdictClaim] = (),
    style: MarkdownStyle = PLAIN,
) -> Iterator[AnswerSegment]:
    """Divide ``text[begin:end]`` where spans and claims begin and end; the segments joined are that text.

    Spans may overlap and repeat each other. Offsets are in characters, which a browser counts in other
    units: hence segments. What ``style`` hides is left out.
    """
    marks: list[VerdictEvidence | VerdictClaim] = [*spans, *claims]
    edges = {begin, end, *style.edges} | {place for mark in marks for place in (mark.start, mark.end)}
    inside = sorted(place for place in edges if begin <= place <= end)
    for left, right in pairwise(inside):
        if style.is_hidden(left):
            continue
        kinds = tuple(dict.fromkeys(span.kind for span in spans if span.start <= left and right <= span.end))
        claim = next((at for at, it in enumerate(claims) if it.start <= left and right <= it.end), None)
        yield AnswerSegment(
            text[left:right], kinds, not FAULTS.isdisjoint(kinds), claim, style.is_strong(left)
        )


def summarize_answer(verdict: Verdict, *, texts: bool) -> AnswerSummary:
    """Summarize a verdict, with an excerpt of its texts if they may be shown."""
    return from_attributes(
        AnswerSummary,
        verdict,
        scored_at=to_epoch_ms(verdict.scored_at),
        reasons=explain_reasons(verdict)[:_MAX_CODES],
        evidence=_evidence(verdict),
        opinions=tuple(map(_opinion, verdict.opinions[:_MAX_CODES])),
        documents=tuple(dict.fromkeys(verdict.context_ids))[:_MAX_CODES],
        claims=_claim_counts(verdict),
        excerpt=make_excerpt(verdict) if texts else None,
    )


def _evidence(verdict: Verdict) -> tuple[EvidenceCount, ...]:
    kinds = Counter(evidence.kind for evidence in all_evidence(verdict))
    counts = [EvidenceCount(kind, count, kind in FAULTS) for kind, count in kinds.items()]
    return tuple(sorted(counts, key=lambda each: (not each.at_fault, each.kind)))[:_MAX_CODES]


def _claim_counts(verdict: Verdict) -> tuple[ClaimCount, ...]:
    counts = Counter(claim.status for claim in marked_claims(verdict))
    return tuple(ClaimCount(status, count) for status, count in counts.items())


def _opinion(opinion: VerdictOpinion) -> VerdictOpinion:
    models, mistakes = opinion.models[:_MAX_CODES], opinion.mistakes[:_MAX_CODES]
    return replace(opinion, models=models, mistakes=mistakes, evidence=())


def truncate(text: str, most: int) -> str:
    """Cut a text that is longer than ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


_MAX_ITEMS: Final = 100


def without_texts(verdict: Verdict) -> Verdict:
    """Return a verdict without question and answer, and without anything that quotes them or a document."""
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


def truncate_verdict(verdict: Verdict) -> Verdict:
    """Return a verdict with its long lists and texts cut, and without its metadata and answer.

    Of the answer there is an excerpt. Whoever wrote it could make it as long as a record may be.
    """
    return replace(
        verdict,
        question=truncate(verdict.question, DETAIL_LIMITS.question),
        answer="",
        metadata={},
        reasons=verdict.reasons[:_MAX_ITEMS],
        degraded=verdict.degraded[:_MAX_ITEMS],
        context_ids=verdict.context_ids[:_MAX_ITEMS],
        missing_context_ids=verdict.missing_context_ids[:_MAX_ITEMS],
        context=verdict.context[:_MAX_ITEMS],
        features=tuple(replace(each, evidence=_cut(each.evidence)) for each in verdict.features[:_MAX_ITEMS]),
        opinions=tuple(replace(each, evidence=_cut(each.evidence)) for each in verdict.opinions[:_MAX_ITEMS]),
        claims=tuple(truncate_claim(each, DETAIL_LIMITS) for each in verdict.claims[:_MAX_ITEMS]),
    )


def _placed(evidence: Iterable[VerdictEvidence]) -> tuple[VerdictEvidence, ...]:
    return tuple(replace(each, text="") for each in evidence)


def _cut(evidence: tuple[VerdictEvidence, ...]) -> tuple[VerdictEvidence, ...]:
    return tuple(
        replace(each, text=truncate(each.text, DETAIL_LIMITS.words)) for each in evidence[:_MAX_ITEMS]
    )


def _without_words(claim: VerdictClaim) -> VerdictClaim:
    source = replace(claim.source, text="") if claim.source else None
    return replace(claim, text="", derivation=None, source=source)


def truncate_claim(claim: VerdictClaim, limits: ExcerptLimits) -> VerdictClaim:
    """Return a claim with its texts truncated."""
    source, derivation = claim.source, claim.derivation
    return replace(
        claim,
        text=truncate(claim.text, limits.words),
        source=replace(source, text=truncate(source.text, limits.passage)) if source else None,
        derivation=truncate(derivation, limits.passage) if derivation else None,
    )
