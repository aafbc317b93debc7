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
from scoring.text.language import stated_language
from scoring.values.types import is_text
from streams.cli.documents import read_published
from streams.cli.feed import feed
from streams.cli.files import Complaints, Place, count
from streams.cli.knowledge import Given, PageLanguages
from streams.cli.options import ConfigFile, InputFileOrFolder
from streams.cli.output import ExitCode, WrongUsage, plural, printable, progress, say, write_line
from streams.cli.sending import Outgoing, open_codec, open_sender, send_all
from streams.documents.folder import is_language
from streams.kafka.records import event_headers
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings

_SOURCE = "publish-documents"

Placed = Iterator[tuple[Place, KnowledgeDocument]]


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
            help="Write which ids would be published, in which language, and deleted, and send nothing.",
        ),
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Publish help documents to the documents topic: a JSONL file, or a folder of Markdown and HTML files.

    A file's id is its path below the folder without `.md`, `.html` or `.htm`, its title the first heading.
    Front matter may state `language`, `title` and `url`. Pages of several languages go in one go: with
    `--language nl --language en` the folders `nl` and `en` hold them, and their ids begin with `nl/` and
    `en/`.

    A bad line or file is named on standard error, the rest is published, and the exit code is 1. So it is
    with a document whose id one in another language has already: no translation takes the place of what it
    was made of. An ID to --delete that is not there is named, and the exit code is 1, too.

    Example: `truthgate publish-documents help/ --language nl`
    """
    given = _given(source, language or (), id_prefix, delete or (), prune=prune)
    if all_languages and not prune:
        raise WrongUsage("--all-languages: needs --prune")
    settings = load_settings(config)
    complaints = Complaints(str(source))
    there = asyncio.run(_there(settings, needed=prune))
    known = there.languages if there else {}
    missing = there.missing(delete or ()) if there else []
    for document_id in missing:
        say(f"--delete {document_id}: there is no such document")
    deleted = [each for each in delete or () if each not in missing]
    accepted = Accepted({} if change_language else known, complaints)
    with progress("publishing", count(source) if source else None) as bar:
        documents = accepted.of(given.placed(complaints, bar)) if given else iter(())
        send = _name if dry_run else partial(_publish, settings=settings, complaints=complaints)
        sent = send(documents)
    if prune:
        spoken = None if all_languages else language or ()
        deleted = [*deleted, *accepted.outside(known, id_prefix, spoken)]
    if dry_run:
        for document_id in deleted:
            write_line(f"delete {printable(document_id)}")
    elif deleted:
        asyncio.run(_delete(deleted, settings, complaints))
    would = "would be " if dry_run else ""
    say(f"{plural(sent, 'document')} {would}published, {len(deleted)} {would}deleted")
    raise typer.Exit(ExitCode.BAD_INPUT if missing else complaints.exit_code)


class Accepted:
    """The documents of a source that may be published.

    Args:
        known: the languages of the documents that are there, by id.
        complaints: about those that may not.
    """

    def __init__(self, known: Mapping[str, str], complaints: Complaints) -> None:
        self._known = known
        self._complaints = complaints
        self._languages: dict[str, str] = {}

    def of(self, placed: Placed) -> Placed:
        """Pass on what may be published, and complain about the rest."""
        for place, document in placed:
            if reason := self._refusal(document):
                self._complaints.about(place, reason)
            else:
                self._languages[document.document_id] = document.language
                yield place, document

    def outside(
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
        spoken = {stated_language(each) for each in (*self._languages.values(), *languages)}
        outside = [each for each in gone if stated_language(known[each]) in spoken]
        if left := sorted({known[each] for each in gone} - {known[each] for each in outside}):
            count = plural(len(gone) - len(outside), "document")
            say(f"--prune: {count} in {', '.join(left)} left (--all-languages deletes them)")
        return outside

    def _refusal(self, document: KnowledgeDocument) -> str | None:
        if not is_language(document.language):
            return f"language: {document.language!r} is no code such as nl or en"
        earlier = self._languages.get(document.document_id) or self._known.get(document.document_id)
        if earlier and stated_language(earlier) != stated_language(document.language):
            return (
                f"the id {document.document_id} is that of a document in {earlier}: give one of them another "
                "id (--id-prefix), or replace it (--change-language)"
            )
        return None


def _given(
    source: Path | None, languages: Sequence[str], id_prefix: str, delete: Sequence[str], *, prune: bool
) -> Given | None:
    if source is None and not delete:
        raise WrongUsage("nothing to do: name a FILE, a FOLDER or --delete ID")
    if any(not document_id or not is_text(document_id) for document_id in delete):
        raise WrongUsage("--delete needs the id of a document")
    if not is_text(id_prefix):
        raise WrongUsage("--id-prefix is not UTF-8")
    if source is None and (languages or id_prefix or prune):
        raise WrongUsage("--language, --id-prefix and --prune need a FILE or a FOLDER")
    return Given(source, languages, id_prefix) if source else None


@dataclass(frozen=True, slots=True)
class There:
    """What the topic holds: the languages of documents by their ids, and the ids of what cannot be read."""

    languages: Mapping[str, str]
    unreadable: frozenset[str] = frozenset()

    def missing(self, document_ids: Iterable[str]) -> list[str]:
        """Give those of the ids that no document has."""
        there = self.languages.keys() | self.unreadable
        return [each for each in dict.fromkeys(document_ids) if each not in there]


async def _there(settings: Settings, *, needed: bool) -> There | None:
    """Read what is there; where it may not be read, that is told unless it is needed."""
    try:
        published = await read_published(settings)
    except (TopicAuthorizationFailedError, GroupAuthorizationFailedError):
        if needed:
            raise
        say("the documents topic may not be read: ids of documents in another language are not found")
        return None
    languages = {document_id: each.language for document_id, each in published.documents.items()}
    return There(languages, published.unreadable_ids)


def _name(documents: Placed) -> int:
    named = 0
    for _, document in documents:
        write_line(f"publish {printable(document.document_id)} ({document.language})")
        named += 1
    return named


def _publish(documents: Placed, settings: Settings, complaints: Complaints) -> int:
    async def publish() -> int:
        codec = await open_codec(settings.encoding, KnowledgeDocument)
        topic = Topics(settings.kafka.topic_prefix).documents

        def outgoing(document: KnowledgeDocument) -> Outgoing:
            headers = event_headers(document.document_id, "KnowledgeDocument", _SOURCE)
            return Outgoing(topic, document.document_id.encode(), codec.encode(document), headers)

        async with open_sender(settings, topic) as sender, aclosing(feed(documents)) as placed:
            return await send_all(placed, outgoing, sender, complaints)

    return asyncio.run(publish())


async def _delete(document_ids: Sequence[str], settings: Settings, complaints: Complaints) -> None:
    topic = Topics(settings.kafka.topic_prefix).documents

    def tombstone(document_id: str) -> Outgoing:
        headers = event_headers(document_id, "KnowledgeDocument.deleted", _SOURCE)
        return Outgoing(topic, document_id.encode(), None, headers)

    async with (
        open_sender(settings, topic) as sender,
        aclosing(feed((each, each) for each in document_ids)) as named,
    ):
        await send_all(named, tombstone, sender, complaints)
