"""The company's terms, built from the stored documents and kept up to date."""

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
#: The minimum time between two updates; only changed documents are counted again, all terms are chosen again.
REBUILD_INTERVAL_SECONDS = 15.0


class TermsFile:
    """A terms file that somebody else writes. One thread calls the methods, which block."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def exists(self) -> bool:
        """Whether the file exists, for example from an earlier run."""
        return self._path.exists()

    def needs_refresh(self) -> bool:
        """Return whether :meth:`refresh` may return something new; cheap. A file may change at any time."""
        return True

    def refresh(self) -> CompanyTerms:
        """Read the file; raises CompanyTermsError."""
        return load_terms(self._path)

    def cancel(self) -> None:
        """Make a running refresh fail soon; called from any thread. Reading a file takes no time."""


class BuiltTermsFile(TermsFile):
    """A terms file built from a document store.

    A refresh counts only the documents that changed since the last one.

    Args:
        store: the documents.
        path: the file, replaced as a whole when the terms differ.
        min_documents: a language with fewer documents has no terms.
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
        """Make a running refresh fail soon: counting 100,000 documents takes most of a minute."""
        self._cancelled.set()

    def needs_refresh(self) -> bool:
        """Return whether the store has read on or was rebuilt since the last refresh, or the file is gone."""
        return self._seen_offsets != self._store.next_offsets or not self.exists

    def refresh(self) -> CompanyTerms:
        """Count the changed documents and write the file.

        Raises:
            CompanyTermsError: it was cancelled.
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
                    raise CompanyTermsError("cancelled")
                if self._versions.get(document_id) != version and (stored := documents.get(document_id)):
                    count_document(stored.document, self._counts)
        self._versions = versions


def count_document(document: KnowledgeDocument, counts: WordCounts) -> None:
    """Count a document instead of its former version; remove one whose language is unknown."""
    if language := language_code(document.language):
        counts.put(document.document_id, language, f"{document.title}\n{document.text}")
    else:
        counts.remove(document.document_id)


def count_file_documents(documents: Iterable[KnowledgeDocument]) -> WordCounts:
    """Count documents from files, where one id in two languages is two documents."""
    counts = WordCounts()
    for document in documents:
        count_document(replace(document, document_id=f"{document.language} {document.document_id}"), counts)
    return counts


@contextmanager
def offline_terms(
    settings: Settings, documents: Iterable[KnowledgeDocument], profiles: Iterable[str] | None = None
) -> Iterator[Settings]:
    """Yield settings for scoring without a worker: ``company_terms.file`` is built for the duration.

    A configured file stays, and none is built if none of the ``profiles`` uses it (None: one may).
    Raises InvalidSettings if the configured file cannot be used.
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
    """Return the terms file that a worker's scoring processes read."""
    return settings.company_terms.file or settings.documents.store / TERMS_FILE_NAME


def terms_source(settings: Settings, store: DocumentStore) -> TermsFile:
    """Return a worker's terms; raises InvalidSettings if ``company_terms.file`` cannot be used."""
    path = terms_path(settings)
    if settings.company_terms.file is None:
        return BuiltTermsFile(store, path, MIN_DOCUMENTS)
    check_terms_file(settings)
    return TermsFile(path)


def check_terms_file(settings: Settings) -> None:
    """Raise InvalidSettings if ``company_terms.file`` is set and cannot be used."""
    if (path := settings.company_terms.file) is None:
        return
    try:
        load_terms(path)
    except CompanyTermsError as error:
        raise InvalidSettings(f"company_terms.file: {error}") from None


log = structlog.get_logger(__name__)

#: After this, a refresh that is still running fails because the store is closed.
_FINISH_SECONDS = 5.0


@dataclass(eq=False)
class TermsUpdater:
    """Refreshes the terms periodically in a thread, while the context is open.

    The terms are one signal among several and decide nothing alone. So a failed refresh is logged (once for
    the same reason), counted, and repeated after the interval; meanwhile the last good terms are used.

    Args:
        source: reads or builds the terms.
        interval: the minimum seconds between two refreshes.
        start_after: the first refresh waits for this event.
        on_terms: called with the terms after each refresh.
        on_failure: called after each failed refresh.
        clock: monotonic seconds.

    Attributes:
        ready: set when terms are available: those of an earlier run, which age slowly, or after the first
            refresh, whether it succeeded or not.
        failure: why the last refresh failed; None after a success.
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
        """Start refreshing in the background."""
        self._task = asyncio.create_task(self._run(), name="company-terms")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop, and wait for a running refresh, so that the store is not closed while it is read."""
        self._stopping.set()
        self.source.cancel()
        if self._task:
            await asyncio.wait([self._task], timeout=_FINISH_SECONDS if self.start_after.is_set() else 0)
            self._task.cancel()

    @property
    def age(self) -> float:
        """Seconds since the terms last agreed with their source; NaN before the first time."""
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
                if self.failure or self.source.needs_refresh():
                    await self._refresh()
                else:
                    self._current_at = self.clock()

    async def _refresh(self) -> None:
        try:
            terms = await asyncio.to_thread(self.source.refresh)
        except Exception as error:  # noqa: BLE001 - any failure: answers are judged without the terms
            if not self._stopping.is_set():
                is_own = isinstance(error, CompanyTermsError)
                self._fail(str(error) if is_own else loggable_reason(error))
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
