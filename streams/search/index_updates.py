"""Updates of an index in the background: changed documents are split, embedded and indexed."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import numpy as np
import structlog

from scoring.text.language_detection import language_code
from streams.documents.store import DocumentStore
from streams.documents.versions import VersionedDocument
from streams.search.embedders import Embedder, EmbeddingProcesses, Vectors, open_embedder
from streams.search.index import IndexedDocument, IndexUnusable, PassageIndex
from streams.search.index_snapshot import IndexSnapshot
from streams.search.passages import split_into_chunks
from streams.search.types import EmbeddingFailed, IndexFailed, failure_reason
from streams.settings import RetrievalSettings, Settings
from streams.storage.directory import lock_directory

log = structlog.get_logger(__name__)

#: Documents of one commit, for each process that embeds: what a killed worker does again.
BATCH = 64
#: Of passages: the lengths of the external data of the thesis on the factuality of generated text (4.2.3).
MAX_CHARACTERS, OVERLAP = 1_024, 512
#: Idle processes stay for so long: each takes hundreds of megabytes, and seconds to start.
_IDLE_SECONDS = 60.0
_PROGRESS_SECONDS = 60.0
#: A failed update is retried after so many intervals: what failed seldom works a moment later.
_RETRY_INTERVALS = 6
_FINISH_SECONDS = 5.0

#: Raise it with every change of what the index has: one of another layout, newer or older, is built anew.
_LAYOUT = 1

EmbedTexts = Callable[[Sequence[str]], Vectors]


def index_signature(settings: RetrievalSettings, embedder: Embedder) -> str:
    """Return what the contents of an index depend on; one with another signature is built anew."""
    parts = (
        f"layout {_LAYOUT}",
        settings.embedder,
        version(embedder.package) if embedder.package else "",
        settings.embeddings_model,
        embedder.dimensions,
        MAX_CHARACTERS,
        OVERLAP,
        f"tantivy {version('tantivy')}",
    )
    return " | ".join(map(str, parts))


def split_and_embed(documents: Mapping[str, VersionedDocument], embed: EmbedTexts) -> list[IndexedDocument]:
    """Split documents, given by key, into passages and embed these; raises EmbeddingFailed."""
    split = []
    for key, found in documents.items():
        chunks = split_into_chunks(found.document.text, MAX_CHARACTERS, OVERLAP)
        split.append((key, found, chunks, [_with_title(found.document.title, each.text) for each in chunks]))
    every_text = [text for *_, texts in split for text in texts]
    rows = iter(embed(every_text) if every_text else ())
    return [
        IndexedDocument(
            key,
            found.version,
            language_code(found.document.language) or "",
            # A page with nothing but a title is no answer, however similar it is to the question.
            [(chunk.start, chunk.end if chunk.text.strip() else chunk.start) for chunk in chunks],
            texts,
            np.stack([next(rows) for _ in chunks]),
        )
        for key, found, chunks, texts in split
    ]


def _with_title(title: str, text: str) -> str:
    """Return what is searched of a passage: a title often has words that the text does not repeat."""
    return f"{title}\n\n{text}" if title and not text.lstrip("# ").startswith(title) else text


def update_index(
    index: PassageIndex,
    versions: Mapping[str, str],
    load: Callable[[str], VersionedDocument | None],
    embed: EmbedTexts,
    batch: int,
) -> Iterator[tuple[int, int]]:
    """Bring an index up to date, with one commit for each batch of documents.

    Args:
        index: is changed.
        versions: the current version of every document, by key.
        load: returns a document by its key, None where it is gone.
        embed: returns a row for each text.
        batch: how many documents are put in or removed in one commit.

    Yields:
        Before the first commit and after each, how many documents it put in and how many are pending.

    Raises:
        EmbeddingFailed, IndexFailed: the commits before stay.
    """
    removed = [key for key in index.contents if key not in versions]
    changed = [key for key, name in versions.items() if index.contents.get(key) != name]
    keys = [*removed, *changed]
    yield 0, len(keys)
    for at in range(0, len(keys), batch):
        some = keys[at : at + batch]
        documents = {key: found for key in some if key in versions and (found := load(key))}
        index.update(split_and_embed(documents, embed), [key for key in some if key not in versions])
        yield len(documents), len(keys) - at - len(some)


def index_path(settings: Settings) -> Path:
    """Return the folder of a worker's index."""
    return settings.documents.store / "index" / "passages"


class IndexUpdater:
    """Keeps an index equal to the current documents of a store while :meth:`run` does, in the background.

    A failure is logged (once for the same reason), counted, and retried later; what is in the index stays
    and can be searched. The index is then opened anew; one that is missing, damaged or was built otherwise is
    built anew. A failure never ends the worker: what is not indexed is only not found, and :attr:`complete`
    is not set until everything was indexed once.

    Args:
        settings: ``retrieval``, and ``documents.store``, in whose directory the index is.
        store: the documents.
        processes: embed them; ended when they were idle for ``idle_seconds``.
        start_after: the first update begins when this is set.
        on_failure: called after each failed update.
        on_indexed: called after each commit with how many documents were put in, if any.

    Attributes:
        index: The index while it is open.
        first_update_done: Set once the first update is over, with or without success.
        complete: Set while the index is known to have had all documents at least once.
        indexed: How many documents it has.
        pending: How many are to be put in or removed, as far as is known.
    """

    def __init__(
        self,
        settings: Settings,
        store: DocumentStore,
        processes: EmbeddingProcesses,
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
        self._settings = settings.retrieval
        self._path = index_path(settings)
        self._store = store
        self._processes = processes
        self._start_after = start_after
        self._on_failure = on_failure
        self._on_indexed = on_indexed
        self._idle_seconds = idle_seconds
        self._seen_offsets: Mapping[int, int] | None = None
        self._busy_at = self._logged_at = time.monotonic()
        self._failure: str | None = None
        self._needs_reopen = False
        self._closing = False

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder of questions, which also knows how long vectors are."""
        return open_embedder(self._settings)

    @property
    def snapshot(self) -> IndexSnapshot:
        """The passages as they are now; raises IndexFailed where there is no index."""
        if self.index is None:
            raise IndexFailed("no_index")
        return self.index.snapshot

    @property
    def failure(self) -> str | None:
        """Why the last update failed, and of which index; None where it succeeded."""
        return f"{self._failure} ({self._path})" if self._failure else None

    @property
    def is_ready(self) -> bool:
        """Whether the index may be searched: an incomplete one only where the settings allow that."""
        # An empty index that is incomplete cannot show that nothing would be found.
        return self.complete.is_set() or (self._settings.ready_before_complete and self.indexed > 0)

    @property
    def is_empty(self) -> bool:
        """Whether there are no documents, so that there may be no index either."""
        return self.complete.is_set() and not self.indexed

    @property
    def is_outdated(self) -> bool:
        """Whether the index is known, or believed, to differ from the documents."""
        return bool(self._failure or self.pending) or self._seen_offsets != self._store.next_offsets

    def request_reopen(self) -> None:
        """Reopen the index, since a search could not read it; a damaged one is rebuilt."""
        self._needs_reopen = True

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Update the index until the end, which gives up what is being embedded."""
        # Two workers that build one index would each undo the other's work.
        with lock_directory(self._path.parent, "worker.lock", "documents.store"):
            task = asyncio.create_task(self._run(), name="retrieval-index")
            try:
                yield
            finally:
                self._closing = True
                await asyncio.to_thread(self._processes.close)
                task.cancel()
                await asyncio.wait([task], timeout=_FINISH_SECONDS)

    async def _run(self) -> None:
        await self._start_after.wait()
        while not self._closing:
            intervals = 1
            try:
                await asyncio.to_thread(self._update)
            except Exception as error:  # noqa: BLE001 - whatever it is, the worker goes on
                intervals = _RETRY_INTERVALS
                if not self._closing:
                    self._report(error)
            else:
                if self._failure:
                    log.info("retrieval_index_works_again")
                self._failure = None
                self.complete.set()
            self.first_update_done.set()
            await asyncio.sleep(intervals * self._settings.update_interval_seconds)

    def _update(self) -> None:
        if self.index is not None and not self.index.exists:
            log.warning("retrieval_index_built_anew", reason="index_gone")
            self._needs_reopen = True
        offsets = self._store.next_offsets
        if offsets == self._seen_offsets and not self._needs_reopen:
            if self._processes.is_running and time.monotonic() - self._busy_at > self._idle_seconds:
                self._processes.stop()
            return
        with self._store.snapshot() as documents:
            versions = {key: current.name for key, current in documents.versions().items()}
            index = None if self._needs_reopen else self.index
            # Without documents there is no need for an embedder either.
            if index is None and (versions or self._path.exists()):
                index = self.index = self._open_index()
                self._needs_reopen = False
            if index is not None:
                batch = BATCH * self._settings.embedding_processes
                updates = update_index(index, versions, documents.get, self._processes.embed, batch)
                for added, pending in updates:
                    self._record_progress(added, len(index.contents), pending)
        self._seen_offsets = offsets

    def _open_index(self) -> PassageIndex:
        self.embedder.embed_query("?")  # else the first question would wait for the model
        signature = index_signature(self._settings, self.embedder)
        try:
            return PassageIndex(self._path, signature)
        except IndexUnusable as error:
            if self._path.exists():
                log.warning("retrieval_index_built_anew", reason=str(error))
            self.complete.clear()
            return PassageIndex.create(self._path, signature)

    def _record_progress(self, added: int, indexed: int, pending: int) -> None:
        self.indexed, self.pending = indexed, pending
        now = time.monotonic()
        if added:
            self._on_indexed(added)
            self._busy_at = now
        if not pending:
            self._logged_at = now
        elif now - self._logged_at > _PROGRESS_SECONDS:
            self._logged_at = now
            log.info("retrieval_index_progress", indexed=indexed, to_do=pending)

    def _report(self, error: Exception) -> None:
        reason = failure_reason(error)
        if reason != self._failure:
            log.error("retrieval_index_failed", reason=reason, path=str(self._path))
        self._failure = reason
        self._seen_offsets = None
        self._needs_reopen = not isinstance(error, EmbeddingFailed)
        self._on_failure()
