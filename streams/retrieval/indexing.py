"""Documents made chunks with vectors, and these put into the index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from streams.retrieval.chunks import Chunk, cut
from streams.retrieval.embedding import Embedder, Vectors
from streams.retrieval.index import ChunkIndex
from streams.retrieval.indexed import IndexedDocument
from streams.retrieval.layout import embedded_text, rows

_AT_ONCE = 32  # texts that are embedded between two looks at whether to go on

Cut = tuple[IndexedDocument, tuple[Chunk, ...]]


def put(
    index: ChunkIndex,
    embedder: Embedder,
    documents: Sequence[IndexedDocument],
    *,
    known: bool,
    on_progress: Callable[[], None] = lambda: None,
) -> None:
    """Put documents into the index, in one step.

    Args:
        index: where to.
        embedder: the one that the index was built with.
        documents: of different ids, unless they are in different languages and not ``known``.
        known: whether the index may have other versions of them, which these replace.
        on_progress: called now and then; what it raises ends this, and nothing is put.

    Raises:
        EmbeddingFailed: there are no vectors.
        Exception: what LanceDB raises when it cannot write.
    """
    built_with = index.built_with
    pieces = [
        (document, cut(document.text, built_with.chunk_characters, built_with.overlap_characters))
        for document in documents
    ]
    if not pieces:
        return
    vectors = np.concatenate(list(_embedded(embedder, pieces, on_progress)))
    records = rows(pieces, vectors, built_with)
    if known:
        index.replace(records, [document.document_id for document in documents])
    else:
        index.add(records)


def _embedded(
    embedder: Embedder, pieces: Sequence[Cut], on_progress: Callable[[], None]
) -> Iterator[Vectors]:
    texts = [embedded_text(document.title, chunk.text) for document, chunks in pieces for chunk in chunks]
    for at in range(0, len(texts), _AT_ONCE):
        on_progress()
        yield embedder.embed_documents(texts[at : at + _AT_ONCE])
