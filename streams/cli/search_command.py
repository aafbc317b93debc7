"""`truthgate search`: the passages found for a question, and why."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from pydantic import ConfigDict, Field
from rich.text import Text

from schemas import KnowledgeDocument
from schemas.jsonl import BadLine
from schemas.records import ShortText
from scoring.values.exchange import is_encodable
from streams.cli.async_input import map_in_order
from streams.cli.command_files import InputErrors, count_lines, read_records
from streams.cli.command_output import (
    CommandFailed,
    ExitCode,
    UsageError,
    indexing_bar,
    json_line,
    printable,
    progress_bar,
    write_line,
)
from streams.cli.common_options import AsJson, ConfigFile, check_languages
from streams.cli.document_sources import DocumentLanguages, FromKafka, errors_for, read_documents
from streams.cli.verdict_rendering import ResultConsole, format_relevance, highlighted_excerpt
from streams.search.on_demand import open_on_demand_retriever
from streams.search.types import Hit, RetrievalResult, RetrievalUnavailable, Retriever
from streams.search.words import matching_spans
from streams.settings import Settings, load_settings


@dataclass
class Question:
    """A question, the language it states, if any, and whatever ids its line has."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    question: Annotated[str, Field(min_length=1)]
    language: ShortText | None = None

    @property
    def ids(self) -> Mapping[str, Any]:
        """The fields that tell this line's result from others': ``id``, ``answer_id`` and the like."""
        return {name: value for name, value in vars(self).items() if name.endswith("id")}


_WIDTH = 320  # characters of a passage that a person is shown
_DIGITS = 4
_BEFORE = 60


def render_json(question: Question, found: RetrievalResult) -> dict[str, Any]:
    """Give the passages for one question; ``highlights`` are character offsets into a passage's text."""
    return {
        **question.ids,
        "question": question.question,
        "sufficient": found.is_sufficient,
        "relevance": found.relevance,
        "relevance_floor": found.floor,
        "passages": [
            {**asdict(hit), "highlights": matching_spans(question.question, hit.text, hit.language)}
            for hit in found.hits
        ],
    }


def render_text(question: Question, found: RetrievalResult) -> Iterator[Text]:
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
        found_at = matching_spans(question.question, hit.text, hit.language)
        yield Text("   ") + highlighted_excerpt(hit.text, found_at, _WIDTH, _BEFORE, "bold black on yellow")
        yield Text()
    if found.hits and not found.is_sufficient:
        yield Text(
            "all below the relevance floor: an answer would go to review, context insufficient", "yellow"
        )


def _compared(hit: Hit, floor: float | None) -> Text:
    told = format_relevance(hit.relevance, floor)
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


_SEARCH_SECONDS = 60.0  # a person waits longer than an answer does
_AT_ONCE = 4  # questions in work: enough that none waits for input

Line = tuple[int, Question | BadLine]
Outcome = tuple[Question, RetrievalResult] | BadLine
Show = Callable[[Question, RetrievalResult], None]


def search(
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="What to search for.")] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            metavar="FILE",
            help="JSONL with a question a line, and any id (id, answer_id, ...); gives one JSON line each.",
        ),
    ] = None,
    documents: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            metavar="FILE|FOLDER",
            help="JSONL of the documents, or a folder of pages; may be repeated, which takes all together.",
        ),
    ] = None,
    documents_language: DocumentLanguages = None,
    from_kafka: FromKafka = False,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="The question's language, such as nl; default: identified."),
    ] = None,
    passages: Annotated[
        int | None, typer.Option(min=1, max=100, metavar="N", help="How many passages to find.")
    ] = None,
    as_json_lines: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show what would be retrieved for a question, and why.

    For each passage: its rank and score in the keyword search (BM25) and in the vector search (cosine
    similarity), the fused score that orders them, and the words of the question in it. An answer that
    comes without context is judged against these passages. A malformed line is named on standard
    error, the rest is searched for, and the exit code is 1.

    Example: `truthgate search "Hoe verstuur ik een factuur?" --documents help.jsonl`
    """
    if (question is None) == (questions is None):
        raise UsageError("give a QUESTION, or a file of them with --questions")
    if question is not None and not question.strip():
        raise UsageError("the QUESTION is empty")
    if question is not None and not is_encodable(question):
        raise UsageError("the QUESTION is not UTF-8")
    check_languages("--language", [language] if language is not None else None)
    if not documents and not from_kafka:
        raise UsageError("give the documents: --documents FILE or FOLDER, or --from-kafka")
    settings = load_settings(config)
    asked, about = InputErrors(str(questions)), errors_for(documents)
    with progress_bar("reading documents", count_lines(*documents) if documents else None) as bar:
        known = read_documents(documents, documents_language, settings, about, bar, from_kafka=from_kafka)
    lines: Iterable[Line] = (
        read_records(questions, Question) if questions else [(1, Question(question or ""))]
    )
    show = _as_json if as_json_lines or questions else _as_text
    asyncio.run(_search(lines, known, settings, language, passages, partial(_show, asked, show)))
    raise typer.Exit(max(each.exit_code for each in (asked, *about)))


async def _search(
    lines: Iterable[Line],
    documents: Sequence[KnowledgeDocument],
    settings: Settings,
    language: str | None,
    passages: int | None,
    show: Callable[[Outcome], None],
) -> None:
    async with open_on_demand_retriever(documents, settings, indexing_bar(), passages) as retrieval:
        if retrieval is None:
            raise CommandFailed("there is nothing to search: no document, or retrieval is switched off")
        find = partial(_found, await retrieval.open(), language)
        async with aclosing(map_in_order(lines, find, _AT_ONCE)) as outcomes:
            async for outcome in outcomes:
                show(outcome)


async def _found(retriever: Retriever, language: str | None, line: Line) -> Outcome:
    _, question = line
    if isinstance(question, BadLine):
        return question
    code = language or question.language
    try:
        return question, await retriever.retrieve(question.question, code, _SEARCH_SECONDS)
    except RetrievalUnavailable as error:
        raise CommandFailed(f"the documents cannot be searched: {error}", ExitCode.UNREACHABLE) from error


def _show(complaints: InputErrors, show: Show, outcome: Outcome) -> None:
    if isinstance(outcome, BadLine):
        complaints.report(outcome.number, outcome.reason)
    else:
        show(*outcome)


def _as_json(question: Question, found: RetrievalResult) -> None:
    write_line(json_line(render_json(question, found)))


def _as_text(question: Question, found: RetrievalResult) -> None:
    console = ResultConsole()
    for line in render_text(question, found):
        console.print(line)
