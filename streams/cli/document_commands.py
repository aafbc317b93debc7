"""`truthgate documents` and `truthgate publish-documents`: list, show, publish and delete documents."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer
from aiokafka.errors import GroupAuthorizationFailedError, TopicAuthorizationFailedError

from schemas import KnowledgeDocument, to_json
from schemas.records import rfc3339
from scoring.lexicon import Lexicon, LexiconError, load_lexicons
from scoring.quotation.quoted_document import sending_problem
from scoring.text.language_detection import language_code
from scoring.values.exchange import is_encodable
from streams.cli.command_files import count_lines
from streams.cli.command_output import (
    CommandFailed,
    ExitCode,
    InputErrors,
    SourceLocation,
    UsageError,
    plural,
    printable,
    progress_bar,
    say,
    write_json,
    write_line,
)
from streams.cli.common_options import AsJson, ConfigFile, InputFileOrFolder, check_languages
from streams.cli.document_sources import DocumentSource, PageLanguages, TopicDocuments, read_topic_documents
from streams.cli.topic_access import OutgoingRecord, publish, send_all
from streams.cli.verdict_rendering import print_table
from streams.documents.page_folder import is_language_tag
from streams.documents.versions import version_name
from streams.kafka.kafka_records import event_headers
from streams.kafka.topics import Topics
from streams.pipeline.context import as_published
from streams.settings import InvalidSettings, Settings, load_settings

app = typer.Typer(help="List and show the help documents of the deployment.")

_SOURCE = "publish-documents"

LocatedDocuments = Iterator[tuple[SourceLocation, KnowledgeDocument]]


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


def publish_documents(
    source: InputFileOrFolder = None,
    language: PageLanguages = None,
    id_prefix: Annotated[
        str,
        typer.Option(metavar="TEXT", help="Put this before every id, e.g. en/ for one of several folders."),
    ] = "",
    delete: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Delete this document; may be repeated.")
    ] = None,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Delete the documents that the source lacks: of all in its languages, or of those whose ids "
            "begin with --id-prefix. Nothing is deleted if a line or file is bad.",
        ),
    ] = False,
    all_languages: Annotated[
        bool, typer.Option("--all-languages", help="With --prune: delete documents in other languages, too.")
    ] = False,
    change_language: Annotated[
        bool, typer.Option("--change-language", help="Replace documents that are in another language, too.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Send nothing; write which ids would be published, with language and auto_send, and which "
            "would be deleted.",
        ),
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Publish help documents to the documents topic: a JSONL file, or a folder of Markdown and HTML files.

    The id of a page is its path below the folder without `.md`, `.html` or `.htm`; its title is the first
    heading. Front matter may set `language`, `title`, `url` and `auto_send: true`, which lets the page be
    sent word for word in reply to its title; a page with `auto_send` that can never be sent is named on
    standard error. With `--language nl --language en` the folders `nl` and `en` hold the pages of these
    languages, and their ids begin with `nl/` and `en/`.

    A bad line or file is named on standard error, the others are published, and the exit code is 1. The same
    holds for a document whose id belongs to one in another language, so that no translation replaces its
    original, and for a --delete ID that does not exist.

    Example: `truthgate publish-documents help/ --language nl`
    """
    opened = _open_source(source, language or (), id_prefix, delete or (), prune=prune)
    if all_languages and not prune:
        raise UsageError("--all-languages: needs --prune")
    settings = load_settings(config)
    errors = InputErrors(source)
    published = asyncio.run(_published_documents(settings, required=prune))
    languages = {key: each.language for key, each in published.documents.items()} if published else {}
    missing = missing_documents(published, delete or ()) if published else []
    for document_id in missing:
        say(f"--delete {document_id}: no such document")
    deleted = [each for each in delete or () if each not in missing]
    selection = PublishableDocuments({} if change_language else languages, errors, MarkedDocuments(settings))
    with progress_bar("publishing", count_lines(source) if source else None) as bar:
        documents = selection.select(opened.read(errors, bar)) if opened else iter(())
        if dry_run:
            sent = _print_ids(documents)
        else:
            sent = asyncio.run(publish(settings, KnowledgeDocument, documents, _SOURCE, errors))
    if prune:
        pruned_languages = None if all_languages else language or ()
        deleted = [*deleted, *selection.ids_to_prune(languages, id_prefix, pruned_languages)]
    if dry_run:
        for document_id in deleted:
            write_line(f"delete {printable(document_id)}")
    elif deleted:
        asyncio.run(_delete(deleted, settings, errors))
    would = "would be " if dry_run else ""
    say(f"{plural(sent, 'document')} {would}published, {len(deleted)} {would}deleted")
    raise typer.Exit(ExitCode.BAD_INPUT if missing else errors.exit_code)


class MarkedDocuments:
    """Warns about documents that are marked ``auto_send`` but cannot be sent, by ``scoring.lexicons``."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ids: dict[tuple[str, str], str] = {}

    def check(self, document: KnowledgeDocument) -> None:
        """Warn if a marked document cannot be sent, or repeats a title; raises InvalidSettings."""
        if not document.auto_send:
            return
        language, warning = (
            language_code(document.language) or "",
            f"warning: {document.document_id}: marked auto_send",
        )
        if problem := sending_problem(as_published(document), self._lexicons.get(language)):
            say(f"{warning}, but {problem}: it is never sent")
        title = " ".join(document.title.split()).casefold()
        earlier = self._ids.setdefault((language, title), document.document_id)
        if earlier != document.document_id:
            say(f"{warning}, as is {earlier} with the same title: either may be sent in reply to it")

    @cached_property
    def _lexicons(self) -> dict[str, Lexicon]:
        try:
            return load_lexicons(self._settings.scoring.lexicons)
        except LexiconError as error:
            raise InvalidSettings(f"scoring.lexicons: {error}") from error


class PublishableDocuments:
    """Selects the documents of a source that may be published, and reports the others to ``errors``.

    ``known`` are the languages of the documents in the topic, by id.
    """

    def __init__(self, known: Mapping[str, str], errors: InputErrors, marked: MarkedDocuments) -> None:
        self._known = known
        self._errors = errors
        self._marked = marked
        self._languages: dict[str, str] = {}

    def select(self, documents: LocatedDocuments) -> LocatedDocuments:
        """Yield the documents that may be published, and report the others."""
        for location, document in documents:
            if reason := self._refusal(document):
                self._errors.report(location, reason)
            else:
                self._languages[document.document_id] = document.language
                self._marked.check(document)
                yield location, document

    def ids_to_prune(
        self, known: Mapping[str, str], id_prefix: str, languages: Iterable[str] | None = ()
    ) -> list[str]:
        """Return the known ids that the source lacks, or none if the source has errors or no documents.

        Only documents in the source's languages and in ``languages`` are pruned; None prunes all languages.
        """
        if self._errors.count or not self._languages:
            say("--prune: nothing is deleted: the source has errors or no documents")
            return []
        gone = sorted(each for each in known if each.startswith(id_prefix) and each not in self._languages)
        if languages is None:
            return gone
        codes = {language_code(each) for each in (*self._languages.values(), *languages)}
        pruned = [each for each in gone if language_code(known[each]) in codes]
        if left := sorted({known[each] for each in gone} - {known[each] for each in pruned}):
            count = plural(len(gone) - len(pruned), "document")
            say(f"--prune: {count} in {', '.join(left)} not deleted (--all-languages deletes them)")
        return pruned

    def _refusal(self, document: KnowledgeDocument) -> str | None:
        if not is_language_tag(document.language):
            return f"language: {document.language!r} is not a language code; expected e.g. nl or en"
        earlier = self._languages.get(document.document_id) or self._known.get(document.document_id)
        if earlier and language_code(earlier) != language_code(document.language):
            return (
                f"a document in {earlier} has the id {document.document_id}: change one of the ids "
                "(--id-prefix), or replace the document (--change-language)"
            )
        return None


def _open_source(
    source: Path | None, languages: Sequence[str], id_prefix: str, delete: Sequence[str], *, prune: bool
) -> DocumentSource | None:
    if source is None and not delete:
        raise UsageError("nothing to do: give a FILE, a FOLDER or --delete ID")
    if any(not document_id or not is_encodable(document_id) for document_id in delete):
        raise UsageError("--delete needs the id of a document")
    if not is_encodable(id_prefix):
        raise UsageError("--id-prefix is not UTF-8")
    if source is None and (languages or id_prefix or prune):
        raise UsageError("--language, --id-prefix and --prune need a FILE or a FOLDER")
    return DocumentSource(source, languages, id_prefix) if source else None


async def _published_documents(settings: Settings, *, required: bool) -> TopicDocuments | None:
    """Read the documents topic; if it may not be read, say so, or raise if it is required."""
    try:
        return await read_topic_documents(settings)
    except (TopicAuthorizationFailedError, GroupAuthorizationFailedError):
        if required:
            raise
        say("no permission to read the documents topic: ids of documents in other languages are not checked")
        return None


def missing_documents(published: TopicDocuments, document_ids: Iterable[str]) -> list[str]:
    """Return the ids that no record of the topic has, not even an unreadable one."""
    known = {*(each.encode() for each in published.documents), *published.unreadable}
    return [each for each in dict.fromkeys(document_ids) if each.encode() not in known]


def _print_ids(documents: LocatedDocuments) -> int:
    found = list(documents)
    for _, document in found:
        mark = ", auto_send" if document.auto_send else ""
        write_line(f"publish {printable(document.document_id)} ({document.language}{mark})")
    return len(found)


async def _delete(document_ids: Sequence[str], settings: Settings, errors: InputErrors) -> None:
    topic = Topics(settings.kafka.topic_prefix).documents

    def tombstone(document_id: str) -> OutgoingRecord:
        headers = event_headers(document_id, "KnowledgeDocument.deleted", _SOURCE)
        return OutgoingRecord(topic, document_id.encode(), None, headers)

    async def open_outgoing() -> Callable[[str], OutgoingRecord]:
        return tombstone

    await send_all(settings, topic, [(each, each) for each in document_ids], open_outgoing, errors)
