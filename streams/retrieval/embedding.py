"""Sentence vectors: what an engine has to give, and which there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from streams.settings import RetrievalSettings

Vectors = NDArray[np.float32]


class EmbeddingFailed(Exception):
    """No vectors can be had now; the message is a stable code and never holds a text that was sent."""


class Embedder(Protocol):
    """Turns texts into vectors of length 1, near each other where the texts mean the same.

    Its methods block, and may be called from several threads.
    """

    @property
    def floor(self) -> float:
        """The relevance below which a passage is rather not about the question."""
        ...

    @property
    def word_weight(self) -> float:
        """What shared words count beside its similarity in the relevance."""
        ...

    @property
    def weight(self) -> float:
        """What a rank of the vectors counts beside the same rank of the keywords, which counts 1."""
        ...

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; raises EmbeddingFailed where that has to be asked for in vain."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, float32, of length 1 (0 for a text without any content).

        Raises:
            EmbeddingFailed: no vectors can be had.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """Return one vector, as :meth:`embed_documents` does for a question."""
        ...


def open_embedder(settings: RetrievalSettings) -> Embedder:
    """Open the engine that is chosen; reading its model takes up to a second, once.

    Raises:
        EmbeddingFailed: its package is not installed (``embedder_not_installed``).
    """
    # Each engine is imported only where it is chosen: they hold models.
    try:
        match settings.embedder:
            case "use":
                from streams.retrieval.embedding_use import SentenceEncoder  # noqa: PLC0415

                return SentenceEncoder()
            case "e5":
                from streams.retrieval.embedding_e5 import MultilingualE5  # noqa: PLC0415

                return MultilingualE5()
            case "http":
                from streams.retrieval.embedding_http import EmbeddingsEndpoint  # noqa: PLC0415

                return EmbeddingsEndpoint.of(settings)
    except ImportError as error:
        raise EmbeddingFailed("embedder_not_installed") from error


def normalised(vectors: Vectors) -> Vectors:
    """Scale each row to length 1; what is not finite or has no length becomes 0."""
    finite: Vectors = np.where(np.isfinite(vectors), vectors, np.float32(0)).astype(np.float32, copy=False)
    lengths = np.linalg.norm(finite, axis=-1, keepdims=True)
    scaled: Vectors = (finite / np.where(lengths > 0, lengths, 1)).astype(np.float32, copy=False)
    return scaled


def only(vectors: Vectors) -> Vectors:
    """Return the one row there is."""
    row: Vectors = vectors[0]
    return row
