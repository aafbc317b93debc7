"""``truthgate publish-documents``: publish help documents to the documents topic."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Annotated

import typer

from schemas import KnowledgeDocument
from scoring.values.readable import is_text
from streams.cli.exits import WrongUsage
from streams.cli.feed import feed
from streams.cli.knowledge import MarkdownLanguage, documents_of, refuse_wrong_language
from streams.cli.lines import Complaints, Place, count
from streams.cli.options import ConfigFile, InputFileOrFolder
from streams.cli.output import progress, say
from streams.cli.sending import Outgoing, open_codec, open_sender, send_all
from streams.kafka.event_headers import event_headers
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings

_SOURCE = "publish-documents"

Placed = Iterator[tuple[Place, KnowledgeDocument]]


def publish_documents(
    source: InputFileOrFolder = None,
    language: MarkdownLanguage = None,
    delete: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Delete this document; may be repeated.")
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Publish help documents to the documents topic: a JSONL file, or a folder of Markdown files.

    A file's id is its path below the folder without `.md`, its title the first heading. A bad line
    or file is named on standard error, the rest is published, and the exit code is 1.

    Example: `truthgate publish-documents help/ --language nl`
    """
    _refuse_wrong_usage(source, language, delete)
    settings = load_settings(config)
    complaints = Complaints(str(source))
    total = count(source) if source else None
    with progress("publishing", total) as bar:
        documents = documents_of(source, language, complaints, bar) if source else iter(())
        sent = asyncio.run(_publish(documents, delete or [], settings, complaints))
    say(f"{sent} documents published, {len(delete or [])} deleted")
    raise typer.Exit(complaints.exit_code)


def _refuse_wrong_usage(source: Path | None, language: str | None, delete: list[str] | None) -> None:
    if source is None and not delete:
        raise WrongUsage("nothing to do: name a FILE, a FOLDER or --delete ID")
    refuse_wrong_language(source, language)
    if any(not document_id or not is_text(document_id) for document_id in delete or []):
        raise WrongUsage("--delete needs the id of a document")


async def _publish(documents: Placed, delete: list[str], settings: Settings, complaints: Complaints) -> int:
    codec = await open_codec(settings.encoding, KnowledgeDocument)
    topic = Topics(settings.kafka.topic_prefix).documents

    def outgoing(document: KnowledgeDocument) -> Outgoing:
        headers = event_headers(document.document_id, "KnowledgeDocument", _SOURCE)
        return Outgoing(topic, document.document_id.encode(), codec.encode(document), headers)

    def tombstone(document_id: str) -> Outgoing:
        headers = event_headers(document_id, "KnowledgeDocument.deleted", _SOURCE)
        return Outgoing(topic, document_id.encode(), None, headers)

    async with open_sender(settings, topic) as sender:
        async with aclosing(feed(documents)) as placed:
            sent = await send_all(placed, outgoing, sender, complaints)
        async with aclosing(feed((each, each) for each in delete)) as named:
            await send_all(named, tombstone, sender, complaints)
    return sent
