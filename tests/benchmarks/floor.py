"""What the relevance floor keeps of questions that documents answer, and sends to review of the others.

Run as ``python -m tests.benchmarks.floor [--cache FOLDER]``. Each product of the rated corpus, and the
sample, is a deployment in turn, searched in the language of the question. A question is answerable where its
own document is there; it is not where it is about another product, or where declining to answer it was
right. Shares have 95% Wilson intervals. Then all groups together at other floors.
"""

import argparse
import asyncio
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from schemas import KnowledgeDocument
from scoring.evaluation.statistics import Share
from streams.search.on_demand import open_on_demand_retriever
from streams.settings import RetrievalSettings, Settings
from training.packed import read_lines

_CONSOLE: Final = Console(highlight=False, markup=False, soft_wrap=True)
_RATED: Final = Path(__file__).parents[2] / "training" / "rated"
_SAMPLE: Final = Path(__file__).parents[2] / "streams" / "sample"
_GROUPS: Final = {
    "development": ("gimp", "debian-installation", "kmail", "skrooge"),
    "validation": ("korganizer", "kate"),
    "sample": ("sample",),
}
_PRODUCTS: Final = tuple(product for products in _GROUPS.values() for product in products)
_LANGUAGES: Final = ("nl", "en")
_FLOORS: Final = tuple(number / 100 for number in range(14, 31, 2))
_SECONDS: Final = 30.0
_MOMENT: Final = datetime(2026, 3, 2, tzinfo=UTC)
#: How the notes of raters say that there was nothing to answer with.
_RIGHT_REFUSAL: Final = re.compile(
    r"(correct|right|honest)\w* refus|refus\w+ is (right|correct)", re.IGNORECASE
)


class Kind(StrEnum):
    """Whether the documents that are searched answer a question."""

    ANSWERABLE = "answerable"
    ANOTHER_PRODUCT = "another product's"
    NOT_IN_DOCUMENTS = "rightly declined"


#: The relevance that is reached, of the questions of each kind, by group and language.
Reached = Mapping[tuple[str, str, Kind], Sequence[float]]


def _path(product: str, what: str, language: str) -> Path:
    if product == "sample":
        return _SAMPLE / f"{what}.{language}.jsonl"
    return _RATED / what / f"{product}.{language}.jsonl.gz"


def _documents(product: str, language: str) -> Iterator[KnowledgeDocument]:
    for line in read_lines(_path(product, "documents", language)):
        yield KnowledgeDocument(line["document_id"], language, line["title"], line["text"], _MOMENT)


def _kind(searched: str, asked: str, answer: Mapping[str, Any]) -> Kind:
    if searched != asked:
        return Kind.ANOTHER_PRODUCT
    declined = answer["rating"] == 5 and _RIGHT_REFUSAL.search(answer.get("note", ""))
    return Kind.NOT_IN_DOCUMENTS if declined else Kind.ANSWERABLE


async def measured(settings: RetrievalSettings, cache: Path) -> tuple[Reached, float]:
    """Ask every question of every product; return what it reaches, and the floor."""
    reached: defaultdict[tuple[str, str, Kind], list[float]] = defaultdict(list)
    floor = None
    for group, products in _GROUPS.items():
        for searched in products:
            for language in _LANGUAGES:
                documents = list(_documents(searched, language))
                async with open_on_demand_retriever(
                    documents, Settings(retrieval=settings), folder=cache
                ) as retriever:
                    assert retriever is not None
                    for asked in _PRODUCTS:
                        for answer in read_lines(_path(asked, "answers", language)):
                            found = await retriever.retrieve(answer["question"], language, _SECONDS)
                            kind = _kind(searched, asked, answer)
                            reached[group, language, kind].append(
                                -1.0 if found.relevance is None else found.relevance
                            )
                            floor = found.floor if floor is None else floor
    if floor is None:
        raise ValueError("nothing was searched")
    return reached, floor


def _share(values: Sequence[float], floor: float, kind: Kind) -> str:
    kept = sum(value >= floor for value in values)
    count = kept if kind is Kind.ANSWERABLE else len(values) - kept
    share = Share.of(count, len(values))
    return f"{share.value:.1%} [{share.low:.1%}, {share.high:.1%}] of {share.total}" if share else "–"


def _print(reached: Reached, floor: float) -> None:
    _CONSOLE.print(
        f"| floor {floor:.2f} | language | answerable kept | another product's in review "
        f"| rightly declined in review |"
    )
    _CONSOLE.print("| --- | --- | --- | --- | --- |")
    for group in _GROUPS:
        for language in _LANGUAGES:
            shares = (_share(reached[group, language, kind], floor, kind) for kind in Kind)
            _CONSOLE.print(f"| {group} | {language} |", " | ".join(shares), "|")
    _CONSOLE.print("\n| floor | answerable kept | another product's in review |\n| --- | --- | --- |")
    for other in _FLOORS:
        together = {
            kind: [each for (_, _, of), values in reached.items() if of is kind for each in values]
            for kind in (Kind.ANSWERABLE, Kind.ANOTHER_PRODUCT)
        }
        shares = (_share(values, other, kind) for kind, values in together.items())
        _CONSOLE.print(f"| {other:.2f} |", " | ".join(shares), "|")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="use", choices=("use", "e5"))
    parser.add_argument("--cache", type=Path, help="keep the indexes here for the next run")
    options = parser.parse_args()
    settings = RetrievalSettings(embedder=options.embedder)
    with tempfile.TemporaryDirectory() as folder:
        _print(*asyncio.run(measured(settings, options.cache or Path(folder))))


if __name__ == "__main__":
    main()
