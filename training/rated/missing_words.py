"""How often the missing words of claims (``lacking``) are mistakes, on answers whose untrue words are marked.

``python -m training.rated.missing_words ANSWERS ... --documents DOCUMENTS ...`` prints three shares: spans
that are in untrue words (``mistakes`` but harmless additions), mistakes that have such a span, and mistakes
that have one or are in a claim that is not found or contradicted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from scoring import Exchange, Passage, Scorer
from scoring.evaluation.statistics import Share
from scoring.values.checked_claims import CheckedClaim, ClaimStatus
from training.packed import read_lines

_HARMLESS = "harmless_addition"
_WRONG = (ClaimStatus.NOT_FOUND, ClaimStatus.CONTRADICTED)

Line = dict[str, Any]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """Counts: spans, those in mistakes, mistakes, those with a span, those with one or in a wrong claim."""

    spans: int = 0
    right: int = 0
    mistakes: int = 0
    marked: int = 0
    seen: int = 0

    def __add__(self, other: Found) -> Found:
        """Return the sum of both."""
        return Found(*(left + right for left, right in zip(astuple(self), astuple(other), strict=True)))


def found(line: Line, claims: Sequence[CheckedClaim]) -> Found:
    """Compare the missing words of an answer with its mistakes; those that are not in it are skipped."""
    words = [each["words"] for each in line["mistakes"] if each["kind"] != _HARMLESS]
    mistakes = [(line["answer"].find(each), line["answer"].find(each) + len(each)) for each in words]
    mistakes = [each for each in mistakes if each[0] >= 0]
    spans = [span for claim in claims for span in claim.lacking]
    wrong = [(claim.start, claim.end) for claim in claims if claim.status in _WRONG]
    return Found(
        len(spans),
        sum(_overlaps(each, mistakes) for each in spans),
        len(mistakes),
        sum(_overlaps(each, spans) for each in mistakes),
        sum(_overlaps(each, [*spans, *wrong]) for each in mistakes),
    )


def _overlaps(span: Span, others: Iterable[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def main() -> None:
    """Read the arguments and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path, nargs="+")
    parser.add_argument("--documents", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    known = {
        (each["language"], each["document_id"]): each
        for path in options.documents
        for each in read_lines(path)
    }
    scorer, total = Scorer(), Found()
    for line in (line for path in options.answers for line in read_lines(path)):
        language = line["language"]
        named = (known[language, name] for name in line["document_ids"] if (language, name) in known)
        context = tuple(Passage(each["document_id"], each["text"], each["title"]) for each in named)
        exchange = Exchange(line["question"], line["answer"], context, language)
        total += found(line, scorer.score(exchange).claims)
    for text, count, of in (
        ("missing words in mistakes", total.right, total.spans),
        ("mistakes with missing words", total.marked, total.mistakes),
        ("mistakes with them or in a wrong claim", total.seen, total.mistakes),
    ):
        share = Share.of(count, of)
        sys.stdout.write(f"{text}: {count}/{of}{f' {share.value:.1%}' if share else ''}\n")


if __name__ == "__main__":
    main()
