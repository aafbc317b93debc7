"""``truthgate search``: the passages that an answer without context would be judged against."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from schemas import KnowledgeDocument
from schemas.jsonl import BadLine
from scoring.values.readable import is_text
from streams.cli.exits import CommandFailed, ExitCode, WrongUsage
from streams.cli.feed import in_order
from streams.cli.knowledge import DocumentLanguages, FromKafka, complaints_of, documents_to_search
from streams.cli.language_codes import check_languages
from streams.cli.lines import Complaints, count, read
from streams.cli.options import AsJson, ConfigFile
from streams.cli.output import indexing_bar, json_line, progress, write_line
from streams.cli.render import ResultConsole
from streams.cli.search.found import as_json, as_text
from streams.cli.search.questions import Question
from streams.retrieval.on_demand import retriever_on_demand
from streams.retrieval.types import RetrievalUnavailable, Retrieved, Retriever
from streams.settings import Settings, load_settings

_SEARCH_SECONDS = 60.0  # a person waits longer than an answer does
_AT_ONCE = 4  # questions in work: enough that none waits for input

Line = tuple[int, Question | BadLine]
Outcome = tuple[Question, Retrieved] | BadLine
Show = Callable[[Question, Retrieved], None]


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
        raise WrongUsage("give a QUESTION, or a file of them with --questions")
    if question is not None and not question.strip():
        raise WrongUsage("the QUESTION is empty")
    if question is not None and not is_text(question):
        raise WrongUsage("the QUESTION is not UTF-8")
    check_languages("--language", [language] if language is not None else None)
    if not documents and not from_kafka:
        raise WrongUsage("give the documents: --documents FILE or FOLDER, or --from-kafka")
    settings = _chosen(load_settings(config), passages)
    asked, about = Complaints(str(questions)), complaints_of(documents)
    with progress("reading documents", count(*documents) if documents else None) as bar:
        known = documents_to_search(
            documents, documents_language, settings, about, bar, from_kafka=from_kafka
        )
    lines: Iterable[Line] = read(questions, Question) if questions else [(1, Question(question or ""))]
    show = _as_json if as_json_lines or questions else _as_text
    asyncio.run(_search(lines, known, settings, language, partial(_show, asked, show)))
    raise typer.Exit(max(each.exit_code for each in (asked, *about)))


def _chosen(settings: Settings, passages: int | None) -> Settings:
    if passages is None:
        return settings
    candidates = max(passages, settings.retrieval.candidates)
    return settings.changed("retrieval", {"passages": passages, "candidates": candidates})


async def _search(
    lines: Iterable[Line],
    documents: Sequence[KnowledgeDocument],
    settings: Settings,
    language: str | None,
    show: Callable[[Outcome], None],
) -> None:
    async with retriever_on_demand(documents, settings, indexing_bar()) as retrieval:
        if retrieval is None:
            raise CommandFailed("there is nothing to search: no document, or retrieval is switched off")
        find = partial(_found, await retrieval.opened(), language)
        async with aclosing(in_order(lines, find, _AT_ONCE)) as outcomes:
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


def _show(complaints: Complaints, show: Show, outcome: Outcome) -> None:
    if isinstance(outcome, BadLine):
        complaints.about(outcome.number, outcome.reason)
    else:
        show(*outcome)


def _as_json(question: Question, found: Retrieved) -> None:
    write_line(json_line(as_json(question, found)))


def _as_text(question: Question, found: Retrieved) -> None:
    console = ResultConsole()
    for line in as_text(question, found):
        console.print(line)
