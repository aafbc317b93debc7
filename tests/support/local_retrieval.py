"""Retrieval for a store of documents, embedded in the thread that asks for it."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

from schemas import KnowledgeDocument
from streams.documents.store import DocumentStore
from streams.documents.versions import DocumentChange
from streams.search.embedders import Embedder, Vectors
from streams.search.service import Retrieval, open_retrieval
from streams.settings import RetrievalSettings, Settings

NOW = datetime(2026, 3, 2, tzinfo=UTC)
INVOICE = "Verstuur een factuur via **Facturatie / Facturen** en klik op **Versturen**."
LEAVE = "Vraag verlof aan via **Portaal / Verlof** en kies de dagen die je vrij wilt zijn."


class LocalEmbedding:
    """Keeps what it embedded in mind; ``failing`` is raised by all work while it is set."""

    def __init__(self, embedder: Embedder) -> None:
        self.starts = 0
        self.embedded: list[list[str]] = []
        self.failing: Exception | None = None
        self.is_running = False
        self._embedder = embedder

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.starts += not self.is_running
        self.is_running = True
        if self.failing:
            raise self.failing
        self.embedded.append(list(texts))
        return self._embedder.embed_documents(texts)

    def stop(self) -> None:
        self.is_running = False

    close = stop


class Service:
    """Opens retrieval for a store, as often as asked, and keeps what embedded the last time at hand.

    ``failing`` is what that begins with.
    """

    def __init__(self, settings: Settings, store: DocumentStore, embedder: Embedder) -> None:
        self.settings = settings
        self.failures = 0
        self.failing: Exception | None = None
        self.embedding: LocalEmbedding
        self._store = store
        self._embedder = embedder

    def open(self, **retrieval: object) -> AbstractAsyncContextManager[Retrieval]:
        changed = self.settings.retrieval.model_copy(update=retrieval)
        after = asyncio.Event()
        after.set()
        return open_retrieval(
            self.settings.model_copy(update={"retrieval": changed}),
            self._store,
            after,
            on_failure=self._fail,
            make_processes=self._embedding,
        )

    def _fail(self) -> None:
        self.failures += 1

    def _embedding(self, _: RetrievalSettings) -> LocalEmbedding:
        self.embedding = LocalEmbedding(self._embedder)
        self.embedding.failing = self.failing
        return self.embedding


def put(store: DocumentStore, offset: int, document_id: str, text: str | None) -> None:
    """Put a document into the store, or with None take it out."""
    document = KnowledgeDocument(document_id, "nl", document_id, text, NOW) if text else None
    store.apply([DocumentChange(document_id, document, 0, offset, offset)], {0: offset + 1})
