"""The passages found for a question, for programs and for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.text import Text

from streams.cli.output import printable
from streams.cli.render import compared_with_floor, excerpt
from streams.cli.search.questions import Question
from streams.retrieval.types import Hit, Retrieved
from streams.retrieval.words import places

_WIDTH = 320  # characters of a passage that a person is shown
_DIGITS = 4
_BEFORE = 60


def as_json(question: Question, found: Retrieved) -> dict[str, Any]:
    """Give the passages for one question; ``highlights`` are character offsets into a passage's text."""
    return {
        **question.ids,
        "question": question.question,
        "sufficient": found.sufficient,
        "relevance": found.relevance,
        "relevance_floor": found.floor,
        "passages": [
            {**asdict(hit), "highlights": places(question.question, hit.text, hit.language)}
            for hit in found.hits
        ],
    }


def as_text(question: Question, found: Retrieved) -> Iterator[Text]:
    """Give the passages as lines: which document, why it was found, and the words that were asked for."""
    if not found.hits:
        yield Text("nothing found", "yellow")
    for number, hit in enumerate(found.hits, 1):
        yield Text.assemble(
            f"{number}. ",
            (printable(hit.title), "bold"),
            f"  {printable(hit.document_id)} ({printable(hit.language)}), "
            f"characters {hit.start} to {hit.end}, version {hit.version}",
        )
        yield Text(f"   {_why(hit)}", "cyan")
        yield _compared(hit, found.floor)
        found_at = places(question.question, hit.text, hit.language)
        yield Text("   ") + excerpt(hit.text, found_at, _WIDTH, _BEFORE, "bold black on yellow")
        yield Text()
    if found.hits and not found.sufficient:
        yield Text("all below the relevance floor: an answer would be held, context insufficient", "yellow")


def _compared(hit: Hit, floor: float | None) -> Text:
    told = compared_with_floor(hit.relevance, floor)
    names = f": it has {printable(', '.join(hit.names))}, which few passages have" if hit.names else ""
    return Text(f"   {told}{names}", "yellow" if floor is not None and hit.relevance < floor else "dim")


def _why(hit: Hit) -> str:
    return (
        f"fused score {hit.score:.{_DIGITS}f}: "
        f"{_ranked('keyword', hit.keyword_rank, 'BM25', hit.keyword_score)}, "
        f"{_ranked('vector', hit.vector_rank, 'similarity', hit.similarity)}"
    )


def _ranked(search: str, rank: int | None, measure: str, value: float | None) -> str:
    place = "not found" if rank is None else f"rank {rank}"
    return f"{search} {place}" + ("" if value is None else f" ({measure} {value:.2f})")
