"""Sources of help documents: JSONL files, folders of pages, and the documents topic."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Annotated

import typer
from rich.progress import Progress

from schemas import KnowledgeDocument
from scoring.text.language_detection import language_code
from streams.cli.command_files import read_records
from streams.cli.command_output import CommandErrors, InputErrors, SourceLocation, UsageError, plural, say
from streams.cli.common_options import check_languages, existing_option
from streams.cli.topic_access import read_newest
from streams.documents.page_folder import BadFile, PageFolder, language_of_folder, read_folder
from streams.documents.versions import read_change
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
    existing_option(
        "JSONL, or a folder of pages: document_ids are looked up in it, and answers with neither "
        "document_ids nor context search it. May be repeated; all are used together.",
        "--documents",
        folders=True,
    ),
]

DocumentLanguages = Annotated[
    list[str] | None, typer.Option("--documents-language", metavar="CODE", help=_LANGUAGES)
]

FromKafka = Annotated[
    bool, typer.Option("--from-kafka", help="Use the documents of the deployment, from its documents topic.")
]

_JSON_REFUSED = "json_not_accepted"


@dataclass(frozen=True, slots=True)
class TopicDocuments:
    """The documents of the topic, sorted by id, and the error classes of its unreadable records by key."""

    documents: dict[str, KnowledgeDocument]
    unreadable: dict[bytes | None, str]

    def report_unreadable(self) -> None:
        """Report the unreadable records, if any, on standard error."""
        classes = list(self.unreadable.values())
        if json_refused := classes.count(_JSON_REFUSED):
            reason = "JSON is not accepted (encoding.json_input is off)"
            say(f"{plural(json_refused, 'document')} of the topic not read: {reason}")
        if others := len(classes) - json_refused:
            say(f"{plural(others, 'document')} of the topic unreadable: see `truthgate dead-letters list`")


async def read_topic_documents(settings: Settings) -> TopicDocuments:
    """Read the documents topic to its end; raises as :func:`open_topics` does, and RegistryUnreachable."""
    codec = create_codec(settings)
    found = TopicDocuments({}, {})
    newest = await read_newest(settings.kafka, Topics(settings.kafka.topic_prefix).documents)
    for key, record in sorted(newest.items(), key=lambda each: each[0] or b""):
        await codec.lookup(record.value)
        change, bad = read_change(record, codec)
        if bad:
            found.unreadable[key] = bad.reason.error_class
        elif change and change.document:
            found.documents[change.document_id] = change.document
    return found


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A JSONL file of documents, or a folder of pages with their languages.

    ``option`` is the option that gives the languages. Raises UsageError if a language does not exist, or is
    given for a file, whose lines have their own.
    """

    path: Path
    languages: Sequence[str] = ()
    id_prefix: str = ""
    option: str = "--language"

    def __post_init__(self) -> None:
        check_languages(self.option, self.languages)
        for language in self.languages:
            if not self.path.is_dir():
                raise UsageError(f"{self.option} is for a folder; the lines of a JSONL file have their own")
            if len(self.languages) > 1 and not (self.path / language).is_dir():
                raise UsageError(f"{self.option} {language}: {self.path} has no folder of that name")

    def read(
        self, errors: InputErrors, bar: Progress | None
    ) -> Iterator[tuple[SourceLocation, KnowledgeDocument]]:
        """Yield the documents, advance the bar, and report bad lines and files; raises CommandFailed."""
        if not self.path.is_dir():
            for number, document in errors.good_lines(read_records(self.path, KnowledgeDocument, bar)):
                yield number, replace(document, document_id=self.id_prefix + document.document_id)
            return
        pages: list[tuple[str, str]] = []
        for page in read_folder(PageFolder(self.path, self.languages, self.id_prefix, self.option)):
            if isinstance(page, BadFile):
                errors.report(str(page.path.relative_to(self.path)), page.reason)
            else:
                pages.append((page.document_id, page.language))
                yield page.document_id, page
            if bar is not None:
                bar.advance(bar.task_ids[0])
        _report_mismatches(self, pages)


def _report_mismatches(source: DocumentSource, pages: Iterable[tuple[str, str]]) -> None:
    """Report pages, each with id and language, whose language differs from the given one."""
    folders: Counter[tuple[str, str]] = Counter()
    others: list[tuple[str, str]] = []
    for document_id, language in pages:
        path = PurePath(document_id.removeprefix(source.id_prefix))
        given = source.languages[0] if len(source.languages) == 1 else path.parts[0]
        if given not in source.languages:
            continue
        if language_code(given) != language_code(language):
            others.append((document_id, language))
        elif folder := language_of_folder(source.path, path, given):
            folders[folder, given] += 1
    for (folder, language), count in folders.items():
        say(
            f"warning: {plural(count, 'page')} of the folder {folder} read as {language}; if each "
            f"language has its folder, repeat {source.option} for each"
        )
    if others:
        document_id, language = others[0]
        say(
            f"warning: {plural(len(others), 'page')} in another language than {source.option}, e.g. "
            f"{document_id} ({language}); the language of the page is used"
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
    """Read the documents of all sources, or ``from_kafka`` those of the topic; report bad lines and files.

    Of documents with the same id in several sources the last one is looked up by id; that is reported.
    ``languages`` are those of the pages of folders. The bar is advanced per document. Raises CommandFailed if
    a file cannot be read, UsageError if the options exclude each other, and as :func:`read_topic_documents`.
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
