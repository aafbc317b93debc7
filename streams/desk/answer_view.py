"""One answer as the page shows it: what is marked in it, and the passages and documents beside it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Final
from urllib.parse import urlsplit

from schemas import Verdict, VerdictClaim, VerdictEvidence, VerdictOpinion
from scoring.values.checked_claims import ClaimStatus
from streams.desk.passage_view import PassageBlock, passage_blocks, place_url
from streams.explaining.explanation import ReasonExplanation
from streams.explaining.verdict_explainer import explain_reasons
from streams.pipeline.verdict import WRONG_STATUSES, fault_evidence, marked_claims
from streams.web.excerpt import LACKING, segments

_MAX_CLAIMS: Final = 60
_MAX_SPANS: Final = 200
_MAX_ITEMS: Final = 20
#: A passage is a sentence or a table; each of its cells may become an element of the page.
_MAX_PASSAGE_CHARACTERS: Final = 5_000
#: Characters that change how others are shown, or are not shown themselves: controls, marks of direction,
#: fillers and tags. Those that only choose the form of an emoji may stay.
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A stretch of the answer: ``mark`` is the status of its claim, ``fault``, ``lacking``, or empty.

    ``fault``: a check objects to it, or its claim is contradicted by it. ``lacking``: the passage lacks it.
    ``claim`` is the number of the claim that ends here, from 1, ``names`` are the codes of what is marked.
    """

    text: str
    mark: str
    claim: int | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim with its passage, and with title and address of the document that has it."""

    number: int
    claim: VerdictClaim
    passage: tuple[PassageBlock, ...]
    title: str | None
    url: str | None


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document that the chatbot had; ``is_missing``: truthgate does not have it."""

    title: str
    url: str | None
    is_missing: bool


@dataclass(frozen=True, slots=True)
class AnswerView:
    """A verdict with its answer in parts.

    Claims: ``wrong`` ones, ``similar`` ones, which nobody can be sure of, and ``supported`` ones.
    """

    verdict: Verdict
    parts: tuple[AnswerPart, ...]
    reasons: tuple[ReasonExplanation, ...]
    wrong: tuple[ClaimView, ...]
    similar: tuple[ClaimView, ...]
    supported: tuple[ClaimView, ...]
    documents: tuple[DocumentView, ...]
    opinions: tuple[VerdictOpinion, ...]


def view_answer(verdict: Verdict) -> AnswerView:
    """Return the view of an answer; of very long lists only the beginning is shown, of the answer all."""
    claims = sorted(marked_claims(verdict)[:_MAX_CLAIMS], key=lambda claim: claim.start)
    views = [_claim(number, claim, verdict) for number, claim in enumerate(claims, start=1)]
    return AnswerView(
        verdict,
        tuple(_parts(verdict, claims)),
        explain_reasons(verdict)[:_MAX_ITEMS],
        tuple(each for each in views if each.claim.status in WRONG_STATUSES),
        tuple(each for each in views if each.claim.status == ClaimStatus.SIMILAR),
        tuple(each for each in views if each.claim.status == ClaimStatus.SUPPORTED),
        tuple(islice(_documents(verdict), _MAX_ITEMS)),
        verdict.opinions[:_MAX_ITEMS],
    )


def show_invisible(text: str) -> str:
    """Return a text with characters that could deceive written as their code: ``⟨U+202E⟩``."""
    return _INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


def web_address(url: str | None) -> str | None:
    """Return an address if a page may link to it."""
    try:
        return url if url and urlsplit(url).scheme in {"http", "https"} else None
    except ValueError:
        return None


def _claim(number: int, claim: VerdictClaim, verdict: Verdict) -> ClaimView:
    if claim.source is None:
        return ClaimView(number, claim, (), None, None)
    document_id, text = claim.source.document_id, claim.source.text[:_MAX_PASSAGE_CHARACTERS]
    named = next((each for each in verdict.context if each.document_id == document_id), None)
    title, url = (named.title, web_address(named.url)) if named else (None, None)
    at = place_url(url, text) if url else None
    return ClaimView(number, claim, passage_blocks(text, claim.text), title or document_id, at)


def _documents(verdict: Verdict) -> Iterator[DocumentView]:
    """Yield each document of the context once, and then those that truthgate lacked."""
    for each in {each.document_id: each for each in verdict.context}.values():
        yield DocumentView(each.title or each.document_id, web_address(each.url), is_missing=False)
    for document_id in dict.fromkeys(verdict.missing_context_ids):
        yield DocumentView(document_id, None, is_missing=True)


def _parts(verdict: Verdict, claims: list[VerdictClaim]) -> Iterator[AnswerPart]:
    lacking = (
        VerdictEvidence(LACKING, "", span.start, span.end) for claim in claims for span in claim.lacking
    )
    spans = list(islice(chain(fault_evidence(verdict), lacking), _MAX_SPANS))
    found = list(segments(verdict.answer, spans, 0, len(verdict.answer), claims))
    for segment, after in zip_longest(found, found[1:]):
        claim = None if segment.claim is None else claims[segment.claim]
        mark = claim.status if claim else ""
        if segment.at_fault or (segment.kinds and mark == ClaimStatus.CONTRADICTED):
            mark = "fault"
        elif segment.kinds and mark != ClaimStatus.NOT_FOUND:
            mark = LACKING
        names = tuple(dict.fromkeys((*([claim.status] if claim else []), *segment.kinds)))
        goes_on = after is not None and after.claim == segment.claim
        number = None if segment.claim is None or goes_on else segment.claim + 1
        yield AnswerPart(segment.text, mark, number, names)
