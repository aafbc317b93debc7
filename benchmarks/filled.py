"""A documents store and an index with as many documents as asked for, as a worker would have made them."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
import psutil

from benchmarks.varied import WHEN, originals, varied
from streams.documents.store import DocumentStore
from streams.documents.versions import Change, document_version
from streams.retrieval.embedder import Vectors, normalised
from streams.retrieval.embedding import open_embedder
from streams.retrieval.index_file import IndexFile
from streams.retrieval.indexed import IndexedDocument, built_with, chunks_of, embedded_text, packed
from streams.retrieval.service import index_path, open_retrieval
from streams.settings import RetrievalSettings, Settings

_STORED_AT_ONCE = 500
#: As the worker does it.
_INDEXED_AT_ONCE = 64
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
            for pid in retrieval.upkeep.builder_pids:
                processor, peak = _looked_at(pid, processor, peak)
            await asyncio.sleep(_LOOK_SECONDS)
        seconds = time.perf_counter() - began
    store.close()
    chunks = _chunks(settings)
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
    index, chance = _index(settings), np.random.default_rng(1)
    index.create()
    for batch in batches(enumerate(varied(count)), _INDEXED_AT_ONCE):
        put = []
        for number, one in batch:
            document = IndexedDocument.of(one, document_version(one))
            chunks = chunks_of(document, settings.retrieval)
            known = _moved(measured.vectors[number % len(measured.vectors)], len(chunks), chance)
            put.append((document, packed(document, chunks, known)))
        index.change(put, [document.document_id for document, _ in put])
    worked, count_of_chunks = time.process_time() - began, _chunks(settings)
    spent = count_of_chunks * measured.milliseconds_a_chunk / 1_000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    size = _index_megabytes(settings)
    return Built(count_of_chunks, size, None, worked + spent, spent, measured.milliseconds_a_chunk, peak)


def embed_originals(settings: RetrievalSettings) -> Measured:
    """Embed the chunks of the sample's documents as the builder does."""
    embedder = open_embedder(settings)
    embedder.embed_query("the first call reads the model")
    documents = [IndexedDocument.of(one, "") for one in originals()]
    texts = [
        [embedded_text(one.title, chunk.text) for chunk in chunks_of(one, settings)] for one in documents
    ]
    began = time.process_time()
    vectors = [embedder.embed_documents(some) for some in texts]
    spent = (time.process_time() - began) * 1_000
    return Measured(vectors, spent / sum(map(len, texts)))


def batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    """Give the items, so many at a time."""
    while batch := list(islice(items, size)):
        yield batch


def megabytes(path: Path) -> float:
    """Give the size of all files in a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6


def _index(settings: Settings) -> IndexFile:
    return IndexFile(index_path(settings), built_with(settings.retrieval))


def _chunks(settings: Settings) -> int:
    return sum(len(one.chunks.scales) // 4 for some in _index(settings).read(0) for one in some)


def _index_megabytes(settings: Settings) -> float:
    return megabytes(index_path(settings).parent)


def _moved(vectors: Vectors, count: int, chance: np.random.Generator) -> Vectors:
    near: Vectors = vectors[np.minimum(np.arange(count), len(vectors) - 1)]
    noise = chance.standard_normal(near.shape, dtype=np.float32) * (_NOISE / near.shape[1] ** 0.5)
    return normalised(near + noise)
