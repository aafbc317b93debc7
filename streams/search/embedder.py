"""Sentence vectors, and what an engine that makes them has to give."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class EmbeddingFailed(Exception):
    """No vectors can be had now; the message is a stable code and never holds a text that was sent."""


class Embedder(Protocol):
    """Turns texts into vectors of length 1, near each other where the texts mean the same.

    Its methods block, and may be called from several threads.

    Attributes:
        floor: The relevance below which a passage is rather not about the question.
        word_weight: What shared words count beside its similarity in the relevance.
        vector_weight: What a rank of the vectors counts beside the same rank of the keywords, which counts 1.
    """

    floor: float
    word_weight: float
    vector_weight: float

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; raises EmbeddingFailed where that has to be asked for in vain."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, float32, of length 1 (0 for a text without any content).

        Raises:
            EmbeddingFailed: no vectors can be had.
        """

    def embed_query(self, text: str) -> Vectors:
        """Return one vector, as :meth:`embed_documents` does for a question."""


def to_unit_length(vectors: Vectors) -> Vectors:
    """Scale each row to length 1; what is not finite or has no length becomes 0."""
    finite: Vectors = np.where(np.isfinite(vectors), vectors, np.float32(0)).astype(np.float32, copy=False)
    lengths = np.linalg.norm(finite, axis=-1, keepdims=True)
    scaled: Vectors = (finite / np.where(lengths > 0, lengths, 1)).astype(np.float32, copy=False)
    return scaled


def single_row(vectors: Vectors) -> Vectors:
    """Return the one row there is."""
    row: Vectors = vectors[0]
    return row
