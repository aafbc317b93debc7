"""Sources of help documents: JSONL files, folders of pages, and the documents topic."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path, PurePath
from typing import Annotated

import typer
from rich.progress import Progress

from schemas import KnowledgeDocument
from scoring.text.language_detection import language_code
from streams.cli.command_errors import CommandErrors, InputErrors, SourceLocation
from streams.cli.command_files import read_records
from streams.cli.command_output import UsageError, plural, say
from streams.cli.common_options import check_languages
from streams.cli.topic_reading import open_topics
from streams.documents.page_folder import BadFile, PageFolder, language_of_folder, read_folder
from streams.documents.versions import DocumentChange, read_change
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics
from streams.settings import Settings

_LANGUAGES = (
    "The language of the pages of a folder, e.g. nl. Repeated: subfolders of these names hold them. Front "
    "matter (language: nl), or else the lang attribute of HTML, sets it per page."
)

PageLanguages = Annotated[list[str] | None, typer.Option("--language", metavar="CODE", help=_LANGUAGES)]

AnswersDocuments = Annotated[
    list[Path] | None,
    typer.Option(
        "--documents",
        exists=True,
        metavar="FILE|FOLDER",
        help="JSONL, or a folder of pages: document_ids are looked up in it, and answers with neither "
        "document_ids nor context search it. May be repeated; all are used together.",
    ),
]

DocumentLanguages = Annotated[
    list[str] | None, typer.Option("--documents-language", metavar="CODE", help=_LANGUAGES)
]

FromKafka = Annotated[
    bool, typer.Option("--from-kafka", help="Use the documents of the deployment, from its documents topic.")
]

_JSON_REFUSED = "json_not_accepted"

#: The changes of one document by partition: the latest time there, and the newest record.
_NewestChanges = dict[int, tuple[int, DocumentChange]]


@dataclass(frozen=True, slots=True)
class TopicDocuments:
    """The documents of the topic, sorted by id, and its unreadable records.

    ``json_refused`` counts the unreadable records in JSON, which the settings do not allow;
    ``unreadable_ids`` are their ids, if they have one.
    """

    documents: Mapping[str, KnowledgeDocument]
    unreadable: int
    json_refused: int = 0
    unreadable_ids: frozenset[str] = frozenset()

    def report_unreadable(self) -> None:
        """Report the unreadable records, if any, on standard error."""
        if self.json_refused:
            say(
                f"{plural(self.json_refused, 'document')} of the topic not read: JSON is not accepted "
                "(encoding.json_input is off)"
            )
        if others := self.unreadable - self.json_refused:
            say(f"{plural(others, 'document')} of the topic unreadable: see `truthgate dead-letters list`")


async def read_topic_documents(settings: Settings) -> TopicDocuments:
    """Read the documents topic to its end.

    As in a worker's store, the later record is newer within a partition, and between partitions the one
    with the later timestamp.

    Raises:
        UsageError: the topic does not exist.
        KafkaError: the topic may not be read.
        ServiceUnreachable: no broker answers.
        RegistryUnreachable: the schema registry does not answer.
    """
    codec = create_codec(settings)
    newest: dict[str, _NewestChanges] = {}
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
                if bad and bad.reason.error_class == _JSON_REFUSED:
                    json_refused.add((record.partition, record.offset))
                if change:
                    changes = newest.setdefault(change.document_id, {})
                    earlier, _ = changes.get(change.partition, (change.timestamp, None))
                    changes[change.partition] = (max(earlier, change.timestamp), change)
                else:
                    unreadable += 1
    current = [max(each.values(), key=itemgetter(0))[1] for _, each in sorted(newest.items())]
    bad_changes = [change for change in current if change.unreadable]
    return TopicDocuments(
        {change.document_id: change.document for change in current if change.document},
        unreadable + len(bad_changes),
        sum((change.partition, change.offset) in json_refused for change in bad_changes),
        frozenset(change.document_id for change in bad_changes),
    )


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A JSONL file of documents, or a folder of pages with their languages.

    ``option`` is the option that gives the languages.

    Raises:
        UsageError: a language is not a language code, or is given for a file, whose lines have their own.
    """

    path: Path
    languages: Sequence[str] = ()
    id_prefix: str = ""
    option: str = "--language"

    def __post_init__(self) -> None:
        """Check the languages."""
        check_languages(self.option, self.languages)
        for language in self.languages:
            if not self.path.is_dir():
                raise UsageError(f"{self.option} is for a folder; the lines of a JSONL file have their own")
            if len(self.languages) > 1 and not (self.path / language).is_dir():
                raise UsageError(f"{self.option} {language}: {self.path} has no folder of that name")

    def read(
        self, errors: InputErrors, bar: Progress | None
    ) -> Iterator[tuple[SourceLocation, KnowledgeDocument]]:
        """Yield the documents, advance the bar, and report bad lines and files.

        Raises:
            CommandFailed: the JSONL file cannot be read.
        """
        if not self.path.is_dir():
            for number, document in errors.good_lines(read_records(self.path, KnowledgeDocument, bar)):
                yield number, replace(document, document_id=self.id_prefix + document.document_id)
            return
        mismatches = _LanguageMismatches(self)
        for page in read_folder(PageFolder(self.path, self.languages, self.id_prefix, self.option)):
            if isinstance(page, BadFile):
                errors.report(str(page.path.relative_to(self.path)), page.reason)
            else:
                mismatches.note(page)
                yield page.document_id, page
            if bar is not None:
                bar.advance(bar.task_ids[0])
        mismatches.report()


class _LanguageMismatches:
    """Pages of a folder whose language differs from the given one."""

    def __init__(self, source: DocumentSource) -> None:
        self._source = source
        self._folders: Counter[tuple[str, str]] = Counter()
        self._pages: list[KnowledgeDocument] = []

    def note(self, page: KnowledgeDocument) -> None:
        path = PurePath(page.document_id.removeprefix(self._source.id_prefix))
        languages = self._source.languages
        folder_language = path.parts[0] if path.parts[0] in languages else ""
        given = languages[0] if len(languages) == 1 else folder_language
        if given and language_code(given) != language_code(page.language):
            self._pages.append(page)
        elif given and (folder := language_of_folder(self._source.path, path, given)):
            self._folders[folder, given] += 1

    def report(self) -> None:
        option = self._source.option
        for (folder, language), count in self._folders.items():
            say(
                f"warning: {plural(count, 'page')} of the folder {folder} read as {language}; if each "
                f"language has its folder, repeat {option} for each"
            )
        if self._pages:
            first, pages = self._pages[0], plural(len(self._pages), "page")
            say(
                f"warning: {pages} in another language than {option}, e.g. {first.document_id} "
                f"({first.language}); the language of the page is used"
            )


def read_documents(
    sources: Sequence[Path] | None,
    languages: Sequence[str] | None,
    settings: Settings,
    errors: CommandErrors,
    bar: Progress | None = None,
    *,
    from_kafka: bool = False,
) -> list[KnowledgeDocument]:
    """Read the documents of all sources, and report bad lines and files.

    Of documents with the same id in several sources the last one is looked up by id; that is reported.

    Args:
        sources: files and folders; may be empty.
        languages: of the pages of folders.
        settings: name the documents topic.
        errors: collect the errors of each source.
        bar: advanced per document.
        from_kafka: read the documents topic instead of sources.

    Raises:
        CommandFailed: a file cannot be read.
        UsageError: the options exclude each other, or the topic does not exist.
        ServiceUnreachable: no broker answers.
    """
    if from_kafka and sources:
        raise UsageError("--documents and --from-kafka exclude each other")
    if languages and not sources:
        raise UsageError("--documents-language: needs --documents FOLDER")
    if from_kafka:
        published = asyncio.run(read_topic_documents(settings))
        published.report_unreadable()
        return list(published.documents.values())
    sources = sources or ()
    folders = [path for path in sources if path.is_dir()] or sources  # without a folder a file refuses them
    opened = [
        DocumentSource(path, (languages or ()) if path in folders else (), option="--documents-language")
        for path in sources
    ]
    path_of_id: dict[str, Path] = {}
    found: list[KnowledgeDocument] = []
    for source in opened:
        documents = [document for _, document in source.read(errors.of(source.path), bar)]
        if source.path.is_dir() and not documents:
            say(f"{source.path}: the folder has no usable page")
        ids = dict.fromkeys(document.document_id for document in documents)
        if repeated := [each for each in ids if each in path_of_id]:
            example = f"e.g. {repeated[0]} in {path_of_id[repeated[0]]}"
            say(f"{source.path}: replaces {plural(len(repeated), 'earlier id')}, {example}")
        path_of_id.update(dict.fromkeys(ids, source.path))
        found += documents
    return found
