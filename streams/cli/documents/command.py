"""``truthgate documents``: the documents that the topic holds now, all or one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from schemas import KnowledgeDocument, to_json
from schemas.records import rfc3339
from scoring.language import stated_language
from streams.cli.exits import CommandFailed
from streams.cli.language_codes import check_languages
from streams.cli.options import AsJson, ConfigFile
from streams.cli.output import json_line, printable, say, write_line
from streams.cli.published import read_published
from streams.cli.render import ResultConsole
from streams.documents.versions import document_version
from streams.settings import load_settings

app = typer.Typer(help="Look at the help documents that the deployment has.")


@app.command("list")
def list_documents(
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only those in this language, such as nl.")
    ] = None,
    id_prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="Only those whose ids begin with this.")
    ] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List the documents: id, language, characters, version, when it changed and title, without the text.

    The version is the one that verdicts name in `context`. What cannot be read is counted on standard error.

    Example: `truthgate documents list --language nl`
    """
    check_languages("--language", [language] if language is not None else None)
    published = asyncio.run(read_published(load_settings(config)))
    published.tell()
    found = [
        document
        for document in published.documents.values()
        if document.document_id.startswith(id_prefix)
        and (language is None or stated_language(document.language) == stated_language(language))
    ]
    if as_json:
        for document in found:
            write_line(json_line(_described(document)))
    elif found:
        ResultConsole().print(_table(found))
    else:
        say("there are no such documents")


@app.command("show")
def show(
    document_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the document.")],
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show one document as answers are judged against it: what is known of it, and its text.

    Exit code 1 where there is none of this id.

    Example: `truthgate documents show hr/add-employee`
    """
    published = asyncio.run(read_published(load_settings(config)))
    if (document := published.documents.get(document_id)) is None:
        published.tell()
        raise CommandFailed(f"there is no document {document_id}")
    if as_json:
        write_line(json_line({**to_json(document), "version": document_version(document)}))
        return
    for name, value in _described(document).items():
        if value is not None:
            write_line(f"{name}: {printable(str(value))}")
    write_line("")
    for line in document.text.splitlines():
        write_line(printable(line))


def _described(document: KnowledgeDocument) -> dict[str, Any]:
    return {
        "document_id": document.document_id,
        "language": document.language,
        "title": document.title,
        "characters": len(document.text),
        "version": document_version(document),
        "updated_at": rfc3339(document.updated_at),
        "url": document.url,
    }


def _table(documents: Iterable[KnowledgeDocument]) -> Table:
    table = Table("id", "language", box=None, pad_edge=False)
    table.add_column("characters", justify="right")
    for heading in ("version", "updated", "title"):
        table.add_column(heading)
    for document in documents:
        told = _described(document)
        names = ("document_id", "language", "characters", "version", "updated_at", "title")
        table.add_row(*(Text(printable(str(told[name]))) for name in names))
    return table
