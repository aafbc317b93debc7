"""Retrieval without a broker: an index in the user's cache, built when the first question comes."""

import asyncio
import hashlib
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from platformdirs import user_cache_path

from schemas import KnowledgeDocument
from scoring.cache.shared_database import try_lock
from streams.documents.versions import VersionedDocument, version_name
from streams.observability.failures import (
    EXIT_SOFTWARE,
    EXIT_UNREACHABLE,
    InfrastructureFailure,
    loggable_reason,
)
from streams.search.embedders import open_embedder
from streams.search.index import IndexUnusable, PassageIndex, remove_index
from streams.search.index_updates import BATCH, index_signature, update_index
from streams.search.search import Search, SearchOptions
from streams.search.service import IndexRetriever
from streams.search.types import EmbeddingFailed, IndexFailed, RetrievalResult
from streams.settings import InvalidSettings, Settings

#: The number of indexes in the cache; those used last stay.
_MAX_INDEXES = 8
_SUFFIX = ".index"
_POLL_SECONDS = 0.1


def index_folder() -> Path:
    """Return the folder of these indexes in the user's cache; `XDG_CACHE_HOME` moves it."""
    return user_cache_path("truthgate") / "file-indexes"


class OnDemandRetriever:
    """Indexes documents when the first question comes, unless their index is still in the cache.

    A file in which every answer brings its context needs no index. Building one takes as long as it takes, so
    it is apart from searching, which has a time limit.

    Args:
        documents: what is searched; of documents with the same id and language the last one counts.
        settings: ``retrieval``, and the lexicons.
        on_indexed: called with how many documents are indexed and how many there are.
        options: how many passages are found, and how they are chosen.
        folder: where the indexes are.
    """

    def __init__(
        self,
        documents: Collection[KnowledgeDocument],
        settings: Settings,
        on_indexed: Callable[[int, int], None],
        options: SearchOptions,
        folder: Path,
    ) -> None:
        # The same id in two languages is two documents.
        self._documents = {
            f"{each.language} {each.document_id}": VersionedDocument(each, version_name(each))
            for each in documents
        }
        self._settings = settings
        self._on_indexed = on_indexed
        self._options = options
        self._folder = folder
        self._opening: asyncio.Task[IndexRetriever] | None = None
        self._closed = threading.Event()

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        """Return the passages for one question; the first one waits for the index, and others with it.

        Raises:
            RetrievalUnavailable: nothing was found within ``seconds`` of searching.
            InfrastructureFailure: the documents cannot be indexed.
            InvalidSettings: nor can they be with these settings.
        """
        return await (await self.open()).retrieve(question, language, seconds)

    async def open(self) -> IndexRetriever:
        """Return the retriever once the documents are indexed; raises as :meth:`retrieve` does."""
        # One task: a failure is reported to all who wait, and indexing is not tried in vain again.
        self._opening = self._opening or asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def close(self) -> None:
        """End indexing, after the current batch, and searching."""
        self._closed.set()
        if self._opening:
            self._opening.cancel()
            await asyncio.wait([self._opening])
            if not self._opening.cancelled() and not self._opening.exception():
                self._opening.result().close()

    async def _open(self) -> IndexRetriever:
        embedder = self._settings.retrieval.embedder
        try:
            search = await asyncio.to_thread(self._open_search)
        except EmbeddingFailed as error:
            if str(error) == "embedder_not_installed":
                raise InvalidSettings(
                    f"retrieval.embedder {embedder}: its package is not installed"
                ) from error
            message = f"the documents cannot be indexed: {embedder}: {error}"
            raise InfrastructureFailure(message, EXIT_UNREACHABLE) from error
        except (IndexFailed, OSError, RuntimeError, ValueError) as error:
            code = str(error) if isinstance(error, IndexFailed) else getattr(error, "strerror", None)
            message = f"the documents cannot be indexed in {self._folder}: {code or loggable_reason(error)}"
            raise InfrastructureFailure(message, EXIT_SOFTWARE) from error
        return IndexRetriever(lambda: search)

    def _open_search(self) -> Search:
        embedder = open_embedder(self._settings.retrieval)
        signature = index_signature(self._settings.retrieval, embedder)
        versions = {key: each.version for key, each in self._documents.items()}
        name = hashlib.sha256(ascii((signature, sorted(versions.items()))).encode()).hexdigest()
        path = self._folder / f"{name[:32]}{_SUFFIX}"
        self._folder.mkdir(parents=True, exist_ok=True)
        with _locked(path, lambda: self._report_progress(0)):
            try:
                index = PassageIndex(path, signature)
            except IndexUnusable:
                index = PassageIndex.create(path, signature)
            # One whose building was interrupted is completed.
            updates = update_index(index, versions, self._documents.get, embedder.embed_documents, BATCH)
            for added, _pending in updates:
                if added:
                    self._report_progress(len(index.contents))
            os.utime(path)
            _remove_oldest(self._folder)
        return Search(
            lambda: index.snapshot,
            lambda key, _version: self._documents[key].document,
            embedder,
            self._settings,
            self._options,
        )

    def _report_progress(self, indexed: int) -> None:
        # Called by the thread that builds: nothing else ends it, and the command would wait for it.
        if self._closed.is_set():
            raise _IndexingCancelled
        self._on_indexed(indexed, len(self._documents))


class _IndexingCancelled(Exception):
    """Nobody waits for the index any more."""


@contextmanager
def _locked(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    # Of two commands with the same documents one builds, and the other waits for as long as that takes.
    with path.with_suffix(".lock").open("ab") as lock:
        while not try_lock(lock):
            on_wait()
            time.sleep(_POLL_SECONDS)
        yield


def _remove_oldest(folder: Path) -> None:
    with suppress(FileNotFoundError):  # another command removes them at the same time
        indexes = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in indexes[_MAX_INDEXES:]:
            remove_index(path)
            path.with_suffix(".lock").unlink(missing_ok=True)


@asynccontextmanager
async def open_on_demand_retriever(
    documents: Collection[KnowledgeDocument],
    settings: Settings,
    on_indexed: Callable[[int, int], None] = lambda _done, _all: None,
    options: SearchOptions = SearchOptions(),  # noqa: B008 - frozen
    *,
    folder: Path | None = None,
) -> AsyncIterator[OnDemandRetriever | None]:
    """Yield a retriever for ``documents``, or None where there are none or retrieval is off.

    ``folder`` is where the indexes are; None: the user's cache.
    """
    if not (documents and settings.retrieval.is_enabled):
        yield None
        return
    retriever = OnDemandRetriever(documents, settings, on_indexed, options, folder or index_folder())
    try:
        yield retriever
    finally:
        await retriever.close()
