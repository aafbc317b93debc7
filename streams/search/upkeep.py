"""Keeps the index equal to the current documents of the store, in the background."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self

import structlog

from streams.documents.store import DocumentStore, StoreSnapshot
from streams.observability.failures import InfrastructureFailure, loggable_reason
from streams.search.embedder import Embedder, EmbeddingFailed, Vectors
from streams.search.index import IndexFailed, IndexUnusable, PassageIndex
from streams.search.prepared import BATCH, index_changes, index_signature, prepare_documents
from streams.settings import RetrievalSettings

log = structlog.get_logger(__name__)

#: Processes that embed take hundreds of megabytes and seconds to start: they wait so long for more to do.
_IDLE_SECONDS = 60.0
_PROGRESS_SECONDS = 60.0
#: After so many intervals a failed update is tried again: what failed seldom works a moment later.
_RETRY_INTERVALS = 6
_FINISH_SECONDS = 5.0


class DocumentEmbedder(Protocol):
    """Embeds the texts of documents; see :class:`EmbeddingProcesses`."""

    @property
    def is_running(self) -> bool:
        """Whether it takes memory."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text; raises EmbeddingFailed."""

    def stop(self) -> None:
        """Take no memory until texts are to be embedded again."""

    def close(self) -> None:
        """End for good, also what is being embedded."""


class IndexUpdater:
    """Puts what changed in the store into the index, for as long as it is entered.

    A failure is logged (once for the same reason), counted, and tried again after an interval; what is
    in the index stays and can be searched. After it the index is opened anew, and one that is missing,
    damaged or was built otherwise is created anew. Nothing of this ends the worker: what is not indexed is
    only not found, and until all was indexed once :attr:`complete` is not set.

    Args:
        store: the documents.
        path: of the index.
        embedder: gives the embedder of questions, which tells how long vectors are.
        embedding: embeds documents.
        settings: what the index is built with, and how often it is looked at.
        after: begin when this is set.
        on_failure: called after each update that failed.
        on_indexed: called with how many documents were put in, after each time that some were.
        idle_seconds: how long ``embedding`` is kept running that has nothing to do.

    Attributes:
        index: the index while it is open.
        settled: set once the first update is over, with or without success.
        complete: set while the index is known to have had all documents, at least once.
        indexed: how many documents it has.
        to_do: how many are to be put in or taken out, as far as is known.
    """

    def __init__(
        self,
        store: DocumentStore,
        path: Path,
        embedder: Callable[[], Embedder],
        embedding: DocumentEmbedder,
        settings: RetrievalSettings,
        start_after: asyncio.Event,
        *,
        on_failure: Callable[[], None] = lambda: None,
        on_indexed: Callable[[int], None] = lambda _documents: None,
        idle_seconds: float = _IDLE_SECONDS,
    ) -> None:
        self.index: PassageIndex | None = None
        self.first_update_done = asyncio.Event()
        self.complete = asyncio.Event()
        self.indexed = 0
        self.pending = 0
        self._store = store
        self._path = path
        self._embedder = embedder
        self._embedding = embedding
        self._settings = settings
        self._start_after = start_after
        self._on_failure = on_failure
        self._on_indexed = on_indexed
        self._idle_seconds = idle_seconds
        self._seen_offsets: object = None
        self._busy_at = self._logged_at = time.monotonic()
        self._failure: str | None = None
        self._needs_reopen = False
        self._ending = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin, in the background."""
        self._task = asyncio.create_task(self._run(), name="retrieval-index")
        return self

    async def __aexit__(self, *_: object) -> None:
        """End; what is being embedded is given up."""
        self._ending = True
        await asyncio.to_thread(self._embedding.close)
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_FINISH_SECONDS)

    @property
    def failure(self) -> str | None:
        """Why the last update failed, and of which index; None when it did not."""
        return f"{self._failure} ({self._path})" if self._failure else None

    @property
    def is_empty(self) -> bool:
        """Whether the index has, and needs, no document; there may be none then."""
        return self.complete.is_set() and not self.indexed

    @property
    def is_outdated(self) -> bool:
        """Whether the documents are known, or believed, to differ from what the index has."""
        return bool(self._failure or self.pending) or self._seen_offsets != self._store.next_offsets

    def request_reopen(self) -> None:
        """Note that a search could not read the index: it is opened anew, and created anew if damaged."""
        self._needs_reopen = True

    async def _run(self) -> None:
        await self._start_after.wait()
        while not self._ending:
            ok = await self._try_update()
            interval = self._settings.update_interval_seconds
            await asyncio.sleep(interval if ok else _RETRY_INTERVALS * interval)

    async def _try_update(self) -> bool:
        try:
            await asyncio.to_thread(self._update)
        except Exception as error:  # noqa: BLE001 - whatever it is, the worker goes on
            if not self._ending:
                self._fail(error)
            self.first_update_done.set()
            return False
        if self._failure:
            log.info("retrieval_index_works_again")
        self._failure = None
        self.complete.set()
        self.first_update_done.set()
        return True

    def _update(self) -> None:
        if self.index is not None and not self.index.exists:
            log.warning("retrieval_index_built_anew", reason="index_gone")
            self._needs_reopen = True
        seen = self._store.next_offsets
        if seen == self._seen_offsets and not self._needs_reopen:
            if self._embedding.is_running and time.monotonic() - self._busy_at > self._idle_seconds:
                self._embedding.stop()
            return
        with self._store.snapshot() as documents:
            current = {key: version.name for key, version in documents.versions().items()}
            index = self.index if not self._needs_reopen else None
            # Without documents there is no need for an embedder either.
            if index is not None or current or self._path.exists():
                self.index = index if index is not None else self._open_index()
                self._needs_reopen = False
                self._apply_changes(self.index, documents, current)
        self._seen_offsets = seen

    def _open_index(self) -> PassageIndex:
        embedder = self._embedder()
        embedder.embed_query("?")  # the first question would wait while the model is read
        built = index_signature(self._settings, embedder)
        try:
            return PassageIndex(self._path, built)
        except IndexUnusable as error:
            if self._path.exists():
                log.warning("retrieval_index_built_anew", reason=str(error))
            self.complete.clear()
            return PassageIndex.create(self._path, built)

    def _apply_changes(
        self, index: PassageIndex, documents: StoreSnapshot, current: Mapping[str, str]
    ) -> None:
        size = BATCH * self._settings.embedding_processes
        batches = list(index_changes(index.contents, current, size))
        self._publish_progress(index, sum(len(put) + len(gone) for put, gone in batches))
        for put, gone in batches:
            found = {key: (one.document, one.version) for key in put if (one := documents.get(key))}
            index.update(prepare_documents(found, self._embedding.embed), gone)
            if found:
                self._on_indexed(len(found))
            self._publish_progress(index, self.pending - len(put) - len(gone))
            self._busy_at = time.monotonic()

    def _publish_progress(self, index: PassageIndex, to_do: int) -> None:
        self.indexed, self.pending = len(index), to_do
        now = time.monotonic()
        if not to_do:
            self._logged_at = now
        elif now - self._logged_at > _PROGRESS_SECONDS:
            self._logged_at = now
            log.info("retrieval_index_progress", indexed=self.indexed, to_do=to_do)

    def _fail(self, error: Exception) -> None:
        told = isinstance(error, EmbeddingFailed | IndexFailed | InfrastructureFailure)
        reason = str(error) if told else loggable_reason(error)
        if reason != self._failure:
            log.error("retrieval_index_failed", reason=reason, path=str(self._path))
        self._failure = reason
        self._seen_offsets = None
        self._needs_reopen = not isinstance(error, EmbeddingFailed)
        self._on_failure()
