"""One answer as the page shows it: what is marked in it, and the passages and documents beside it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, groupby, islice, zip_longest
from typing import Final
from urllib.parse import urlsplit

from schemas import Verdict, VerdictClaim, VerdictEvidence, VerdictOpinion
from scoring.values.checked_claims import ClaimStatus
from streams.desk.passage_view import PassageBlock, TextRun, passage_blocks, place_url, text_runs
from streams.explaining.explanation import ReasonExplanation
from streams.explaining.verdict_explainer import explain_reasons
from streams.pipeline.verdict import WRONG_STATUSES, fault_evidence, marked_claims
from streams.web.excerpt import LACKING, PLAIN, markdown_style, segments

_MAX_CLAIMS: Final = 60
_MAX_SPANS: Final = 200
_MAX_ITEMS: Final = 20
#: A longer answer is shown with its marks of Markdown.
_MAX_STYLED: Final = 10_000
#: The mark of what no check has read.
UNCHECKED: Final = "unchecked"
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
    """A stretch of the answer: ``mark`` is the status of its claim, or another mark, or empty.

    ``fault``: a check objects to it, or its claim is contradicted by it. ``lacking``: the documents lack it.
    ``unchecked``: no claim that was checked has it. ``claim`` is the number of its claim, from 1, which ends
    here if ``ends``; ``names`` are the codes of what is marked.
    """

    runs: tuple[TextRun, ...]
    mark: str
    claim: int | None
    ends: bool
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        """The text that is shown: without marks of Markdown."""
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim with its passage, and with title and address of the document that has it."""

    number: int
    claim: VerdictClaim
    runs: tuple[TextRun, ...]
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
    found = marked_claims(verdict)
    claims = sorted(found[:_MAX_CLAIMS], key=lambda claim: claim.start)
    views = [_claim(number, claim, verdict) for number, claim in enumerate(claims, start=1)]
    return AnswerView(
        verdict,
        tuple(_parts(verdict, claims, shows_all=len(found) <= _MAX_CLAIMS)),
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
    runs = text_runs(claim.text)
    if claim.source is None:
        return ClaimView(number, claim, runs, (), None, None)
    document_id, text = claim.source.document_id, claim.source.text[:_MAX_PASSAGE_CHARACTERS]
    named = next((each for each in verdict.context if each.document_id == document_id), None)
    title, url = (named.title, web_address(named.url)) if named else (None, None)
    at = place_url(url, text) if url else None
    return ClaimView(number, claim, runs, passage_blocks(text, claim.text), title or document_id, at)


def _documents(verdict: Verdict) -> Iterator[DocumentView]:
    """Yield each document of the context once, and then those that truthgate lacked."""
    for each in {each.document_id: each for each in verdict.context}.values():
        yield DocumentView(each.title or each.document_id, web_address(each.url), is_missing=False)
    for document_id in dict.fromkeys(verdict.missing_context_ids):
        yield DocumentView(document_id, None, is_missing=True)


def _parts(verdict: Verdict, claims: list[VerdictClaim], *, shows_all: bool) -> Iterator[AnswerPart]:
    lacking = (
        VerdictEvidence(LACKING, "", span.start, span.end) for claim in claims for span in claim.lacking
    )
    spans = list(islice(chain(fault_evidence(verdict), lacking), _MAX_SPANS))
    style = markdown_style(verdict.answer, 0, end) if (end := len(verdict.answer)) <= _MAX_STYLED else PLAIN
    found = segments(verdict.answer, spans, 0, end, claims, style)
    groups = [
        (key, tuple(TextRun(each.text, each.strong) for each in group))
        for key, group in groupby(found, lambda each: (each.claim, each.at_fault, each.kinds))
    ]
    for ((at, at_fault, kinds), runs), after in zip_longest(groups, groups[1:]):
        status = "" if at is None else claims[at].status
        if at_fault or (kinds and status == ClaimStatus.CONTRADICTED):
            mark = "fault"
        elif kinds:
            mark = LACKING
        else:
            has_words = any(map(str.isalpha, chain.from_iterable(run.text for run in runs)))
            mark = status or (UNCHECKED if shows_all and has_words else "")
        ends = at is not None and (after is None or after[0][0] != at)
        names = tuple(dict.fromkeys((*([status] if status else []), *kinds)))
        yield AnswerPart(runs, mark, None if at is None else at + 1, ends, names)
