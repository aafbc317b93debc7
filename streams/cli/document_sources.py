"""Help documents as commands are given them: a JSONL file, a folder of pages, or what a deployment has."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Annotated

import typer
from rich.progress import Progress

from schemas import KnowledgeDocument
from scoring.text.language_detection import language_code
from streams.cli.command_files import InputErrors, SourceLocation, read_records
from streams.cli.command_output import UsageError, plural, say
from streams.cli.common_options import check_languages
from streams.cli.document_commands import read_topic_documents
from streams.documents.folder import BadFile, PageFolder, language_of_folder, read_folder
from streams.settings import Settings

_LANGUAGES = (
    "Language of the pages of a folder, such as nl; several: the folders of these names in it hold them. "
    "Front matter (language: nl) and, where nothing else says it, the lang of HTML tell it page by page."
)

PageLanguages = Annotated[list[str] | None, typer.Option("--language", metavar="CODE", help=_LANGUAGES)]

AnswersDocuments = Annotated[
    list[Path] | None,
    typer.Option(
        "--documents",
        exists=True,
        metavar="FILE|FOLDER",
        help="JSONL, or a folder of pages, that document_ids are resolved from, and that is searched for "
        "answers which bring neither these nor context; may be repeated, which takes all together.",
    ),
]

DocumentLanguages = Annotated[
    list[str] | None, typer.Option("--documents-language", metavar="CODE", help=_LANGUAGES)
]

FromKafka = Annotated[
    bool, typer.Option("--from-kafka", help="Take the documents that the deployment has, from its topic.")
]


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """Where documents come from: a file of lines, or a folder of pages and what is known of its languages.

    ``option`` is the one that gives the languages.

    Raises:
        UsageError: a language is none, or it is given for a file, whose lines have their own.
    """

    path: Path
    languages: Sequence[str] = ()
    id_prefix: str = ""
    option: str = "--language"

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        check_languages(self.option, self.languages)
        for language in self.languages:
            if not self.path.is_dir():
                raise UsageError(f"{self.option} is for a folder; the lines of a JSONL file have their own")
            if len(self.languages) > 1 and not (self.path / language).is_dir():
                raise UsageError(f"{self.option} {language}: {self.path} has no folder of that name")

    def read(
        self, errors: InputErrors, bar: Progress | None
    ) -> Iterator[tuple[SourceLocation, KnowledgeDocument]]:
        """Read the documents one by one, moving the bar, and complain about bad lines and files.

        Raises:
            CommandFailed: a file of lines cannot be read.
        """
        if self.path.is_dir():
            yield from self._pages(errors, bar)
            return
        for place, document in errors.good_lines(read_records(self.path, KnowledgeDocument, bar)):
            yield place, replace(document, document_id=self.id_prefix + document.document_id)

    def _pages(
        self, errors: InputErrors, bar: Progress | None
    ) -> Iterator[tuple[SourceLocation, KnowledgeDocument]]:
        doubts = _LanguageMismatches(self)
        for document in read_folder(PageFolder(self.path, self.languages, self.id_prefix, self.option)):
            if isinstance(document, BadFile):
                errors.report(str(document.path.relative_to(self.path)), document.reason)
            else:
                doubts.see(document)
                yield document.document_id, document
            if bar is not None:
                bar.advance(bar.task_ids[0])
        doubts.tell()


class _LanguageMismatches:
    """Pages of a folder that seem to be in another language than was named for them."""

    def __init__(self, given: DocumentSource) -> None:
        self._given = given
        self._folders: Counter[tuple[str, str]] = Counter()
        self._pages: list[KnowledgeDocument] = []

    def see(self, document: KnowledgeDocument) -> None:
        """Take a page in."""
        place = PurePath(document.document_id.removeprefix(self._given.id_prefix))
        named = self._named(place)
        if named and language_code(named) != language_code(document.language):
            self._pages.append(document)
        elif named and (folder := language_of_folder(self._given.path, place, named)):
            self._folders[folder, named] += 1

    def _named(self, place: PurePath) -> str | None:
        """Give the language that was named for a page."""
        languages = self._given.languages
        if len(languages) == 1:
            return languages[0]
        return place.parts[0] if place.parts[0] in languages else None

    def tell(self) -> None:
        """Say which there are."""
        option = self._given.option
        for (folder, language), count in self._folders.items():
            say(
                f"warning: {plural(count, 'page')} of the folder {folder} taken for {language}: "
                f"with a folder for each language, name them all by {option}"
            )
        if self._pages:
            first = self._pages[0]
            such = f"such as {first.document_id} ({first.language})"
            pages = plural(len(self._pages), "page")
            say(f"warning: {pages} in another language than {option}, {such}, which counts")


def errors_for(sources: Sequence[Path] | None) -> list[InputErrors]:
    """Give what names what is wrong with each of the sources."""
    return [InputErrors(str(source)) for source in sources or ()]


def read_documents(
    sources: Sequence[Path] | None,
    languages: Sequence[str] | None,
    settings: Settings,
    errors: Sequence[InputErrors],
    bar: Progress | None = None,
    *,
    from_kafka: bool = False,
) -> list[KnowledgeDocument]:
    """Read all documents that a command is given, and complain about bad lines and files.

    Where several sources have a document of the same id, that of the last one is found by it, which is told.

    Args:
        sources: files and folders; there may be none.
        languages: of the pages of folders.
        settings: where the deployment's topic is.
        errors: about each of the sources.
        bar: moved, if one is given.
        from_kafka: those of the deployment, in place of sources.

    Raises:
        CommandFailed: a file cannot be read.
        UsageError: the options do not go together, or the topic is not there.
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
    every: dict[str, Path] = {}
    found: list[KnowledgeDocument] = []
    given = _each_given(sources or (), languages or ())
    for each, about in zip(given, errors, strict=True):
        documents = [document for _, document in each.read(about, bar)]
        if each.path.is_dir() and not documents:
            say(f"{each.path}: there is no page in it that can be used")
        _tell_repeated(documents, each.path, every)
        found += documents
    return found


def _each_given(sources: Sequence[Path], languages: Sequence[str]) -> list[DocumentSource]:
    """Give the languages to the folders; where there is none, they are refused."""
    folders = [source for source in sources if source.is_dir()] or sources
    option = "--documents-language"
    return [DocumentSource(each, languages if each in folders else (), option=option) for each in sources]


def _tell_repeated(documents: Sequence[KnowledgeDocument], source: Path, earlier: dict[str, Path]) -> None:
    """Say which ids documents of an earlier source have as well, and note those of this one."""
    ids = dict.fromkeys(document.document_id for document in documents)
    if repeated := [each for each in ids if each in earlier]:
        such = f"such as {repeated[0]} in {earlier[repeated[0]]}"
        say(
            f"{source}: {plural(len(repeated), 'id')} of documents before, {such}: by id these here are found"
        )
    earlier.update(dict.fromkeys(ids, source))
