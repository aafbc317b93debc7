"""Retrieval as a worker has it: the index beside its documents, kept up to date, and its retriever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from scoring.language import LanguageDetector
from scoring.lexicon import load_lexicons
from streams.documents.directory_lock import lock_directory
from streams.documents.store import DocumentStore
from streams.retrieval.builder_process import BuilderProcesses
from streams.retrieval.embedding import open_embedder
from streams.retrieval.index import ChunkIndex
from streams.retrieval.index_file import IndexFile
from streams.retrieval.indexed import built_with
from streams.retrieval.retriever import IndexRetriever
from streams.retrieval.search import Search
from streams.retrieval.upkeep import IndexUpkeep
from streams.settings import RetrievalSettings, Settings

_FOLDER_NAME = "index"
_FILE_NAME = "passages.sqlite3"
_LOCK_NAME = "worker.lock"


class Retrieval(NamedTuple):
    """What a worker opens: who searches, and who keeps the index up to date."""

    retriever: IndexRetriever
    upkeep: IndexUpkeep


def index_path(settings: Settings) -> Path:
    """Return where the file of a worker's index is."""
    return (settings.retrieval.index or settings.documents.store / _FOLDER_NAME) / _FILE_NAME


@asynccontextmanager
async def open_retrieval(
    settings: Settings,
    store: DocumentStore,
    after: asyncio.Event,
    *,
    on_failure: Callable[[], None] = lambda: None,
    on_indexed: Callable[[int], None] = lambda _documents: None,
    builder: Callable[[Path, RetrievalSettings], BuilderProcesses] = BuilderProcesses,
) -> AsyncIterator[Retrieval]:
    """Search the documents of a store, and index them in the background.

    Args:
        settings: ``retrieval``, where the documents are, and the lexicons.
        store: the documents.
        after: begin to index when this is set: when the documents are there.
        on_failure: called after each update of the index that failed.
        on_indexed: called with how many documents were put into the index, each time that some were.
        builder: makes what builds, of the file's path and the settings.
    """
    index = IndexFile(index_path(settings), built_with(settings.retrieval))

    async def renew() -> None:
        await retriever.renew()  # made only after the upkeep

    upkeep = IndexUpkeep(
        store,
        index,
        builder(index.path, settings.retrieval),
        settings.retrieval,
        after,
        on_replaced=renew,
        on_failure=on_failure,
        on_indexed=on_indexed,
    )
    retriever = IndexRetriever(
        _opener(settings, index),
        cache(lambda: LanguageDetector(load_lexicons(settings.scoring.lexicons).values())),
        # Of an index that has nothing yet it cannot be said that nothing was found.
        lambda: upkeep.complete.is_set() or (settings.retrieval.ready_before_complete and upkeep.indexed > 0),
        lambda: upkeep.is_empty,
        lambda: upkeep.is_behind,
        upkeep.distrust,
        settings.retrieval.time_limit_seconds,
    )
    try:
        # Of two workers that build one index, each would undo the other's work.
        with lock_directory(index.path.parent, _LOCK_NAME, "retrieval.index"):
            async with upkeep:
                yield Retrieval(retriever, upkeep)
    finally:
        retriever.close()


def _opener(settings: Settings, index: IndexFile) -> Callable[[], Search]:
    embedder = cache(partial(open_embedder, settings.retrieval))

    def search() -> Search:
        engine, lexicons = embedder(), load_lexicons(settings.scoring.lexicons)
        return Search(ChunkIndex(index, engine.dimensions), engine, settings.retrieval, lexicons)

    return search
