"""`truthgate documents`: the documents that the topic holds now."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from operator import itemgetter
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from schemas import Codec, KnowledgeDocument, to_json
from schemas.records import rfc3339
from scoring.text.language_detection import language_code
from streams.cli.command_output import CommandFailed, json_line, plural, printable, say, write_line
from streams.cli.common_options import AsJson, ConfigFile, check_languages
from streams.cli.marked_documents import MarkedDocuments
from streams.cli.topic_reading import open_topics
from streams.cli.verdict_rendering import ResultConsole
from streams.documents.versions import DocumentChange, read_change, version_name
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings

_JSON = "json_not_accepted"

#: Of one document: by partition the time that counts, and what the newest record of it there says.
_Newest = dict[int, tuple[int, DocumentChange]]


@dataclass(frozen=True, slots=True)
class TopicDocuments:
    """The documents by their ids, in the order of these, and how many records hold none that can be read.

    ``json_refused`` of these are JSON, which is not read unless it is asked for; ``unreadable_ids`` are the
    ids of those that have one.
    """

    documents: Mapping[str, KnowledgeDocument]
    unreadable: int
    json_refused: int = 0
    unreadable_ids: frozenset[str] = frozenset()

    def report_unreadable(self) -> None:
        """Say on standard error what is not among the documents, if anything."""
        if self.json_refused:
            say(
                f"{plural(self.json_refused, 'document')} of the topic in JSON, which is not read here: "
                "encoding.json_input is off"
            )
        if others := self.unreadable - self.json_refused:
            say(
                f"{plural(others, 'document')} of the topic cannot be read: see `truthgate dead-letters list`"
            )


async def read_topic_documents(settings: Settings) -> TopicDocuments:
    """Read the documents topic to its end.

    As in the store of a worker, within a partition the later record is newer, and between partitions the one
    with the later time.

    Raises:
        UsageError: the topic is not there.
        KafkaError: it may not be read.
        ServiceUnreachable: no broker answers.
        RegistryUnreachable: nor does the schema registry.
    """
    encoding = settings.encoding
    codec = Codec(encoding.schema_registry_url, encoding.json_input)
    newest: dict[str, _Newest] = {}
    unreadable = 0
    json_refused: set[tuple[int, int]] = set()
    async with (
        open_topics(settings.kafka, Topics(settings.kafka.topic_prefix).documents) as (reader, log),
        aclosing(reader.read_between(log.beginning_offsets, log.end_offsets)) as batches,
    ):
        async for records in batches:
            for record in records:
                await codec.lookup(record.value)
                change, bad = read_change(record, codec)
                if bad and bad.reason.error_class == _JSON:
                    json_refused.add((record.partition, record.offset))
                if change:
                    _note(newest.setdefault(change.document_id, {}), change)
                else:
                    unreadable += 1
    changes = [max(each.values(), key=itemgetter(0))[1] for _, each in sorted(newest.items())]
    documents = {change.document_id: change.document for change in changes if change.document}
    there = [change for change in changes if change.unreadable]
    as_json = sum((change.partition, change.offset) in json_refused for change in there)
    ids = frozenset(change.document_id for change in there)
    return TopicDocuments(documents, unreadable + len(there), as_json, ids)


def _note(newest: _Newest, change: DocumentChange) -> None:
    earlier, _ = newest.get(change.partition, (change.timestamp, None))
    newest[change.partition] = (max(earlier, change.timestamp), change)


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

    The version is the one that verdicts name in `context`. Documents with `auto_send` are sent as they are in
    reply to their titles; those that are marked so in vain are named on standard error, and what cannot be
    read is counted there.

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
            write_line(json_line(_summary(document)))
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
    published = asyncio.run(read_topic_documents(load_settings(config)))
    if (document := published.documents.get(document_id)) is None:
        published.report_unreadable()
        raise CommandFailed(f"there is no document {document_id}")
    if as_json:
        write_line(json_line({**to_json(document), "version": version_name(document)}))
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


def _table(documents: Iterable[KnowledgeDocument]) -> Table:
    table = Table("id", "language", box=None, pad_edge=False)
    table.add_column("characters", justify="right")
    for heading in ("version", "updated", "auto_send", "title"):
        table.add_column(heading)
    for document in documents:
        told = _summary(document)
        told["auto_send"] = "yes" if document.auto_send else ""
        names = ("document_id", "language", "characters", "version", "updated_at", "auto_send", "title")
        table.add_row(*(Text(printable(str(told[name]))) for name in names))
    return table
