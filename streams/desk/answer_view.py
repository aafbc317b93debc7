"""One answer as the page shows it: what is marked in it, and the passages beside it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final
from urllib.parse import urlsplit

from schemas import Verdict, VerdictClaim, VerdictEvidence, VerdictOpinion
from streams.explaining.explanation import ReasonExplanation
from streams.explaining.verdict_explainer import explain_reasons
from streams.pipeline.verdict import WRONG_STATUSES, fault_evidence, marked_claims
from streams.web.excerpt import LACKING, segments

_MAX_CLAIMS: Final = 60
_MAX_SPANS: Final = 200
_MAX_ITEMS: Final = 20
#: Characters that change how others are shown, or are not shown themselves.
_INVISIBLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A stretch of the answer: ``mark`` is the status of its claim, or ``fault``, or empty.

    ``claim`` is the number of its claim, from 1, and ``names`` are the codes of what is marked.
    """

    text: str
    mark: str
    claim: int | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim with the title and the address of the document that it was compared with."""

    number: int
    claim: VerdictClaim
    title: str | None
    url: str | None


@dataclass(frozen=True, slots=True)
class AnswerView:
    """A verdict with its answer in parts; ``wrong`` claims come before the ``other`` ones."""

    verdict: Verdict
    parts: tuple[AnswerPart, ...]
    reasons: tuple[ReasonExplanation, ...]
    wrong: tuple[ClaimView, ...]
    other: tuple[ClaimView, ...]
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
        tuple(each for each in views if each.claim.status not in WRONG_STATUSES),
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
        return ClaimView(number, claim, None, None)
    document_id = claim.source.document_id
    named = next((each for each in verdict.context if each.document_id == document_id), None)
    title, url = (named.title, named.url) if named else (None, None)
    return ClaimView(number, claim, title or document_id, web_address(url))


def _parts(verdict: Verdict, claims: list[VerdictClaim]) -> Iterator[AnswerPart]:
    lacking = (
        VerdictEvidence(LACKING, "", span.start, span.end) for claim in claims for span in claim.lacking
    )
    spans = list(islice(chain(fault_evidence(verdict), lacking), _MAX_SPANS))
    for segment in segments(verdict.answer, spans, 0, len(verdict.answer), claims):
        claim = None if segment.claim is None else claims[segment.claim]
        mark = claim.status if claim else ""
        if segment.at_fault or segment.kinds:
            mark = "fault"
        names = tuple(dict.fromkeys((*([claim.status] if claim else []), *segment.kinds)))
        number = None if segment.claim is None else segment.claim + 1
        yield AnswerPart(segment.text, mark, number, names)
