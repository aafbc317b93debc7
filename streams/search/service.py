"""Retrieval as a worker has it: the index beside its documents, kept up to date, and its retriever."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from scoring.lexicon import load_lexicons
from scoring.text.language_detection import LanguageDetector
from streams.documents.store import DocumentStore
from streams.documents.store_file import lock_directory
from streams.search.embedding import open_embedder
from streams.search.embedding_processes import EmbeddingProcesses
from streams.search.index import IndexFailed, IndexSnapshot
from streams.search.retriever import IndexRetriever
from streams.search.search import Search
from streams.search.upkeep import DocumentEmbedder, IndexUpdater
from streams.settings import RetrievalSettings, Settings

_FOLDER_NAME = "index"
_INDEX_NAME = "passages"
_LOCK_NAME = "worker.lock"


class Retrieval(NamedTuple):
    """What a worker opens: who searches, and who keeps the index up to date."""

    retriever: IndexRetriever
    index_updater: IndexUpdater


def index_path(settings: Settings) -> Path:
    """Return the folder of a worker's index."""
    return settings.documents.store / _FOLDER_NAME / _INDEX_NAME


@asynccontextmanager
async def open_retrieval(
    settings: Settings,
    store: DocumentStore,
    start_after: asyncio.Event,
    *,
    on_failure: Callable[[], None] = lambda: None,
    on_indexed: Callable[[int], None] = lambda _documents: None,
    embedding: Callable[[RetrievalSettings], DocumentEmbedder] = EmbeddingProcesses,
) -> AsyncIterator[Retrieval]:
    """Search the documents of a store, and index them in the background.

    Args:
        settings: ``retrieval``, where the documents are, and the lexicons.
        store: the documents.
        start_after: begin to index when this is set: when the documents are there.
        on_failure: called after each update of the index that failed.
        on_indexed: called with how many documents were put into the index, each time that some were.
        embedding: makes what embeds documents.
    """
    path, embedder = index_path(settings), cache(partial(open_embedder, settings.retrieval))
    upkeep = IndexUpdater(
        store,
        path,
        embedder,
        embedding(settings.retrieval),
        settings.retrieval,
        start_after,
        on_failure=on_failure,
        on_indexed=on_indexed,
    )

    def passages() -> IndexSnapshot:
        if upkeep.index is None:
            raise IndexFailed("no_index")
        return upkeep.index.snapshot

    def search() -> Search:
        lexicons = load_lexicons(settings.scoring.lexicons)
        return Search(passages, store.get_version, embedder(), settings.retrieval.floor, lexicons)

    retriever = IndexRetriever(
        cache(search),
        cache(lambda: LanguageDetector(load_lexicons(settings.scoring.lexicons).values())),
        # Of an index that has nothing yet it cannot be said that nothing was found.
        lambda: upkeep.complete.is_set() or (settings.retrieval.ready_before_complete and upkeep.indexed > 0),
        lambda: upkeep.is_empty,
        lambda: upkeep.is_outdated,
        upkeep.request_reopen,
        settings.documents.wait_timeout_seconds,
    )
    try:
        # Of two workers that build one index, each would undo the other's work.
        with lock_directory(path.parent, _LOCK_NAME, "documents.store"):
            async with upkeep:
                yield Retrieval(retriever, upkeep)
    finally:
        retriever.close()
