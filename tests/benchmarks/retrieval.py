"""What retrieval finds: recall and mean reciprocal rank of keywords, vectors and both, and their time.

Run as ``python -m tests.benchmarks.retrieval [FOLDER ...] [--embedder use --embedder e5] [--json]``. A
folder has ``documents.nl.jsonl``, ``documents.en.jsonl`` and questions with the ids of their true documents,
``answers*.nl.jsonl`` and ``answers*.en.jsonl``; without any it is the sample of the demo. Recall counts the
true documents among those of the passages found, MRR the first passage of a true one.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from schemas import KnowledgeDocument
from schemas.jsonl import BadLine, read_jsonl
from streams.cli.demo import sample
from streams.search.on_demand import OnDemandRetriever, open_on_demand_retriever
from streams.search.search import SearchOptions
from streams.settings import RetrievalSettings, Settings

_CONSOLE = Console(highlight=False, markup=False, soft_wrap=True)
_WAYS = {
    "keywords": SearchOptions(vector_weight=0),
    "vectors": SearchOptions(keyword_weight=0),
    "hybrid": SearchOptions(),
}
_SECONDS = 30.0

#: Language of the questions, and of the documents.
_CASES = {
    "nl on nl": ("nl", ("nl",)),
    "en on en": ("en", ("en",)),
    "en on nl": ("en", ("nl",)),
    "nl on nl and en": ("nl", ("nl", "en")),
    "en on nl and en": ("en", ("nl", "en")),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of the documents that answer it."""

    text: str
    language: str
    truth: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How well one way finds the documents of one case."""

    folder: str
    case: str
    embedder: str
    way: str
    questions: int
    recall: float
    mrr: float
    milliseconds: float


def questions_of(folder: Path, language: str) -> list[Question]:
    """Read the questions that name their documents."""
    lines = [
        json.loads(line) for path in sorted(folder.glob(f"answers*.{language}.jsonl")) for line in path.open()
    ]
    read = [Question(line["question"], language, frozenset(_true_documents(line))) for line in lines]
    return [question for question in read if question.truth]


def documents_of(folder: Path, languages: Sequence[str]) -> list[KnowledgeDocument]:
    """Read the documents of some languages."""
    paths = [folder / f"documents.{language}.jsonl" for language in languages]
    records = [record for path in paths for _, record in read_jsonl(path, KnowledgeDocument)]
    return [record for record in records if not isinstance(record, BadLine)]


def _true_documents(line: dict[str, list[dict[str, str]] | list[str]]) -> Iterator[str]:
    yield from (str(document_id) for document_id in line.get("document_ids") or ())
    yield from (passage["document_id"] for passage in line.get("context") or () if isinstance(passage, dict))


async def measure(folder: Path, case: str, settings: RetrievalSettings, way: str, cache: Path) -> Outcome:
    """Ask every question of a case one way."""
    asked, languages = _CASES[case]
    questions = questions_of(folder, asked)
    recalls, ranks, times = [], [], []
    async with _retriever(folder, languages, settings, cache, _WAYS[way]) as retriever:
        assert retriever is not None
        await retriever.retrieve(questions[0].text, asked, _SECONDS)
        for question in questions:
            began = time.perf_counter()
            found = await retriever.retrieve(question.text, asked, _SECONDS)
            times.append(time.perf_counter() - began)
            ids = [hit.document_id for hit in found.hits]
            recalls.append(len(question.truth & set(ids)) / len(question.truth))
            ranks.append(next((1 / rank for rank, one in enumerate(ids, 1) if one in question.truth), 0.0))
    means = statistics.mean(recalls), statistics.mean(ranks), statistics.median(times) * 1_000
    return Outcome(folder.name, case, settings.embedder, way, len(questions), *means)


def _retriever(
    folder: Path, languages: Sequence[str], settings: RetrievalSettings, cache: Path, options: SearchOptions
) -> AbstractAsyncContextManager[OnDemandRetriever | None]:
    return open_on_demand_retriever(
        documents_of(folder, languages),
        Settings(retrieval=settings),
        options=options,
        folder=cache / settings.embedder,
    )


def _print(outcomes: Sequence[Outcome]) -> None:
    rows = [
        (o.folder, o.case, o.embedder, o.way, f"{o.recall:.3f}", f"{o.mrr:.3f}", f"{o.milliseconds:.1f}")
        for o in outcomes
    ]
    header = ("documents", "case", "embedder", "way", "recall@5", "MRR", "ms")
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
    _CONSOLE.print(*lines, sep="\n")


async def _measured(folders: Sequence[Path], embedders: Sequence[str], cache: Path) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for embedder in embedders:
        settings = RetrievalSettings.model_validate({"embedder": embedder})
        for folder in folders:
            outcomes += [
                await measure(folder, case, settings, way, cache) for case in _CASES for way in _WAYS
            ]
    return outcomes


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folders", nargs="*", type=Path, default=[Path(sample.__file__).parents[2] / "sample"]
    )
    parser.add_argument("--embedder", action="append", choices=("use", "e5"))
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown tables")
    parser.add_argument("--cache", type=Path, help="keep the indexes here for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measured = _measured(options.folders, options.embedder or ["use"], options.cache or Path(folder))
        outcomes = asyncio.run(measured)
    if options.json:
        _CONSOLE.print_json(json.dumps([*map(asdict, outcomes)]))
        return
    _print(outcomes)


if __name__ == "__main__":
    main()
