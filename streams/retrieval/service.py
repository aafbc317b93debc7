"""Retrieval as a worker has it: the index beside its documents, kept up to date, and its retriever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scoring.language import LanguageDetector
from scoring.lexicon import load_lexicons
from streams.documents.directory_lock import lock_directory
from streams.documents.store import DocumentStore
from streams.retrieval.builder_process import Builder, BuilderProcess
from streams.retrieval.embedding import Embedder, open_embedder
from streams.retrieval.indexed import is_folder
from streams.retrieval.retriever import LanceRetriever
from streams.retrieval.upkeep import IndexUpkeep
from streams.settings import RetrievalSettings, Settings

if TYPE_CHECKING:
    from streams.retrieval.search import Search

FOLDER_NAME = "index"
_LOCK_NAME = "worker.lock"


class Retrieval(NamedTuple):
    """What a worker opens: who searches, and who keeps the index up to date."""

    retriever: LanceRetriever
    upkeep: IndexUpkeep


def index_location(settings: Settings) -> str:
    """Return where a worker's index is: a folder or a URI."""
    return settings.retrieval.index or str(settings.documents.store / FOLDER_NAME)


@asynccontextmanager
async def open_retrieval(
    settings: Settings,
    store: DocumentStore,
    after: asyncio.Event,
    *,
    on_failure: Callable[[], None] = lambda: None,
    on_indexed: Callable[[int], None] = lambda _documents: None,
    builder: Callable[[str, RetrievalSettings], Builder] = BuilderProcess,
) -> AsyncIterator[Retrieval]:
    """Search the documents of a store, and index them in the background.

    Args:
        settings: ``retrieval``, where the documents are, and the lexicons.
        store: the documents.
        after: begin to index when this is set: when the documents are there.
        on_failure: called after each update of the index that failed.
        on_indexed: called with how many documents were put into the index, each time that some were.
        builder: makes what builds, of a location and the settings.
    """
    location = index_location(settings)

    async def renew() -> None:
        await retriever.renew()  # made only after the upkeep

    upkeep = IndexUpkeep(
        store,
        location,
        builder(location, settings.retrieval),
        settings.retrieval,
        after,
        on_replaced=renew,
        on_failure=on_failure,
        on_indexed=on_indexed,
    )
    retriever = LanceRetriever(
        _opener(settings, location),
        _detector(settings),
        lambda: settings.retrieval.ready_before_complete or upkeep.complete.is_set(),
        lambda: upkeep.is_empty,
        lambda: upkeep.is_behind,
        upkeep.distrust,
        settings.retrieval.time_limit,
    )
    try:
        with _owned(location):
            async with upkeep:
                yield Retrieval(retriever, upkeep)
    finally:
        retriever.close()


@contextmanager
def _owned(location: str) -> Iterator[None]:
    """Keep other workers from a folder: of two that build one index, each would undo the other's work."""
    if not is_folder(location):
        yield
        return
    with lock_directory(Path(location), _LOCK_NAME, "retrieval.index"):
        yield


def _opener(settings: Settings, location: str) -> Callable[[], Search]:
    @cache
    def embedder() -> Embedder:
        return open_embedder(settings.retrieval)

    def search() -> Search:
        # LanceDB takes seconds to import: in the thread that searches, and never where retrieval is off.
        from streams.retrieval.index import ChunkIndex  # noqa: PLC0415
        from streams.retrieval.layout import BuiltWith  # noqa: PLC0415
        from streams.retrieval.search import Search  # noqa: PLC0415

        engine, lexicons = embedder(), load_lexicons(settings.scoring.lexicons)
        built_with = BuiltWith.of(settings.retrieval, engine.name, engine.dimensions)
        return Search(ChunkIndex.open(location, built_with), engine, settings.retrieval, lexicons)

    return search


def _detector(settings: Settings) -> Callable[[], LanguageDetector]:
    @cache
    def detector() -> LanguageDetector:
        return LanguageDetector(load_lexicons(settings.scoring.lexicons).values())

    return detector
