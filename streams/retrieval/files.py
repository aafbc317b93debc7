"""Retrieval from the documents of a file, for the commands that work without a broker."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from itertools import islice
from pathlib import Path

from platformdirs import user_cache_path

from schemas import KnowledgeDocument
from scoring.language import LanguageDetector
from scoring.lexicon import Lexicon, load_lexicons
from scoring.storage.file_lock import take_lock
from streams.documents.versions import document_version
from streams.retrieval.embedding import Embedder, open_embedder
from streams.retrieval.index import ChunkIndex, remove
from streams.retrieval.indexed import WHOLE, IndexedDocument, NoIndex
from streams.retrieval.indexing import put
from streams.retrieval.layout import BuiltWith
from streams.retrieval.retriever import LanceRetriever
from streams.retrieval.search import Search
from streams.settings import RetrievalSettings, Settings

#: So many indexes of files are kept, the latest used ones.
_KEPT = 8
_BATCH = 64
_LOOK_SECONDS = 0.1


@asynccontextmanager
async def open_file_retriever(
    documents: Iterable[KnowledgeDocument],
    settings: Settings,
    *,
    cache_directory: Path | None = None,
    on_indexed: Callable[[int, int], None] = lambda _done, _all: None,
) -> AsyncIterator[LanceRetriever]:
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
    folder = cache_directory or user_cache_path("truthgate") / "file-indexes"
    lexicons = load_lexicons(settings.scoring.lexicons)
    search = await asyncio.to_thread(_searchable, given, settings.retrieval, lexicons, folder, on_indexed)

    @cache
    def detector() -> LanguageDetector:
        return LanguageDetector(lexicons.values())

    retriever = LanceRetriever(lambda: search, detector)
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
    built_with = BuiltWith.of(settings, embedder.name, embedder.dimensions)
    path = folder / _name(documents, built_with)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(path, lambda: on_indexed(0, len(documents))):
        index = _kept(path, built_with)
        if index is None:
            index = _built(path, built_with, embedder, documents, settings, on_indexed)
        os.utime(path)
        _forget_oldest(folder)
    return Search(index, embedder, settings, lexicons)


def _name(documents: Sequence[IndexedDocument], built_with: BuiltWith) -> str:
    digest = hashlib.sha256(built_with.described().encode())
    for key in sorted(f"{len(one.document_id)} {one.document_id} {one.version}" for one in documents):
        digest.update(key.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def _kept(path: Path, built_with: BuiltWith) -> ChunkIndex | None:
    if not (path / WHOLE).exists():
        return None
    try:
        index = ChunkIndex.open(str(path), built_with)
        index.languages()
    except (NoIndex, RuntimeError, OSError):  # whatever is wrong with it, it can be built again
        return None
    return index


def _built(
    path: Path,
    built_with: BuiltWith,
    embedder: Embedder,
    documents: Sequence[IndexedDocument],
    settings: RetrievalSettings,
    on_indexed: Callable[[int, int], None],
) -> ChunkIndex:
    index = ChunkIndex.create(str(path), built_with)
    done = 0
    for batch in _batches(documents):
        put(index, embedder, batch, known=False)
        done += len(batch)
        on_indexed(done, len(documents))
    index.optimise(settings.ann_from)
    (path / WHOLE).touch()
    return index


def _batches(documents: Iterable[IndexedDocument]) -> Iterator[list[IndexedDocument]]:
    rest = iter(documents)
    while batch := list(islice(rest, _BATCH)):
        yield batch


@contextmanager
def _locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    # Of two commands at once on the same file one builds and the other waits, as long as that takes.
    with path.with_suffix(".lock").open("ab") as lock:
        while not take_lock(lock):
            waiting()
            time.sleep(_LOOK_SECONDS)
        yield


def _forget_oldest(folder: Path) -> None:
    kept = sorted((path for path in folder.iterdir() if path.is_dir()), key=_used_at, reverse=True)
    for path in kept[_KEPT:]:
        remove(str(path))
        path.with_suffix(".lock").unlink(missing_ok=True)


def _used_at(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0
