"""`truthgate documents`: list and show the documents of the deployment."""

import asyncio
from typing import Annotated, Any

import typer

from schemas import KnowledgeDocument, to_json
from schemas.records import rfc3339
from scoring.text.language_detection import language_code
from streams.cli.command_output import CommandFailed, printable, say, write_json, write_line
from streams.cli.common_options import AsJson, ConfigFile, check_languages
from streams.cli.document_sources import read_topic_documents
from streams.cli.publish_command import MarkedDocuments
from streams.cli.verdict_rendering import print_table
from streams.documents.versions import version_name
from streams.settings import load_settings

app = typer.Typer(help="List and show the help documents of the deployment.")


@app.command("list")
def list_documents(
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Only documents in this language, e.g. nl.")
    ] = None,
    id_prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="Only documents whose ids begin with this.")
    ] = "",
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """List the documents: id, language, characters, version, time of change, auto_send and title.

    Verdicts name the version in `context`. A document with `auto_send` is sent word for word in reply to
    its title; documents with `auto_send` that can never be sent are named on standard error. Unreadable
    records are counted there, too.

    Example: `truthgate documents list --language nl`
    """
    check_languages("--language", [language] if language is not None else None)
    settings = load_settings(config)
    published = asyncio.run(read_topic_documents(settings))
    published.report_unreadable()
    found = [
        document
        for document in published.documents.values()
        if document.document_id.startswith(id_prefix)
        and (language is None or language_code(document.language) == language_code(language))
    ]
    marked = MarkedDocuments(settings)
    for document in found:
        marked.check(document)
    if as_json:
        for document in found:
            write_json(_summary(document))
    elif found:
        headings = ("id", "language", "characters", "version", "updated", "auto_send", "title")
        names = ("document_id", "language", "characters", "version", "updated_at", "auto_send", "title")
        rows = (_summary(each) | {"auto_send": "yes" if each.auto_send else ""} for each in found)
        print_table(headings, ([row[name] for name in names] for row in rows), {"characters"})
    else:
        say("no such documents")


@app.command("show")
def show(
    document_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the document.")],
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Show one document: its metadata and its text.

    The exit code is 1 if no document has this id.

    Example: `truthgate documents show hr/add-employee`
    """
    published = asyncio.run(read_topic_documents(load_settings(config)))
    if (document := published.documents.get(document_id)) is None:
        published.report_unreadable()
        raise CommandFailed(f"no document has the id {document_id}")
    if as_json:
        write_json({**to_json(document), "version": version_name(document)})
        return
    for name, value in _summary(document).items():
        if value is not None:
            write_line(f"{name}: {printable(str(value))}")
    write_line("")
    for line in document.text.splitlines():
        write_line(printable(line))


def _summary(document: KnowledgeDocument) -> dict[str, Any]:
    return {
        "document_id": document.document_id,
        "language": document.language,
        "title": document.title,
        "characters": len(document.text),
        "version": version_name(document),
        "updated_at": rfc3339(document.updated_at),
        "url": document.url,
        "auto_send": document.auto_send,
    }
