"""The claims of a verdict in a terminal: its answer's words by status, with the passages beside them.

A sign says the status too, where no colours are shown.
"""

from __future__ import annotations

from typing import Final

from rich.text import Text

from schemas.records import Verdict, VerdictClaim, VerdictClaimSource
from scoring.values.claims import ClaimStatus, DecidedBy
from streams.answers.evidence import MARKED, marked_claims
from streams.cli.output import printable
from streams.cli.render import in_words, named, verdict_line

#: Claims of one verdict in a list that goes on: who wants all reads JSON.
_MOST_CLAIMS = 6
#: Longer words or passages are cut: a line is read at a glance.
_MOST_CHARACTERS = 160

#: How the words of a claim are shown that was checked: a sign before them, and their style.
SHOWN: Final[dict[str, tuple[str, str]]] = {
    ClaimStatus.CONTRADICTED: ("✗", "bold red"),
    ClaimStatus.NOT_FOUND: ("?", "yellow"),
    ClaimStatus.SIMILAR: ("≈", "cyan"),
    ClaimStatus.SUPPORTED: ("✓", "green"),
}


def verdict_with_claims(verdict: Verdict) -> Text:
    """Give a verdict as one line, and below it a line for each of the claims that are shown."""
    return Text("\n").join((verdict_line(verdict), *claim_lines(verdict, _MOST_CLAIMS)))


def claim_lines(verdict: Verdict, most: int) -> tuple[Text, ...]:
    """Give a line a claim, with the passage beside it; at most so many, and one that counts the rest.

    Those that speak against the answer most are shown, in the order of the answer.
    """
    claims = marked_claims(verdict)
    lines = [_line(claim) for claim in sorted(claims[:most], key=lambda claim: claim.start)]
    return (*lines, _rest(claims[most:])) if claims[most:] else tuple(lines)


def marked_excerpt(verdict: Verdict, width: int, before: int) -> Text:
    """Cut about ``width`` characters out of the answer, with the claims in it marked.

    ``before`` of them, at most, stand before what speaks against it most.
    """
    answer, claims = verdict.answer, marked_claims(verdict)
    at = start = max(0, min(claims[0].start - before, len(answer) - width)) if claims else 0
    end = min(len(answer), start + width)
    cut = Text("…" if start else "")
    for claim in sorted(claims, key=lambda claim: claim.start):
        first, last = max(claim.start, at), min(claim.end, end)
        if first < last:
            sign, style = SHOWN[claim.status]
            cut.append(printable(answer[at:first]))
            cut.append(f"{sign}{printable(answer[first:last])}", style)
            at = last
    return cut.append(printable(answer[at:end])).append("…" if end < len(answer) else "")


def _line(claim: VerdictClaim) -> Text:
    sign, style = SHOWN[claim.status]
    line = Text("    ").append(f"{sign} {_status(claim)}  {_quoted(claim.text)}", style)
    line.append(_lacking(claim), "dim")
    if claim.source:
        line.append(f"  {_found_in(claim, claim.source)}: {_quoted(claim.source.text)}", "dim")
    if claim.derivation:
        line.append(f", so {printable(claim.derivation[:_MOST_CHARACTERS])}", "dim")
    return line


def claim_in_full(claim: VerdictClaim) -> Text:
    """Give a claim of whatever status with its place in the answer, and below it the whole of its passage."""
    sign, style = SHOWN.get(claim.status, ("·", "dim"))
    told = Text(f"{sign} {_status(claim)}  “{printable(claim.text)}”", style)
    support = "" if claim.support is None else f", {claim.support:.2f} of its words"
    told.append(f"  {claim.start}–{claim.end}{support}{_lacking(claim)}", "dim not bold")
    if source := claim.source:
        told.append(f"\n  {_found_in(claim, source)} {source.start}–{source.end}: ", "dim not bold")
        told.append(f"“{printable(source.text)}”", "default not bold")
    if claim.derivation:
        told.append(f"\n  so {printable(claim.derivation)}", "default not bold")
    return told


def _status(claim: VerdictClaim) -> str:
    mistake = f" ({in_words(claim.mistake)})" if claim.mistake else ""
    by = f", by a {in_words(claim.decided_by)}" if claim.decided_by not in ("", DecidedBy.WORDS) else ""
    return f"{in_words(claim.status)}{mistake}{by}"


def _lacking(claim: VerdictClaim) -> str:
    words = [
        claim.text[span.start - claim.start : span.end - claim.start] for span in claim.lacking[:_MOST_CLAIMS]
    ]
    said = "called wrong" if claim.decided_by == DecidedBy.JUDGE else "not in the passage"
    return f"  ({said}: {', '.join(map(_quoted, words))})" if words else ""


def _found_in(claim: VerdictClaim, source: VerdictClaimSource) -> str:
    nearest = "nearest in " if claim.status == ClaimStatus.NOT_FOUND else ""
    return f"{nearest}{named(source.document_id, source.version)}"


def _rest(claims: tuple[VerdictClaim, ...]) -> Text:
    statuses = [claim.status for claim in claims]
    told = [f"{statuses.count(status)} {in_words(status)}" for status in MARKED if status in statuses]
    return Text(f"    and {', '.join(told)}", "dim")


def _quoted(text: str) -> str:
    cut = text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
    return f"“{printable(cut)}”"
