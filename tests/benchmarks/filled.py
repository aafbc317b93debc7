"""A documents store and an index with as many documents as asked for, as a worker would have made them."""

import asyncio
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
import psutil

from streams.documents.store import DocumentStore
from streams.documents.versions import DocumentChange, VersionedDocument, version_name
from streams.search.embedders import Vectors, open_embedder, to_unit_length
from streams.search.index import PassageIndex
from streams.search.index_updates import BATCH, index_path, index_signature, split_and_embed
from streams.search.service import open_retrieval
from streams.settings import RetrievalSettings, Settings
from tests.benchmarks.varied import WHEN, originals, varied

_STORED_AT_ONCE = 500
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

    ``seconds`` is the time on the clock where all was embedded, else None; ``processor_seconds`` all that was
    worked, ``embedding_seconds`` of which, where not all was embedded, are reckoned from
    ``milliseconds_a_chunk``. ``peak_megabytes`` is that of a process that embeds, or of the one that builds.
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
    """The vectors of the originals' chunks, and what one took (processor time)."""

    vectors: Vectors
    milliseconds_a_chunk: float


def fill_store(settings: Settings, count: int) -> Stored:
    """Put so many documents into the store."""
    began = time.perf_counter()
    store = DocumentStore(settings.documents.store)
    stamp = int(WHEN.timestamp() * 1_000)
    for batch in batches(enumerate(varied(count)), _STORED_AT_ONCE):
        changes = [DocumentChange(one.document_id, one, 0, offset, stamp) for offset, one in batch]
        store.apply(changes, {0: batch[-1][0] + 1})
    store.close()
    return Stored(time.perf_counter() - began, megabytes(settings.documents.store))


def build_as_worker(settings: Settings) -> Built:
    """Let the worker's own updater build the index, every chunk embedded."""
    return asyncio.run(_build_as_worker(settings))


async def _build_as_worker(settings: Settings) -> Built:
    embedding = embed_originals(settings.retrieval).milliseconds_a_chunk
    store, after = DocumentStore(settings.documents.store), asyncio.Event()
    after.set()
    began, processor, peak = time.perf_counter(), 0.0, 0.0
    async with open_retrieval(settings, store, after) as retrieval, asyncio.timeout(_LIMIT_SECONDS):
        while not retrieval.index_updater.complete.is_set():
            for child in psutil.Process().children():
                processor, peak = _looked_at(child, processor, peak)
            await asyncio.sleep(_LOOK_SECONDS)
        seconds = time.perf_counter() - began
        assert retrieval.index_updater.index is not None
        chunks = _chunks(retrieval.index_updater.index)
    store.close()
    spent = chunks * embedding / 1_000
    return Built(chunks, _index_megabytes(settings), seconds, processor, spent, embedding, peak)


def _looked_at(process: psutil.Process, processor: float, peak: float) -> tuple[float, float]:
    try:
        times, memory = process.cpu_times(), process.memory_info()
    except psutil.NoSuchProcess:
        return processor, peak
    return max(processor, times.user + times.system), max(peak, memory.rss / 1e6)


def build_with_known_vectors(settings: Settings, count: int) -> Built:
    """Build the index as the worker does, but with the vectors of the originals, a little moved.

    To embed 100,000 documents takes hours of processor time, and the time for each is known.
    """
    embedder, measured = open_embedder(settings.retrieval), embed_originals(settings.retrieval)
    index = PassageIndex.create(index_path(settings), index_signature(settings.retrieval, embedder))
    known, chance = measured.vectors, np.random.default_rng(1)
    began = time.process_time()
    for batch in batches(varied(count), BATCH):
        documents = {one.document_id: VersionedDocument(one, version_name(one)) for one in batch}
        embedded = split_and_embed(documents, lambda texts: _moved(known, len(texts), chance))
        index.update(embedded, ())
    worked, count_of_chunks = time.process_time() - began, _chunks(index)
    spent = count_of_chunks * measured.milliseconds_a_chunk / 1_000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    size = _index_megabytes(settings)
    return Built(count_of_chunks, size, None, worked + spent, spent, measured.milliseconds_a_chunk, peak)


def embed_originals(settings: RetrievalSettings) -> Measured:
    """Embed the chunks of the sample's documents as the worker's processes do."""
    embedder, spent, vectors = open_embedder(settings), 0.0, list[Vectors]()
    embedder.embed_query("the first call reads the model")

    def embed(texts: Sequence[str]) -> Vectors:
        nonlocal spent
        began = time.process_time()
        vectors.append(embedder.embed_documents(texts))
        spent += (time.process_time() - began) * 1_000
        return vectors[-1]

    for one in originals():
        split_and_embed({one.document_id: VersionedDocument(one, "")}, embed)
    return Measured(np.concatenate(vectors), spent / sum(map(len, vectors)))


def batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    """Give the items, so many at a time."""
    while batch := list(islice(items, size)):
        yield batch


def megabytes(path: Path) -> float:
    """Give the size of all files in a folder."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6


def _chunks(index: PassageIndex) -> int:
    return sum(len(table.locations) for table in index.snapshot.languages.values())


def _index_megabytes(settings: Settings) -> float:
    return megabytes(index_path(settings).parent)


def _moved(vectors: Vectors, count: int, chance: np.random.Generator) -> Vectors:
    near: Vectors = vectors[chance.integers(len(vectors), size=count)]
    noise = chance.standard_normal(near.shape, dtype=np.float32) * (_NOISE / near.shape[1] ** 0.5)
    return to_unit_length(near + noise)
