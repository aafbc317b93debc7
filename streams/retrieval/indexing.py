"""The making of an index: documents cut into chunks, these embedded, and all put into its file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from streams.retrieval.embedder import Embedder, Vectors
from streams.retrieval.index_file import IndexFile, NoIndex
from streams.retrieval.indexed import IndexedDocument, built_with, chunks_of, embedded_text, packed
from streams.settings import RetrievalSettings


class Workbench:
    """An index that is open to be built: what is there, or an empty one where there is none of this kind.

    Its methods block, and raise EmbeddingFailed, NoIndex, DamagedIndex, OSError and sqlite3.Error.

    Args:
        path: of the index.
        embedder: gives the vectors.
        settings: what it is built with.
    """

    def __init__(self, path: Path, embedder: Embedder, settings: RetrievalSettings) -> None:
        self._settings = settings
        self._embedder = embedder
        self._index = IndexFile(path, built_with(settings))
        if not self._is_usable():
            self._index.create()

    def contents(self) -> dict[str, str]:
        """Return the version of every document that is in the index, by id."""
        return self._index.contents()

    def change(self, documents: Sequence[IndexedDocument], gone: Collection[str]) -> None:
        """Take documents out, and put others in, in one step; NoIndex where vectors have another length."""
        cut = [(document, chunks_of(document, self._settings)) for document in documents]
        texts = [embedded_text(document.title, chunk.text) for document, chunks in cut for chunk in chunks]
        vectors = self._embedded(texts)
        ends = accumulate(len(chunks) for _, chunks in cut)
        self._index.change(
            [
                (document, packed(document, chunks, vectors[end - len(chunks) : end]))
                for (document, chunks), end in zip(cut, ends, strict=True)
            ],
            gone,
        )

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self._embedder.dimensions), np.float32)
        vectors = self._embedder.embed_documents(texts)
        if vectors.shape[1] != self._embedder.dimensions:
            raise NoIndex("index_built_otherwise")
        return vectors

    def _is_usable(self) -> bool:
        try:
            return self._index.dimensions() in {None, self._embedder.dimensions}
        except NoIndex:
            return False
