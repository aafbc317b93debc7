"""A whole answer with its claims and the words at fault marked, by signs too where no colours are shown."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from schemas.records import Verdict
from streams.answers.evidence import marked_claims, offending
from streams.cli.claims import SHOWN
from streams.cli.output import printable

LEGEND: Final = "✗ contradicted, ? not found, ✓ supported, «at fault»"
_AT_FAULT: Final = "bold red underline"


def marked_answer(verdict: Verdict) -> Text:
    """Give the answer; signs stand before the words of claims, and around those at fault."""
    text, end = Text(in_lines(verdict.answer)), len(verdict.answer)
    signs: list[tuple[int, str]] = []
    for claim in marked_claims(verdict):
        sign, style = SHOWN[claim.status]
        text.stylize(style, claim.start, min(claim.end, end))
        signs.append((claim.start, sign))
    for fault in offending(verdict):
        if fault.start < min(fault.end, end):
            text.stylize(_AT_FAULT, fault.start, min(fault.end, end))
            signs += [(fault.start, "«"), (min(fault.end, end), "»")]
    # In the order in which they are met: what ends somewhere ends before something else begins there.
    signs.sort(key=lambda each: (each[0], each[1] != "»"))
    parts = text.divide([place for place, _ in signs])
    marked = Text()
    for part, (_, sign) in zip(parts, signs, strict=False):
        marked.append_text(part).append(sign)
    return marked.append_text(parts[-1])


def in_lines(text: str) -> str:
    """Make text safe for a terminal, with its lines; every offset stays what it was."""
    return "\n".join(map(printable, text.split("\n")))
