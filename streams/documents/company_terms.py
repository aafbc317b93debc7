"""The company's terms: built from the stored documents and kept up to date."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import structlog

from schemas import KnowledgeDocument
from scoring.company_terms import MIN_DOCUMENTS, CompanyTerms, CompanyTermsError, load_terms, save_terms
from scoring.company_terms.term_extraction import GeneralWordFrequencies, WordCounts, extract_terms
from scoring.scorer.profile import get_profile
from scoring.text.language_detection import language_code
from streams.documents.store import DocumentStore
from streams.documents.versions import DocumentVersion
from streams.observability.failures import loggable_reason
from streams.settings import InvalidSettings, Settings

TERMS_FILE_NAME = "company-terms.json"
#: How often changes of documents are taken in, at most. What changed is counted; all terms are chosen anew.
REBUILD_INTERVAL_SECONDS = 15.0


class TermsFile:
    """Terms of a file that somebody else writes. ``due`` and ``refresh`` block; one thread calls them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def exists(self) -> bool:
        """Whether there is a file, such as that of an earlier life."""
        return self._path.exists()

    def needs_refresh(self) -> bool:
        """Say whether :meth:`refresh` may have something new; cheap. A file may have changed: always."""
        return True

    def refresh(self) -> CompanyTerms:
        """Read the file; raises CompanyTermsError."""
        return load_terms(self._path)

    def cancel(self) -> None:
        """Have a refresh that goes on fail soon; called from any thread. Reading a file takes no time."""


class BuiltTermsFile(TermsFile):
    """Terms built from the documents of a store into a file beside it.

    A refresh counts the documents that changed since the last one, not the others.

    Args:
        store: the documents.
        path: the file, replaced whole when the terms differ.
        least_documents: a language with fewer has no terms.
    """

    def __init__(self, store: DocumentStore, path: Path, min_documents: int) -> None:
        super().__init__(path)
        self._store = store
        self._min_documents = min_documents
        self._general = GeneralWordFrequencies()
        self._counts = WordCounts()
        self._versions: dict[str, DocumentVersion] = {}
        self._saved: str | None = None
        self._seen_offsets: object = None
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Have a refresh that goes on fail soon: to count 100,000 documents takes most of a minute."""
        self._cancelled.set()

    def needs_refresh(self) -> bool:
        """Whether the topic was read on or the store begun anew since the last refresh, or the file gone."""
        return self._seen_offsets != self._store.next_offsets or not self.exists

    def refresh(self) -> CompanyTerms:
        """Count what changed and write the file.

        Raises:
            CompanyTermsError: it was ended.
            StoreFailed: the store cannot be read.
            OSError: the file cannot be written.
        """
        seen = self._store.next_offsets
        self._count_changes()
        terms = extract_terms(self._counts.languages, self._general, self._min_documents)
        if terms.version != self._saved or not self.exists:
            save_terms(terms, self._path)
        self._saved, self._seen_offsets = terms.version, seen
        return terms

    def _count_changes(self) -> None:
        with self._store.snapshot() as documents:
            versions = documents.versions()
            for document_id in self._counts.document_ids - versions.keys():
                self._counts.remove(document_id)
            for document_id, version in versions.items():
                if self._cancelled.is_set():
                    raise CompanyTermsError("ended")
                if self._versions.get(document_id) != version and (stored := documents.get(document_id)):
                    count_document(stored.document, self._counts)
        self._versions = versions


def count_document(document: KnowledgeDocument, counts: WordCounts) -> None:
    """Count a document, in place of its former version; one in no known language counts as none."""
    if language := language_code(document.language):
        counts.put(document.document_id, language, f"{document.title}\n{document.text}")
    else:
        counts.remove(document.document_id)


def count_file_documents(documents: Iterable[KnowledgeDocument]) -> WordCounts:
    """Count documents of files; there the same id in two languages is two documents."""
    counts = WordCounts()
    for document in documents:
        count_document(replace(document, document_id=f"{document.language} {document.document_id}"), counts)
    return counts


@contextmanager
def offline_terms(
    settings: Settings, documents: Iterable[KnowledgeDocument], profiles: Iterable[str] | None = None
) -> Iterator[Settings]:
    """Give settings to score with where there is no worker: ``company_terms.file`` is built for now.

    One that is set stays, and none is built where none of the ``profiles`` looks for it; None: one may.
    Raises InvalidSettings where it cannot be used.
    """
    check_terms_file(settings)
    needed = profiles is None or any(get_profile(name).needs_company_terms for name in profiles)
    if settings.company_terms.file or not needed:
        yield settings
        return
    terms = extract_terms(count_file_documents(documents).languages, GeneralWordFrequencies(), MIN_DOCUMENTS)
    with TemporaryDirectory(prefix="truthgate-") as folder:
        path = Path(folder) / TERMS_FILE_NAME
        save_terms(terms, path)
        yield settings.with_values("company_terms", {"file": path})


def terms_path(settings: Settings) -> Path:
    """Return the file that the scoring processes of a worker read the company's terms from."""
    return settings.company_terms.file or settings.documents.store / TERMS_FILE_NAME


def terms_source(settings: Settings, store: DocumentStore) -> TermsFile:
    """Return where a worker's terms come from.

    Raises:
        InvalidSettings: ``company_terms.file`` names a file that cannot be used.
    """
    path = terms_path(settings)
    if settings.company_terms.file is None:
        return BuiltTermsFile(store, path, MIN_DOCUMENTS)
    check_terms_file(settings)
    return TermsFile(path)


def check_terms_file(settings: Settings) -> None:
    """Refuse a ``company_terms.file`` that cannot be used; raises InvalidSettings."""
    if (path := settings.company_terms.file) is None:
        return
    try:
        load_terms(path)
    except CompanyTermsError as error:
        raise InvalidSettings(f"company_terms.file: {error}") from None


log = structlog.get_logger(__name__)

#: A refresh that takes longer than this to finish meets a store that is closed, and ends by that.
_FINISH_SECONDS = 5.0


@dataclass(eq=False)
class TermsUpdater:
    """Refreshes the terms now and then, in a thread, for as long as it is entered.

    The terms are one signal among several and decide nothing alone. So a refresh that fails is
    logged (once for the same reason), counted, and tried again after the interval; meanwhile the
    last good terms are in use.

    Args:
        source: where the terms come from.
        interval: seconds between two refreshes, at least.
        after: begin when this is set.
        on_terms: called with the terms after each refresh.
        on_failure: called after each refresh that failed.
        clock: seconds that only go forward.

    Attributes:
        ready: set once there are terms to judge by: those of an earlier life, which a minute more or less
            makes no worse, or those of the first refresh, with or without success.
        failure: why the terms could not be built or read the last time; None when they could.
    """

    source: TermsFile
    interval: float
    start_after: asyncio.Event
    _: KW_ONLY
    on_terms: Callable[[CompanyTerms], None]
    on_failure: Callable[[], None]
    clock: Callable[[], float] = time.monotonic
    ready: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    failure: str | None = field(default=None, init=False)
    _current_at: float | None = field(default=None, init=False)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _task: asyncio.Task[None] | None = field(default=None, init=False)

    async def __aenter__(self) -> Self:
        """Begin, in the background."""
        self._task = asyncio.create_task(self._run(), name="company-terms")
        return self

    async def __aexit__(self, *_: object) -> None:
        """End, and a refresh that has begun too, so that nobody closes the store under it."""
        self._stopping.set()
        self.source.cancel()
        if self._task:
            await asyncio.wait([self._task], timeout=_FINISH_SECONDS if self.start_after.is_set() else 0)
            self._task.cancel()

    @property
    def age(self) -> float:
        """Seconds since the terms were last known to agree with their source; NaN before that."""
        return float("nan") if self._current_at is None else self.clock() - self._current_at

    async def _run(self) -> None:
        await self.start_after.wait()
        if await asyncio.to_thread(lambda: self.source.exists):
            self.ready.set()
        await self._refresh()
        self.ready.set()
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self.interval)
            if not self._stopping.is_set():
                await self._refresh_if_due()

    async def _refresh_if_due(self) -> None:
        if self.failure or self.source.needs_refresh():
            await self._refresh()
        else:
            self._current_at = self.clock()

    async def _refresh(self) -> None:
        try:
            terms = await asyncio.to_thread(self.source.refresh)
        except Exception as error:  # noqa: BLE001 - whatever it is, answers are judged without it
            if not self._stopping.is_set():
                self._fail(_error_text(error))
            return
        if self.failure:
            log.info("company_terms_work_again")
        self.failure, self._current_at = None, self.clock()
        self.on_terms(terms)

    def _fail(self, reason: str) -> None:
        if reason != self.failure:
            log.error("company_terms_failed", reason=reason)
        self.failure = reason
        self.on_failure()


def _error_text(error: Exception) -> str:
    return str(error) if isinstance(error, CompanyTermsError) else loggable_reason(error)
