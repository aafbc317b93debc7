"""How often what is shown as supported is true, on rated answers whose untrue words are marked.

``python -m training.rated.ticks ANSWERS ... --documents DOCUMENTS ...`` prints the shares twice:
"before" with a tick at every claim that has a passage (supported or similar), "now" at supported ones alone.

A claim is untrue where it overlaps the untrue words (``mistakes``) of an answer rated below 5, and true
otherwise; one that could not be checked is neither. A mistake is hard where the ``evidence`` of its answer
has at least half of the mistake's words of content, as after one small change to a true answer; a chatbot
that invents freely writes others. An answer is ordinary where none of its mistakes is hard. Words that do not
stand in their answer are counted and skipped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring import Exchange, Passage, Scorer
from scoring.evaluation.statistics import Share
from scoring.lexicon import Lexicon, load_shipped
from scoring.text.prepared_text import folded_words
from scoring.values.checked_claims import CheckedClaim, ClaimStatus
from training.packed import read_lines

_HARD_FROM = 0.5
_TRUE = 5
_BEFORE = (ClaimStatus.SUPPORTED, ClaimStatus.SIMILAR)

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rated:
    """A claim that was checked; ``is_ordinary`` is said of its answer."""

    status: ClaimStatus
    is_true: bool
    is_ordinary: bool


@dataclass(frozen=True, slots=True)
class Ticks:
    """The three shares of one group of claims.

    ``precision``: ticks that stand at true claims; ``untrue``: untrue claims that are ticked; ``true``: true
    ones that are. None where there is nothing to count.
    """

    precision: Share | None
    untrue: Share | None
    true: Share | None

    @classmethod
    def of(cls, claims: Sequence[Rated], ticked: Sequence[ClaimStatus]) -> Ticks:
        """Count ticks at claims of the given statuses."""
        true, untrue = (
            [each.status in ticked for each in claims if each.is_true is kind] for kind in (True, False)
        )
        return cls(
            Share.of(sum(true), sum(true) + sum(untrue)),
            Share.of(sum(untrue), len(untrue)),
            Share.of(sum(true), len(true)),
        )


def rated(line: Line, claims: Sequence[CheckedClaim], lexicon: Lexicon) -> tuple[list[Rated], int]:
    """Return the claims of a rated answer that were checked, and how many mistakes were not found in it."""
    mistakes = line["mistakes"] if line["rating"] < _TRUE else ()
    places = [line["answer"].find(mistake["words"]) for mistake in mistakes]
    spans = [(at, at + len(each["words"])) for at, each in zip(places, mistakes, strict=True) if at >= 0]
    is_ordinary = not any(is_hard(each["words"], line["evidence"], lexicon) for each in mistakes)
    found = [
        Rated(each.status, not any(s < each.end and each.start < e for s, e in spans), is_ordinary)
        for each in claims
        if each.status is not ClaimStatus.NOT_CHECKABLE
    ]
    return found, places.count(-1)


def is_hard(words: str, evidence: Sequence[Line], lexicon: Lexicon) -> bool:
    """Say whether the passages of the evidence have half of the words of content of a mistake."""

    def stems(text: str) -> list[str]:
        return [lexicon.stem(word) for word in folded_words(text) if word not in lexicon.function_words]

    known = {stem for each in evidence for stem in stems(each["passage"])}
    said = stems(words)
    return bool(said) and sum(stem in known for stem in said) >= _HARD_FROM * len(said)


def _measured(answers: Sequence[Path], documents: Sequence[Path]) -> tuple[list[Rated], int]:
    known = {(each["language"], each["document_id"]): each for path in documents for each in read_lines(path)}
    scorer, claims, lost = Scorer(), list[Rated](), 0
    for line in (line for path in answers for line in read_lines(path)):
        language = line["language"]
        named = (known[language, name] for name in line["document_ids"] if (language, name) in known)
        context = tuple(Passage(each["document_id"], each["text"], each["title"]) for each in named)
        found = scorer.score(Exchange(line["question"], line["answer"], context, language))
        more, missing = rated(line, found.claims, load_shipped()[language])
        claims += more
        lost += missing
    return claims, lost


def _written(share: Share | None) -> str:
    return (
        f"{share.count}/{share.total} {share.value:.1%} [{share.low:.1%}, {share.high:.1%}]" if share else "-"
    )


def main() -> None:
    """Read the arguments and print the shares as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("answers", type=Path, nargs="+")
    parser.add_argument("--documents", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    claims, lost = _measured(options.answers, options.documents)
    sys.stdout.write("| | answers | ticks at true claims | untrue claims ticked | true claims ticked |\n")
    sys.stdout.write(f"{'|---' * 5}|\n")
    for name, ticked in (("before", _BEFORE), ("now", (ClaimStatus.SUPPORTED,))):
        for group, members in (("ordinary", [each for each in claims if each.is_ordinary]), ("all", claims)):
            found = Ticks.of(members, ticked)
            cells = (name, group, *map(_written, (found.precision, found.untrue, found.true)))
            sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.write(f"\n{lost} mistakes whose words do not stand in their answer were left out.\n")


if __name__ == "__main__":
    main()
