"""Rendering of verdicts and claims for a terminal; signs give a claim's status where colours are missing."""

import os
from collections.abc import Collection, Iterable, Sequence
from operator import itemgetter
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schemas.records import Verdict, VerdictClaim, VerdictClaimSource, VerdictOpinion
from scoring.values.checked_claims import ClaimStatus, DecidedBy
from streams.cli.command_output import and_more, printable
from streams.pipeline.verdict import MARKED_STATUSES, fault_evidence, marked_claims

#: A part of a text to mark: its start and end, a sign to put before it, and its style.
Mark = tuple[int, int, str, str]

DECISION_STYLES: Final = {"auto_send": "green", "review": "yellow", "blocked": "bold red"}

#: How the claims of each status appear: a sign before them, and a style.
STATUS_STYLES: Final[dict[str, tuple[str, str]]] = {
    ClaimStatus.CONTRADICTED: ("✗", "bold red"),
    ClaimStatus.NOT_FOUND: ("?", "yellow"),
    ClaimStatus.SIMILAR: ("≈", "cyan"),
    ClaimStatus.SUPPORTED: ("✓", "green"),
}

# Passages that came with the answer are not named: the chatbot knows them.
_NAMED_SOURCES: Final = frozenset({"by_id", "retrieved"})
_MAX_DOCUMENTS = 3
_VERSION_DIGITS = 8
#: Claims of one verdict in `tail`; --json has all.
_MAX_CLAIMS = 6
#: Longer texts are cut: a line is read at a glance.
_MAX_CHARACTERS = 160


class ResultConsole(Console):
    """A console on standard output, with colours on a terminal; a closed pipe stays an exception.

    In a pipe or a file nothing is wrapped or cut, unless COLUMNS is set: a row is one line, for grep.
    """

    def __init__(self) -> None:
        super().__init__()
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = 1_000_000  # longer than any line: rich pads no line

    def on_broken_pipe(self) -> None:
        """Let the entry point end the command."""
        raise  # noqa: PLE0704 - rich calls this while it handles the BrokenPipeError


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], numbers: Collection[str] = ()
) -> None:
    """Print a table of texts; ``numbers`` are the headings of columns to align on the right."""
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left")
    for row in rows:
        table.add_row(*(each if isinstance(each, Text) else Text(printable(str(each))) for each in row))
    ResultConsole().print(table)


def humanize_code(code: str) -> str:
    """Turn a stable code such as ``auto_send`` into words."""
    return printable(code).replace("_", " ")


def verdict_line(verdict: Verdict) -> Text:
    """Render a verdict as one line, with the documents that were looked up or retrieved, and missing ones."""
    line = Text()
    line.append(f"{verdict.scored_at.astimezone():%H:%M:%S}  ")
    line.append(f"{humanize_code(verdict.decision):<9}", DECISION_STYLES.get(verdict.decision, ""))
    line.append(f"  {format_score(verdict.score):>3}  {humanize_code(verdict.message_type):<11}  ")
    line.append(f"{printable(verdict.answer_id)}  {', '.join(map(humanize_code, verdict.reasons))}")
    if words := quote(evidence.text for evidence in fault_evidence(verdict)):
        line.append(f"  {words}", "red")
    for each in verdict.opinions:
        line.append(f"  [{format_opinion(each)}]", "cyan")
    names = tuple(dict.fromkeys(document_label(each.document_id, each.version) for each in verdict.context))
    if names and verdict.context_source in _NAMED_SOURCES:
        line.append(f"  ({humanize_code(verdict.context_source)}: {_first_names(names)})", "dim")
    if missing := tuple(map(printable, verdict.missing_context_ids)):
        line.append(f"  (missing: {_first_names(missing)})", "yellow")
    return line


def format_opinion(opinion: VerdictOpinion) -> str:
    """Format an opinion: ``single by gpt-small: FALSE 0.93, number``."""
    by = f" by {printable(', '.join(opinion.models))}" if opinion.models else ""
    label = f"{opinion.label} {opinion.confidence:.2f}" if opinion.label else f"no label, {opinion.unsure}"
    shortened = ("documents shortened",) if opinion.shortened else ()
    findings = ", ".join(map(humanize_code, (label, *opinion.mistakes, *shortened)))
    return f"{humanize_code(opinion.method)}{by}: {findings}"


def _first_names(names: Sequence[str]) -> str:
    return and_more(", ".join(names[:_MAX_DOCUMENTS]), len(names) - _MAX_DOCUMENTS)


def document_label(document_id: str, version: str | None) -> str:
    """Format a document with the beginning of its version: ``d-1@0f3c9a12``."""
    return printable(f"{document_id}@{version[:_VERSION_DIGITS]}" if version else document_id)


def quote(texts: Iterable[str]) -> str:
    """Format texts in quotation marks, separated by commas, each once, on one line."""
    return ", ".join(f"“{printable(text)}”" for text in dict.fromkeys(texts))


def format_score(value: float | None) -> str:
    """Format a score with one decimal, or ``-``."""
    return "-" if value is None else f"{value:.1f}"


def format_relevance(relevance: float, floor: float | None) -> str:
    """Compare a relevance with the floor: ``relevance 0.18 < floor 0.22 (retrieval.floor)``."""
    if floor is None:
        return f"relevance {relevance:.2f}"
    sign = "≥" if relevance >= floor else "<"
    return f"relevance {relevance:.2f} {sign} floor {floor:.2f} (retrieval.floor)"


def verdict_with_claims(verdict: Verdict) -> Text:
    """Render a verdict as one line, followed by a line for each of its first claims."""
    return Text("\n").join((verdict_line(verdict), *claim_lines(verdict, _MAX_CLAIMS)))


def claim_lines(verdict: Verdict, limit: int) -> tuple[Text, ...]:
    """Render a line per claim with its passage, at most ``limit``, and one that counts the others.

    The claims most against the answer are chosen, and appear in the order of the answer.
    """
    claims = marked_claims(verdict)
    lines = [_claim_line(claim) for claim in sorted(claims[:limit], key=lambda claim: claim.start)]
    if rest := [claim.status for claim in claims[limit:]]:
        counts = [
            f"{rest.count(status)} {humanize_code(status)}" for status in MARKED_STATUSES if status in rest
        ]
        lines.append(Text(f"    and {', '.join(counts)}", "dim"))
    return tuple(lines)


def marked_excerpt(text: str, marks: Sequence[Mark], width: int, before: int) -> Text:
    """Return about ``width`` characters of a text with marks, at most ``before`` before the first mark."""
    at = start = max(0, min(marks[0][0] - before, len(text) - width)) if marks else 0
    end = min(len(text), start + width)
    excerpt = Text("…" if start else "")
    for first, last, sign, style in sorted(marks, key=itemgetter(0)):
        first, last = max(first, at), min(last, end)  # noqa: PLW2901 - what is left of it
        if first < last:
            excerpt.append(printable(text[at:first]))
            excerpt.append(f"{sign}{printable(text[first:last])}", style)
            at = last
    return excerpt.append(printable(text[at:end])).append("…" if end < len(text) else "")


def _claim_line(claim: VerdictClaim) -> Text:
    sign, style = STATUS_STYLES[claim.status]
    line = Text("    ").append(f"{sign} {_status(claim)}  {_quoted(claim.text)}", style)
    line.append(_lacking(claim), "dim")
    if claim.source:
        line.append(f"  {_found_in(claim, claim.source)}: {_quoted(claim.source.text)}", "dim")
    if claim.derivation:
        line.append(f", so {printable(claim.derivation[:_MAX_CHARACTERS])}", "dim")
    return line


def claim_in_full(claim: VerdictClaim) -> Text:
    """Render a claim of any status with its span, and below it the whole passage."""
    sign, style = STATUS_STYLES.get(claim.status, ("·", "dim"))
    text = Text(f"{sign} {_status(claim)}  “{printable(claim.text)}”", style)
    support = "" if claim.support is None else f", support {claim.support:.2f}"
    text.append(f"  {claim.start}–{claim.end}{support}{_lacking(claim)}", "dim not bold")
    if source := claim.source:
        text.append(f"\n  {_found_in(claim, source)} {source.start}–{source.end}: ", "dim not bold")
        text.append(f"“{printable(source.text)}”", "default not bold")
    if claim.derivation:
        text.append(f"\n  so {printable(claim.derivation)}", "default not bold")
    return text


def _status(claim: VerdictClaim) -> str:
    mistake = f" ({humanize_code(claim.mistake)})" if claim.mistake else ""
    by = f", by a {humanize_code(claim.decided_by)}" if claim.decided_by != DecidedBy.WORDS else ""
    return f"{humanize_code(claim.status)}{mistake}{by}"


def _lacking(claim: VerdictClaim) -> str:
    words = [
        claim.text[span.start - claim.start : span.end - claim.start] for span in claim.lacking[:_MAX_CLAIMS]
    ]
    label = "called wrong" if claim.decided_by == DecidedBy.JUDGE else "not in the documents"
    return f"  ({label}: {', '.join(map(_quoted, words))})" if words else ""


def _found_in(claim: VerdictClaim, source: VerdictClaimSource) -> str:
    nearest = "nearest in " if claim.status == ClaimStatus.NOT_FOUND else ""
    return f"{nearest}{document_label(source.document_id, source.version)}"


def _quoted(text: str) -> str:
    cut = text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"
    return f"“{printable(cut)}”"
