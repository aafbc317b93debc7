"""A whole answer with its claims and the words at fault marked, by signs too where no colours are shown."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from schemas.records import Verdict
from streams.answers.evidence import marked_claims, offending
from streams.cli.claims import SHOWN
from streams.cli.output import printable

LEGEND: Final = "✗ contradicted, ? not found, ≈ similar, ‹not in the passage›, ✓ supported, «at fault»"
_AT_FAULT: Final = "bold red underline"
_CLOSING: Final = "›»"


def marked_answer(verdict: Verdict) -> Text:
    """Give the answer; signs stand before claims, and around words at fault or that a passage lacks."""
    text, end = Text(in_lines(verdict.answer)), len(verdict.answer)
    signs: list[tuple[int, str]] = []
    marks = [(fault.start, fault.end, "«", "»") for fault in offending(verdict)]
    for claim in marked_claims(verdict):
        sign, style = SHOWN[claim.status]
        text.stylize(style, claim.start, min(claim.end, end))
        signs.append((claim.start, sign))
        marks += [(span.start, span.end, "‹", "›") for span in claim.lacking]
    for start, stop, opening, closing in marks:
        if start < min(stop, end):
            text.stylize(_AT_FAULT if closing == "»" else "underline", start, min(stop, end))
            signs += [(start, opening), (min(stop, end), closing)]
    # In the order in which they are met: what ends somewhere ends before something else begins there.
    signs.sort(key=lambda each: (each[0], each[1] not in _CLOSING))
    parts = text.divide([place for place, _ in signs])
    marked = Text()
    for part, (_, sign) in zip(parts, signs, strict=False):
        marked.append_text(part).append(sign)
    return marked.append_text(parts[-1])


def in_lines(text: str) -> str:
    """Make text safe for a terminal, with its lines; every offset stays what it was."""
    return "\n".join(map(printable, text.split("\n")))
