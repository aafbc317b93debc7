"""Verdicts and claims as lines of a terminal.

A sign says the status too, where no colours are shown.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from rich.console import Console
from rich.text import Text

from schemas.records import Verdict, VerdictClaim, VerdictClaimSource, VerdictOpinion
from scoring.values.checked_claims import ClaimStatus, DecidedBy
from streams.cli.command_output import printable
from streams.pipeline.verdict import MARKED_STATUSES, fault_evidence, marked_claims

#: From a character of a text to another, exclusive.
Span = tuple[int, int]

DECISION_STYLES: Final = {"auto_send": "green", "review": "yellow", "blocked": "bold red"}

# Longer than any line: rich makes lines no wider than what is in them.
_UNBROKEN: Final = 1_000_000

# Passages that the chatbot brought need no naming: it knows them.
_NAMED_SOURCES: Final = frozenset({"by_id", "retrieved"})
_NAMED_PASSAGES = 3
_VERSION_DIGITS = 8


class ResultConsole(Console):
    """Standard output with colours where a terminal shows them; a closed pipe stays an exception.

    In a pipe or a file nothing is wrapped or cut, unless COLUMNS asks for it: a row of a table is one line,
    for grep and its like.
    """

    def __init__(self) -> None:
        super().__init__()
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = _UNBROKEN

    def on_broken_pipe(self) -> None:
        """Let the entry point end the command, as for every other way of writing."""
        raise  # noqa: PLE0704 - rich calls this while it handles the BrokenPipeError


def humanize_code(code: str) -> str:
    """Turn a stable code such as ``auto_send`` into words."""
    return printable(code).replace("_", " ")


def verdict_line(verdict: Verdict) -> Text:
    """Give a verdict as one line.

    It has time, decision, score, message type, answer id, reasons, words at fault, what language models said,
    the documents and versions that were looked up or retrieved, and those that are not there.
    """
    line = Text()
    line.append(f"{time_of_day(verdict.scored_at)}  ")
    line.append(f"{humanize_code(verdict.decision):<9}", DECISION_STYLES.get(verdict.decision, ""))
    line.append(f"  {format_score(verdict.score):>3}  {humanize_code(verdict.message_type):<11}  ")
    line.append(f"{printable(verdict.answer_id)}  {', '.join(map(humanize_code, verdict.reasons))}")
    if words := quote(evidence.text for evidence in fault_evidence(verdict)):
        line.append(f"  {words}", "red")
    for each in verdict.opinions:
        line.append(f"  [{format_opinion(each)}]", "cyan")
    if looked_up := format_documents(verdict):
        line.append(f"  {looked_up}", "dim")
    if missing := tuple(map(printable, verdict.missing_context_ids)):
        line.append(f"  (not there: {_some(missing)})", "yellow")
    return line


def format_opinion(opinion: VerdictOpinion) -> str:
    """Give an opinion in a few words, such as ``single by gpt-small: FALSE 0.93, number``."""
    by = f" by {printable(', '.join(opinion.models))}" if opinion.models else ""
    label = f"{opinion.label} {opinion.confidence:.2f}" if opinion.label else f"no label, {opinion.unsure}"
    shortened = ("not all of the documents were read",) if opinion.shortened else ()
    findings = ", ".join(map(humanize_code, (label, *opinion.mistakes, *shortened)))
    return f"{humanize_code(opinion.method)}{by}: {findings}"


def format_documents(verdict: Verdict) -> str:
    """Name the documents that were looked up or retrieved, such as ``(by id: d-1@0f3c9a12)``, or nothing."""
    names = tuple(dict.fromkeys(document_label(each.document_id, each.version) for each in verdict.context))
    if verdict.context_source not in _NAMED_SOURCES or not names:
        return ""
    return f"({humanize_code(verdict.context_source)}: {_some(names)})"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED_PASSAGES} more" if len(names) > _NAMED_PASSAGES else ""
    return ", ".join(names[:_NAMED_PASSAGES]) + more


def document_label(document_id: str, version: str | None) -> str:
    """Name a document and the beginning of its version, such as ``d-1@0f3c9a12``."""
    return printable(f"{document_id}@{version[:_VERSION_DIGITS]}" if version else document_id)


def highlighted_excerpt(text: str, spans: Sequence[Span], width: int, before: int, style: str) -> Text:
    """Cut about ``width`` characters out of a text, around the first span, with all spans marked.

    ``before`` of them, at most, stand before the first span.
    """
    start = max(0, min(spans[0][0] - before, len(text) - width)) if spans else 0
    end = min(len(text), start + width)
    cut = Text(printable(text[start:end]))  # printable() keeps every offset
    for first, last in spans:
        cut.stylize(style, max(first - start, 0), max(last - start, 0))
    return Text("…" if start else "") + cut + Text("…" if end < len(text) else "")


def quote(words: Iterable[str]) -> str:
    """Give words in quotation marks, separated by commas, on one line."""
    return ", ".join(f"“{printable(word)}”" for word in dict.fromkeys(words))


def format_score(value: float | None) -> str:
    """Give a score with one decimal, or a dash where there is none."""
    return "-" if value is None else f"{value:.1f}"


def time_of_day(moment: datetime) -> str:
    """Give the time of day where the reader is."""
    return f"{moment.astimezone():%H:%M:%S}"


def format_relevance(relevance: float, floor: float | None) -> str:
    """Say whether a passage is relevant enough, such as ``relevance 0.18 < floor 0.22 (retrieval.floor)``."""
    if floor is None:
        return f"relevance {relevance:.2f}"
    return (
        f"relevance {relevance:.2f} {'≥' if relevance >= floor else '<'} floor {floor:.2f} (retrieval.floor)"
    )


#: Claims of one verdict in a list that goes on: who wants all reads JSON.
_MAX_CLAIMS = 6
#: Longer words or passages are cut: a line is read at a glance.
_MAX_CHARACTERS = 160

#: How the words of a claim are shown that was checked: a sign before them, and their style.
STATUS_STYLES: Final[dict[str, tuple[str, str]]] = {
    ClaimStatus.CONTRADICTED: ("✗", "bold red"),
    ClaimStatus.NOT_FOUND: ("?", "yellow"),
    ClaimStatus.SIMILAR: ("≈", "cyan"),
    ClaimStatus.SUPPORTED: ("✓", "green"),
}


def verdict_with_claims(verdict: Verdict) -> Text:
    """Give a verdict as one line, and below it a line for each of the claims that are shown."""
    return Text("\n").join((verdict_line(verdict), *claim_lines(verdict, _MAX_CLAIMS)))


def claim_lines(verdict: Verdict, limit: int) -> tuple[Text, ...]:
    """Give a line a claim, with the passage beside it; at most so many, and one that counts the rest.

    Those that speak against the answer most are shown, in the order of the answer.
    """
    claims = marked_claims(verdict)
    lines = [_line(claim) for claim in sorted(claims[:limit], key=lambda claim: claim.start)]
    return (*lines, _rest(claims[limit:])) if claims[limit:] else tuple(lines)


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
            sign, style = STATUS_STYLES[claim.status]
            cut.append(printable(answer[at:first]))
            cut.append(f"{sign}{printable(answer[first:last])}", style)
            at = last
    return cut.append(printable(answer[at:end])).append("…" if end < len(answer) else "")


def _line(claim: VerdictClaim) -> Text:
    sign, style = STATUS_STYLES[claim.status]
    line = Text("    ").append(f"{sign} {_status(claim)}  {_quoted(claim.text)}", style)
    line.append(_lacking(claim), "dim")
    if claim.source:
        line.append(f"  {_found_in(claim, claim.source)}: {_quoted(claim.source.text)}", "dim")
    if claim.derivation:
        line.append(f", so {printable(claim.derivation[:_MAX_CHARACTERS])}", "dim")
    return line


def claim_in_full(claim: VerdictClaim) -> Text:
    """Give a claim of whatever status with its place in the answer, and below it the whole of its passage."""
    sign, style = STATUS_STYLES.get(claim.status, ("·", "dim"))
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
    mistake = f" ({humanize_code(claim.mistake)})" if claim.mistake else ""
    by = f", by a {humanize_code(claim.decided_by)}" if claim.decided_by != DecidedBy.WORDS else ""
    return f"{humanize_code(claim.status)}{mistake}{by}"


def _lacking(claim: VerdictClaim) -> str:
    words = [
        claim.text[span.start - claim.start : span.end - claim.start] for span in claim.lacking[:_MAX_CLAIMS]
    ]
    said = "called wrong" if claim.decided_by == DecidedBy.JUDGE else "not in the passage"
    return f"  ({said}: {', '.join(map(_quoted, words))})" if words else ""


def _found_in(claim: VerdictClaim, source: VerdictClaimSource) -> str:
    nearest = "nearest in " if claim.status == ClaimStatus.NOT_FOUND else ""
    return f"{nearest}{document_label(source.document_id, source.version)}"


def _rest(claims: tuple[VerdictClaim, ...]) -> Text:
    statuses = [claim.status for claim in claims]
    told = [
        f"{statuses.count(status)} {humanize_code(status)}"
        for status in MARKED_STATUSES
        if status in statuses
    ]
    return Text(f"    and {', '.join(told)}", "dim")


def _quoted(text: str) -> str:
    cut = text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
    return f"“{printable(cut)}”"
