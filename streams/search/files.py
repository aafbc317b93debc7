"""Retrieval from the documents of a file, for the commands that work without a broker."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

from schemas import KnowledgeDocument
from scoring.cache.shared_files import try_lock
from scoring.lexicon import load_lexicons
from scoring.text.language_detection import LanguageDetector
from streams.documents.versions import version_name
from streams.search.embedder import Embedder
from streams.search.embedding import open_embedder
from streams.search.index import IndexUnusable, PassageIndex, remove_index
from streams.search.prepared import BATCH, index_changes, index_signature, prepare_documents
from streams.search.retriever import IndexRetriever
from streams.search.search import Ranking, Search
from streams.settings import RetrievalSettings, Settings

#: So many indexes of files are kept, the latest used ones.
_MAX_INDEXES = 8
_SUFFIX = ".index"
_POLL_SECONDS = 0.1

DocumentsByKey = Mapping[str, tuple[KnowledgeDocument, str]]


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
    ranking: Ranking = Ranking(),  # noqa: B008 - frozen
) -> AsyncIterator[IndexRetriever]:
    """Give a retriever for documents that are all given, such as those of a file.

    Their index is built first, unless it is still there from an earlier call with the same documents
    and settings. The same id in two languages is two documents.

    Args:
        documents: what is searched; of documents with the same id and language the last one counts.
        settings: ``retrieval``, and the lexicons.
        cache_directory: where indexes are kept; None: the user's cache.
        on_indexed: called with how many documents are indexed and how many there are.
        ranking: how many passages are found, and how they are chosen.

    Raises:
        EmbeddingFailed: the engine cannot be had.
        IndexFailed: the index cannot be written.
        OSError: the cache cannot be written.
    """
    given = {f"{one.language} {one.document_id}": (one, version_name(one)) for one in documents}
    folder, lexicons = cache_directory or index_folder(), load_lexicons(settings.scoring.lexicons)
    embedder = await asyncio.to_thread(open_embedder, settings.retrieval)
    index = await asyncio.to_thread(_open_index, given, settings.retrieval, embedder, folder, on_indexed)
    search = Search(
        lambda: index.snapshot,
        lambda key, _: given[key][0],
        embedder,
        settings.retrieval.floor,
        lexicons,
        ranking,
    )
    retriever = IndexRetriever(lambda: search, cache(lambda: LanguageDetector(lexicons.values())))
    try:
        yield retriever
    finally:
        retriever.close()


def _open_index(
    given: DocumentsByKey,
    settings: RetrievalSettings,
    embedder: Embedder,
    folder: Path,
    on_indexed: Callable[[int, int], None],
) -> PassageIndex:
    built, current = (
        index_signature(settings, embedder),
        {key: version for key, (_, version) in given.items()},
    )
    path = folder / f"{_index_name(current, built)}{_SUFFIX}"
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(path, lambda: on_indexed(0, len(given))):
        try:
            index = PassageIndex(path, built)
        except IndexUnusable:
            index = PassageIndex.create(path, built)
        # Of one whose building was broken off the rest is built.
        for put, gone in index_changes(index.contents, current, BATCH):
            index.update(prepare_documents({key: given[key] for key in put}, embedder.embed_documents), gone)
            on_indexed(len(index), len(given))
        os.utime(path)
        _forget_oldest(folder)
    return index


def _index_name(current: Mapping[str, str], signature: str) -> str:
    digest = hashlib.sha256(signature.encode())
    for key in sorted(f"{len(key)} {key} {version}" for key, version in current.items()):
        digest.update(key.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


@contextmanager
def _locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    # Of two commands at once on the same file one builds and the other waits, as long as that takes.
    with path.with_suffix(".lock").open("ab") as lock:
        while not try_lock(lock):
            waiting()
            time.sleep(_POLL_SECONDS)
        yield


def _forget_oldest(folder: Path) -> None:
    for path in sorted(folder.glob(f"*{_SUFFIX}"), key=_used_at, reverse=True)[_MAX_INDEXES:]:
        remove_index(path)
        path.with_suffix(".lock").unlink(missing_ok=True)


def _used_at(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0
