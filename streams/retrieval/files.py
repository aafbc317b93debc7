"""Retrieval from the documents of a file, for the commands that work without a broker."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

from schemas import KnowledgeDocument
from scoring.language import LanguageDetector
from scoring.lexicon import Lexicon, load_lexicons
from scoring.storage.file_lock import take_lock
from streams.documents.versions import document_version
from streams.retrieval.embedder import Embedder
from streams.retrieval.embedding import open_embedder
from streams.retrieval.index import ChunkIndex
from streams.retrieval.index_file import DamagedIndex, IndexFile, NoIndex, remove
from streams.retrieval.indexed import IndexedDocument, batches, built_with
from streams.retrieval.indexing import Workbench
from streams.retrieval.retriever import IndexRetriever
from streams.retrieval.search import Search
from streams.settings import RetrievalSettings, Settings

#: So many indexes of files are kept, the latest used ones.
_KEPT = 8
_SUFFIX = ".sqlite3"
_LOOK_SECONDS = 0.1


def index_folder() -> Path:
    """Give the folder in the user's cache where indexes of files are kept; `XDG_CACHE_HOME` moves it."""
    return user_cache_path("truthgate") / "file-indexes"


@asynccontextmanager
async def open_file_retriever(
    documents: Iterable[KnowledgeDocument],
    settings: Settings,
    *,
    cache_directory: Path | None = None,
    on_indexed: Callable[[int, int], None] = lambda _done, _all: None,
) -> AsyncIterator[IndexRetriever]:
    """Give a retriever for documents that are all given, such as those of a file.

    Their index is built first, unless it is still there from an earlier call with the same documents
    and settings. The same id in two languages is two documents.

    Args:
        documents: what is searched; of documents with the same id and language the last one counts.
        settings: ``retrieval``, and the lexicons.
        cache_directory: where indexes are kept; None: the user's cache.
        on_indexed: called with how many documents are indexed and how many there are.

    Raises:
        EmbeddingFailed: the engine cannot be had.
        OSError: the cache cannot be written.
    """
    given = list(
        {
            (one.language, one.document_id): IndexedDocument.of(one, document_version(one))
            for one in documents
        }.values()
    )
    folder = cache_directory or index_folder()
    lexicons = load_lexicons(settings.scoring.lexicons)
    search = await asyncio.to_thread(_searchable, given, settings.retrieval, lexicons, folder, on_indexed)
    retriever = IndexRetriever(lambda: search, cache(lambda: LanguageDetector(lexicons.values())))
    try:
        yield retriever
    finally:
        retriever.close()


def _searchable(
    documents: Sequence[IndexedDocument],
    settings: RetrievalSettings,
    lexicons: Mapping[str, Lexicon],
    folder: Path,
    on_indexed: Callable[[int, int], None],
) -> Search:
    embedder = open_embedder(settings)
    file = IndexFile(folder / f"{_name(documents, settings)}{_SUFFIX}", built_with(settings))
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(file.path, lambda: on_indexed(0, len(documents))):
        index = _kept(file, embedder)
        if index is None:
            _build(file, embedder, documents, settings, on_indexed)
            index = ChunkIndex(file, embedder.dimensions)
        os.utime(file.path)
        _forget_oldest(folder)
    return Search(index, embedder, settings, lexicons)


def _name(documents: Sequence[IndexedDocument], settings: RetrievalSettings) -> str:
    digest = hashlib.sha256(built_with(settings).encode())
    for key in sorted(f"{len(one.document_id)} {one.document_id} {one.version}" for one in documents):
        digest.update(key.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def _kept(file: IndexFile, embedder: Embedder) -> ChunkIndex | None:
    try:
        return ChunkIndex(file, embedder.dimensions)
    except (NoIndex, DamagedIndex, sqlite3.Error, OSError):  # it can be built again
        return None


def _build(
    file: IndexFile,
    embedder: Embedder,
    documents: Sequence[IndexedDocument],
    settings: RetrievalSettings,
    on_indexed: Callable[[int, int], None],
) -> None:
    # Under another name until it is whole.
    unfinished = file.path.with_suffix(".unfinished")
    remove(unfinished)
    workbench, done = Workbench(unfinished, embedder, settings), 0
    for batch in batches(documents):
        workbench.change(batch, gone=())
        done += len(batch)
        on_indexed(done, len(documents))
    unfinished.replace(file.path)


@contextmanager
def _locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    # Of two commands at once on the same file one builds and the other waits, as long as that takes.
    with path.with_suffix(".lock").open("ab") as lock:
        while not take_lock(lock):
            waiting()
            time.sleep(_LOOK_SECONDS)
        yield


def _forget_oldest(folder: Path) -> None:
    kept = sorted(folder.glob(f"*{_SUFFIX}"), key=_used_at, reverse=True)
    for path in kept[_KEPT:]:
        remove(path)
        path.with_suffix(".lock").unlink(missing_ok=True)


def _used_at(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0
