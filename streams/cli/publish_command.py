"""``truthgate publish-documents``: publish help documents to the documents topic."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from aiokafka.errors import GroupAuthorizationFailedError, TopicAuthorizationFailedError

from schemas import KnowledgeDocument
from scoring.text.language_detection import language_code
from scoring.values.exchange import is_encodable
from streams.cli.async_input import aiter_in_thread
from streams.cli.command_files import InputErrors, SourceLocation, count_lines
from streams.cli.command_output import ExitCode, UsageError, plural, printable, progress_bar, say, write_line
from streams.cli.common_options import ConfigFile, InputFileOrFolder
from streams.cli.document_commands import read_topic_documents
from streams.cli.document_sources import DocumentSource, PageLanguages
from streams.cli.marked_documents import MarkedDocuments
from streams.cli.record_sender import OutgoingRecord, open_codec, open_sender, send_all
from streams.documents.folder import is_language_tag
from streams.kafka.kafka_records import event_headers
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings

_SOURCE = "publish-documents"

LocatedDocuments = Iterator[tuple[SourceLocation, KnowledgeDocument]]


def publish_documents(
    source: InputFileOrFolder = None,
    language: PageLanguages = None,
    id_prefix: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help="Put this before every id, such as en/ for one of several folders."
        ),
    ] = "",
    delete: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Delete this document; may be repeated.")
    ] = None,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Delete what is not in the source: of all documents in its languages, or of those whose ids "
            "begin with --id-prefix. Not where a line or file is bad.",
        ),
    ] = False,
    all_languages: Annotated[
        bool,
        typer.Option("--all-languages", help="With --prune: delete documents in other languages, too."),
    ] = False,
    change_language: Annotated[
        bool, typer.Option("--change-language", help="Replace documents that are in another language, too.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Write which ids would be published, in which language and with which mark, and deleted, "
            "and send nothing.",
        ),
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Publish help documents to the documents topic: a JSONL file, or a folder of Markdown and HTML files.

    A file's id is its path below the folder without `.md`, `.html` or `.htm`, its title the first heading.
    Front matter may state `language`, `title`, `url` and `auto_send: true`, which lets the page be sent as
    it is in reply to its title; a page that is
    marked so in vain is named on standard error. Pages of several languages go in one go: with
    `--language nl --language en` the folders `nl` and `en` hold them, and their ids begin with `nl/` and
    `en/`.

    A bad line or file is named on standard error, the rest is published, and the exit code is 1. So it is
    with a document whose id one in another language has already: no translation takes the place of what it
    was made of. An ID to --delete that is not there is named, and the exit code is 1, too.

    Example: `truthgate publish-documents help/ --language nl`
    """
    given = _document_source(source, language or (), id_prefix, delete or (), prune=prune)
    if all_languages and not prune:
        raise UsageError("--all-languages: needs --prune")
    settings = load_settings(config)
    complaints = InputErrors(str(source))
    there = asyncio.run(_existing_documents(settings, needed=prune))
    known = there.languages if there else {}
    missing = there.missing(delete or ()) if there else []
    for document_id in missing:
        say(f"--delete {document_id}: there is no such document")
    deleted = [each for each in delete or () if each not in missing]
    accepted = PublishableDocuments({} if change_language else known, complaints, MarkedDocuments(settings))
    with progress_bar("publishing", count_lines(source) if source else None) as bar:
        documents = accepted.select(given.read(complaints, bar)) if given else iter(())
        send = _print_ids if dry_run else partial(_publish, settings=settings, complaints=complaints)
        sent = send(documents)
    if prune:
        spoken = None if all_languages else language or ()
        deleted = [*deleted, *accepted.ids_to_prune(known, id_prefix, spoken)]
    if dry_run:
        for document_id in deleted:
            write_line(f"delete {printable(document_id)}")
    elif deleted:
        asyncio.run(_delete(deleted, settings, complaints))
    would = "would be " if dry_run else ""
    say(f"{plural(sent, 'document')} {would}published, {len(deleted)} {would}deleted")
    raise typer.Exit(ExitCode.BAD_INPUT if missing else complaints.exit_code)


class PublishableDocuments:
    """The documents of a source that may be published.

    Args:
        known: the languages of the documents that are there, by id.
        complaints: about those that may not.
        marked: warns of those that are marked to be sent and cannot be.
    """

    def __init__(self, known: Mapping[str, str], errors: InputErrors, marked: MarkedDocuments) -> None:
        self._known = known
        self._complaints = errors
        self._marked = marked
        self._languages: dict[str, str] = {}

    def select(self, placed: LocatedDocuments) -> LocatedDocuments:
        """Pass on what may be published, and complain about the rest."""
        for place, document in placed:
            if reason := self._refusal(document):
                self._complaints.report(place, reason)
            else:
                self._languages[document.document_id] = document.language
                self._marked.check(document)
                yield place, document

    def ids_to_prune(
        self, known: Mapping[str, str], id_prefix: str, languages: Iterable[str] | None = ()
    ) -> list[str]:
        """Give the ids of those that are there and were not in the source; none where it was not whole.

        Of those in the languages of the source and in these; None is any.
        """
        if self._complaints.count or not self._languages:
            say("--prune: nothing is deleted, since the source has bad documents or none")
            return []
        gone = sorted(each for each in known if each.startswith(id_prefix) and each not in self._languages)
        if languages is None:
            return gone
        spoken = {language_code(each) for each in (*self._languages.values(), *languages)}
        outside = [each for each in gone if language_code(known[each]) in spoken]
        if left := sorted({known[each] for each in gone} - {known[each] for each in outside}):
            count = plural(len(gone) - len(outside), "document")
            say(f"--prune: {count} in {', '.join(left)} left (--all-languages deletes them)")
        return outside

    def _refusal(self, document: KnowledgeDocument) -> str | None:
        if not is_language_tag(document.language):
            return f"language: {document.language!r} is no code such as nl or en"
        earlier = self._languages.get(document.document_id) or self._known.get(document.document_id)
        if earlier and language_code(earlier) != language_code(document.language):
            return (
                f"the id {document.document_id} is that of a document in {earlier}: give one of them another "
                "id (--id-prefix), or replace it (--change-language)"
            )
        return None


def _document_source(
    source: Path | None, languages: Sequence[str], id_prefix: str, delete: Sequence[str], *, prune: bool
) -> DocumentSource | None:
    if source is None and not delete:
        raise UsageError("nothing to do: name a FILE, a FOLDER or --delete ID")
    if any(not document_id or not is_encodable(document_id) for document_id in delete):
        raise UsageError("--delete needs the id of a document")
    if not is_encodable(id_prefix):
        raise UsageError("--id-prefix is not UTF-8")
    if source is None and (languages or id_prefix or prune):
        raise UsageError("--language, --id-prefix and --prune need a FILE or a FOLDER")
    return DocumentSource(source, languages, id_prefix) if source else None


@dataclass(frozen=True, slots=True)
class ExistingDocuments:
    """What the topic holds: the languages of documents by their ids, and the ids of what cannot be read."""

    languages: Mapping[str, str]
    unreadable: frozenset[str] = frozenset()

    def missing(self, document_ids: Iterable[str]) -> list[str]:
        """Give those of the ids that no document has."""
        there = self.languages.keys() | self.unreadable
        return [each for each in dict.fromkeys(document_ids) if each not in there]


async def _existing_documents(settings: Settings, *, needed: bool) -> ExistingDocuments | None:
    """Read what is there; where it may not be read, that is told unless it is needed."""
    try:
        published = await read_topic_documents(settings)
    except (TopicAuthorizationFailedError, GroupAuthorizationFailedError):
        if needed:
            raise
        say("the documents topic may not be read: ids of documents in another language are not found")
        return None
    languages = {document_id: each.language for document_id, each in published.documents.items()}
    return ExistingDocuments(languages, published.unreadable_ids)


def _print_ids(documents: LocatedDocuments) -> int:
    named = 0
    for _, document in documents:
        mark = ", auto_send" if document.auto_send else ""
        write_line(f"publish {printable(document.document_id)} ({document.language}{mark})")
        named += 1
    return named


def _publish(documents: LocatedDocuments, settings: Settings, complaints: InputErrors) -> int:
    async def publish() -> int:
        codec = await open_codec(settings.encoding, KnowledgeDocument)
        topic = Topics(settings.kafka.topic_prefix).documents

        def outgoing(document: KnowledgeDocument) -> OutgoingRecord:
            headers = event_headers(document.document_id, "KnowledgeDocument", _SOURCE)
            return OutgoingRecord(topic, document.document_id.encode(), codec.encode(document), headers)

        async with open_sender(settings, topic) as sender, aclosing(aiter_in_thread(documents)) as placed:
            return await send_all(placed, outgoing, sender, complaints)

    return asyncio.run(publish())


async def _delete(document_ids: Sequence[str], settings: Settings, complaints: InputErrors) -> None:
    topic = Topics(settings.kafka.topic_prefix).documents

    def tombstone(document_id: str) -> OutgoingRecord:
        headers = event_headers(document_id, "KnowledgeDocument.deleted", _SOURCE)
        return OutgoingRecord(topic, document_id.encode(), None, headers)

    async with (
        open_sender(settings, topic) as sender,
        aclosing(aiter_in_thread((each, each) for each in document_ids)) as named,
    ):
        await send_all(named, tombstone, sender, complaints)
