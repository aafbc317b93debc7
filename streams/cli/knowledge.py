"""Help documents as commands are given them: a JSONL file, or a folder of Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from schemas import KnowledgeDocument
from streams.cli.exits import WrongUsage
from streams.cli.lines import Complaints, Place, read
from streams.documents.markdown_folder import BadFile, read_markdown_folder

MarkdownLanguage = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="CODE",
        help="Language of the Markdown files, such as nl; a folder needs it.",
    ),
]


def refuse_wrong_language(source: Path | None, language: str | None) -> None:
    """Refuse a folder without a language, and a file with one.

    Raises:
        WrongUsage: it is one of these.
    """
    if source and source.is_dir() and not language:
        raise WrongUsage("a folder of Markdown needs --language, such as --language nl")
    if language and not (source and source.is_dir()):
        raise WrongUsage("--language is for a folder of Markdown; the lines of a JSONL file have their own")


def listed_documents(
    path: Path, complaints: Complaints, bar: Progress | None = None
) -> list[KnowledgeDocument]:
    """Read the documents of a JSONL file, complain about bad lines, and move the bar, if one is given.

    Raises:
        CommandFailed: it cannot be read.
    """
    return [document for _, document in complaints.without_bad(read(path, KnowledgeDocument, bar))]


def documents_of(
    source: Path, language: str | None, complaints: Complaints, bar: Progress
) -> Iterator[tuple[Place, KnowledgeDocument]]:
    """Read the documents one by one, moving the bar, and complain about bad lines and files.

    Raises:
        CommandFailed: a file of lines cannot be read.
    """
    if language is None:
        yield from complaints.without_bad(read(source, KnowledgeDocument, bar))
        return
    for document in read_markdown_folder(source, language):
        if isinstance(document, BadFile):
            complaints.about(str(document.path.relative_to(source)), document.reason)
        else:
            yield document.document_id, document
        bar.advance(bar.task_ids[0])
