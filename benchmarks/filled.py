"""A documents store and an index with as many documents as asked for, as a worker would have made them."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
import psutil

from benchmarks.varied import WHEN, originals, varied
from schemas import KnowledgeDocument
from streams.documents.store import Change, DocumentStore
from streams.documents.versions import document_version
from streams.retrieval.chunks import Chunk, cut
from streams.retrieval.embedding import Embedder, Vectors, normalised, open_embedder
from streams.retrieval.index import ChunkIndex
from streams.retrieval.indexed import IndexedDocument
from streams.retrieval.kept_state import is_remembered
from streams.retrieval.layout import BuiltWith, embedded_text, rows
from streams.retrieval.service import index_location, open_retrieval
from streams.settings import RetrievalSettings, Settings

_STORED_AT_ONCE = 500
#: As the worker does it: so many documents in a commit, and so many of these between two tidyings.
_INDEXED_AT_ONCE, _TIDY_BATCHES = 64, 200
_LIMIT_SECONDS = 7_200.0
_LOOK_SECONDS = 0.25
#: What makes the vectors of two variations of one chunk differ.
_NOISE = 0.3

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stored:
    """What it took to fill a store."""

    seconds: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Built:
    """What it took to build an index.

    ``seconds`` is the time on the clock where all was embedded, else None; ``processor_seconds`` all that the
    builder worked, ``embedding_seconds`` of which, where not all was embedded, are reckoned from
    ``milliseconds_a_chunk``. ``peak_megabytes`` is the builder's memory.
    """

    chunks: int
    megabytes: float
    seconds: float | None
    processor_seconds: float
    embedding_seconds: float
    milliseconds_a_chunk: float
    peak_megabytes: float


@dataclass(frozen=True, slots=True)
class Measured:
    """The vectors of the originals' chunks, by document, and what one took (processor time)."""

    vectors: list[Vectors]
    milliseconds_a_chunk: float


def fill_store(settings: Settings, count: int) -> Stored:
    """Put so many documents into the store."""
    began = time.perf_counter()
    store = DocumentStore(settings.documents.store)
    stamp = int(WHEN.timestamp() * 1_000)
    for batch in batches(enumerate(varied(count)), _STORED_AT_ONCE):
        changes = [Change(one.document_id, one, 0, offset, stamp) for offset, one in batch]
        store.apply(changes, {0: batch[-1][0] + 1})
    store.close()
    return Stored(time.perf_counter() - began, megabytes(settings.documents.store))


def build_as_worker(settings: Settings) -> Built:
    """Let the worker's own upkeep build the index, every chunk embedded."""
    return asyncio.run(_build_as_worker(settings))


async def _build_as_worker(settings: Settings) -> Built:
    embedding = embed_originals(settings.retrieval).milliseconds_a_chunk
    store, after = DocumentStore(settings.documents.store), asyncio.Event()
    after.set()
    began, processor, peak = time.perf_counter(), 0.0, 0.0
    async with open_retrieval(settings, store, after) as retrieval, asyncio.timeout(_LIMIT_SECONDS):
        while not retrieval.upkeep.complete.is_set():
            if pid := retrieval.upkeep.builder_pid:
                processor, peak = _looked_at(pid, processor, peak)
            await asyncio.sleep(_LOOK_SECONDS)
        seconds = time.perf_counter() - began
    store.close()
    chunks = len(opened_index(settings))
    spent = chunks * embedding / 1_000
    return Built(chunks, _index_megabytes(settings), seconds, processor, spent, embedding, peak)


def _looked_at(pid: int, processor: float, peak: float) -> tuple[float, float]:
    try:
        process = psutil.Process(pid)
        times, memory = process.cpu_times(), process.memory_info()
    except psutil.NoSuchProcess:
        return processor, peak
    return max(processor, times.user + times.system), max(peak, memory.rss / 1e6)


def build_with_known_vectors(settings: Settings, count: int) -> Built:
    """Build the index as the worker does, but with the vectors of the originals, a little moved.

    To embed 100,000 documents takes hours of processor time, and the time for each is known.
    """
    measured = embed_originals(settings.retrieval)
    began = time.process_time()
    built_with, chance = _built_with(settings, open_embedder(settings.retrieval)), np.random.default_rng(1)
    index = ChunkIndex.create(index_location(settings), built_with)
    for number, batch in enumerate(batches(enumerate(varied(count)), _INDEXED_AT_ONCE), 1):
        pieces = [(_indexed(one), _cut(one, settings.retrieval)) for _, one in batch]
        known = [
            _moved(measured.vectors[n % len(measured.vectors)], len(chunks), chance)
            for (n, _), (_, chunks) in zip(batch, pieces, strict=True)
        ]
        index.add(rows(pieces, np.concatenate(known), built_with))
        if number % _TIDY_BATCHES == 0:
            index.optimise(settings.retrieval.ann_from)
    index.optimise(settings.retrieval.ann_from)
    worked, chunks = time.process_time() - began, len(index)
    spent = chunks * measured.milliseconds_a_chunk / 1_000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    size = _index_megabytes(settings)
    return Built(chunks, size, None, worked + spent, spent, measured.milliseconds_a_chunk, peak)


def embed_originals(settings: RetrievalSettings) -> Measured:
    """Embed the chunks of the sample's documents as the builder does."""
    embedder = open_embedder(settings)
    embedder.embed_query("the first call reads the model")
    texts = [[embedded_text(one.title, chunk.text) for chunk in _cut(one, settings)] for one in originals()]
    began = time.process_time()
    vectors = [embedder.embed_documents(some) for some in texts]
    spent = (time.process_time() - began) * 1_000
    return Measured(vectors, spent / sum(map(len, texts)))


async def settle(settings: Settings) -> None:
    """Let a worker's upkeep find the index complete, and note that it is."""
    after = asyncio.Event()
    after.set()
    with closing(DocumentStore(settings.documents.store)) as store:
        with store.snapshot() as documents:
            versions = {key: version.name for key, version in documents.versions().items()}
        async with open_retrieval(settings, store, after), asyncio.timeout(_LIMIT_SECONDS):
            while not is_remembered(index_location(settings), settings.retrieval, versions):  # noqa: ASYNC110
                await asyncio.sleep(_LOOK_SECONDS)


def opened_index(settings: Settings) -> ChunkIndex:
    """Open the index that was built."""
    built_with = _built_with(settings, open_embedder(settings.retrieval))
    return ChunkIndex.open(index_location(settings), built_with)


def batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    """Give the items, so many at a time."""
    while batch := list(islice(items, size)):
        yield batch


def megabytes(path: Path) -> float:
    """Give the size of all files in a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6


def _index_megabytes(settings: Settings) -> float:
    return megabytes(Path(index_location(settings)))


def _built_with(settings: Settings, embedder: Embedder) -> BuiltWith:
    return BuiltWith.of(settings.retrieval, embedder.name, embedder.dimensions)


def _indexed(document: KnowledgeDocument) -> IndexedDocument:
    return IndexedDocument.of(document, document_version(document))


def _cut(document: KnowledgeDocument, settings: RetrievalSettings) -> Sequence[Chunk]:
    return cut(document.text, settings.chunk_characters, settings.overlap_characters)


def _moved(vectors: Vectors, count: int, chance: np.random.Generator) -> Vectors:
    near: Vectors = vectors[np.minimum(np.arange(count), len(vectors) - 1)]
    noise = chance.standard_normal(near.shape, dtype=np.float32) * (_NOISE / near.shape[1] ** 0.5)
    return normalised(near + noise)
