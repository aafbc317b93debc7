"""`truthgate search`: the passages found for a question, and why."""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from pydantic import ConfigDict, Field
from rich.text import Text

from schemas.jsonl import BadLine
from schemas.records import ShortText
from scoring.values.exchange import is_encodable
from streams.cli.command_files import count_lines, map_good_lines, read_records
from streams.cli.command_output import (
    CommandErrors,
    CommandFailed,
    ExitCode,
    UsageError,
    indexing_bar,
    printable,
    progress_bar,
    write_json,
)
from streams.cli.common_options import AsJson, ConfigFile, check_languages, existing_option
from streams.cli.document_sources import DocumentLanguages, FromKafka, read_documents
from streams.cli.verdict_rendering import ResultConsole, format_relevance, marked_excerpt
from streams.search.on_demand import open_on_demand_retriever
from streams.search.passages import matching_spans
from streams.search.search import SearchOptions
from streams.search.types import RetrievalResult, RetrievalUnavailable, Retriever
from streams.settings import load_settings

_EXCERPT_CHARACTERS = 320
_CHARACTERS_BEFORE_MATCH = 60
_SEARCH_TIMEOUT_SECONDS = 60.0  # a user waits longer than an answer does
_CONCURRENT_SEARCHES = 4  # enough that none waits for input


@dataclass
class Question:
    """A question, its language if stated, and the other fields of its line."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    question: Annotated[str, Field(min_length=1)]
    language: ShortText | None = None


def search(
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="What to search for.")] = None,
    questions: Annotated[
        Path | None,
        existing_option(
            "JSONL: one question per line, with any ids (id, answer_id, ...); writes a JSON line each."
        ),
    ] = None,
    documents: Annotated[
        list[Path] | None,
        existing_option(
            "JSONL of documents, or a folder of pages; may be repeated, all are searched together.",
            folders=True,
        ),
    ] = None,
    documents_language: DocumentLanguages = None,
    from_kafka: FromKafka = False,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="The language of the question, e.g. nl; default: detected."),
    ] = None,
    passages: Annotated[
        int | None, typer.Option(min=1, max=100, metavar="N", help="How many passages to find.")
    ] = None,
    as_json_lines: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show which passages are retrieved for a question, and why.

    Each passage has its rank and score in the keyword search (BM25) and in the vector search (cosine
    similarity), the fused score that orders them, and its words in common with the question. An answer
    without context is scored against these passages. A malformed line is named on standard error, the
    others are searched for, and the exit code is 1.

    Example: `truthgate search "Hoe verstuur ik een factuur?" --documents help.jsonl`
    """
    if (question is None) == (questions is None):
        raise UsageError("give a QUESTION, or a file of questions with --questions")
    if question is not None and not question.strip():
        raise UsageError("the QUESTION is empty")
    if question is not None and not is_encodable(question):
        raise UsageError("the QUESTION is not UTF-8")
    check_languages("--language", [language] if language is not None else None)
    if not documents and not from_kafka:
        raise UsageError("give documents: --documents FILE or FOLDER, or --from-kafka")
    settings, errors = load_settings(config), CommandErrors()
    line_errors = errors.of(questions)
    with progress_bar("reading documents", count_lines(*documents) if documents else None) as bar:
        known = read_documents(documents, documents_language, settings, errors, bar, from_kafka=from_kafka)
    lines: Iterable[tuple[int, Question | BadLine]] = [(1, Question(question or ""))]
    if questions:
        lines = read_records(questions, Question)
    render = _write_json if as_json_lines or questions else _print_passages
    options = SearchOptions(passages) if passages else SearchOptions()

    async def show_passages() -> None:
        async with open_on_demand_retriever(known, settings, indexing_bar(), options) as retrieval:
            if retrieval is None:
                raise CommandFailed("nothing to search: there are no documents, or retrieval is off")
            find = partial(find_passages, await retrieval.open(), language)
            async with aclosing(map_good_lines(lines, find, _CONCURRENT_SEARCHES, line_errors)) as outcomes:
                async for _, found in outcomes:
                    render(*found)

    asyncio.run(show_passages())
    raise typer.Exit(errors.exit_code())


async def find_passages(
    retriever: Retriever, language: str | None, question: Question
) -> tuple[Question, RetrievalResult]:
    """Return a question and its passages; raises CommandFailed if the documents cannot be searched."""
    code = language or question.language
    try:
        return question, await retriever.retrieve(question.question, code, _SEARCH_TIMEOUT_SECONDS)
    except RetrievalUnavailable as error:
        raise CommandFailed(f"the documents cannot be searched: {error}", ExitCode.UNREACHABLE) from error


def _write_json(question: Question, found: RetrievalResult) -> None:
    """Write the passages for a question; ``highlights`` are character offsets into a passage's text."""
    content = {
        **{name: value for name, value in vars(question).items() if name.endswith("id")},
        "question": question.question,
        "sufficient": found.is_sufficient,
        "relevance": found.relevance,
        "relevance_floor": found.floor,
        "passages": [
            {**asdict(hit), "highlights": matching_spans(question.question, hit.text, hit.language)}
            for hit in found.hits
        ],
    }
    write_json(content)


def _print_passages(question: Question, found: RetrievalResult) -> None:
    """Print the passages for a question: document, ranks and scores, relevance, and text."""
    console = ResultConsole()
    if not found.hits:
        console.print(Text("no passage found", "yellow"))
    for number, hit in enumerate(found.hits, 1):
        passage = (
            f"{printable(hit.document_id)} ({printable(hit.language)}), characters {hit.start} to {hit.end}"
        )
        title = (printable(hit.title), "bold")
        console.print(Text.assemble(f"{number}. ", title, f"  {passage}, version {hit.version}"))
        keyword = _format_rank("keyword", hit.keyword_rank, "BM25", hit.keyword_score)
        vector = _format_rank("vector", hit.vector_rank, "similarity", hit.similarity)
        console.print(Text(f"   fused score {hit.score:.4f}: {keyword}, {vector}", "cyan"))
        names = f": it contains {printable(', '.join(hit.names))}, which few passages do" if hit.names else ""
        style = "yellow" if found.floor is not None and hit.relevance < found.floor else "dim"
        console.print(Text(f"   {format_relevance(hit.relevance, found.floor)}{names}", style))
        spans = matching_spans(question.question, hit.text, hit.language)
        marks = [(*span, "", "bold black on yellow") for span in spans]
        excerpt = marked_excerpt(hit.text, marks, _EXCERPT_CHARACTERS, _CHARACTERS_BEFORE_MATCH)
        console.print(Text("   ") + excerpt)
        console.print()
    if found.hits and not found.is_sufficient:
        insufficient = "all below the relevance floor: an answer would go to review (context insufficient)"
        console.print(Text(insufficient, "yellow"))


def _format_rank(search: str, rank: int | None, measure: str, value: float | None) -> str:
    found = "not found" if rank is None else f"rank {rank}"
    return f"{search} {found}" + ("" if value is None else f" ({measure} {value:.2f})")
