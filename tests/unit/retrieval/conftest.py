"""A store of documents and its index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.documents.store import DocumentStore
from streams.search.embedders import Embedder, open_embedder
from streams.settings import DocumentSettings, RetrievalSettings, Settings
from tests.support.local_retrieval import INVOICE, LEAVE, Service, put


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Give settings with which the index follows at once and everything is relevant."""
    return Settings(
        documents=DocumentSettings(store=tmp_path / "store"),
        retrieval=RetrievalSettings(update_interval_seconds=0.05, floor=-1),
    )


@pytest.fixture
def empty_store(settings: Settings) -> Iterator[DocumentStore]:
    """Give a store without documents."""
    store = DocumentStore(settings.documents.store)
    yield store
    store.close()


@pytest.fixture
def store(empty_store: DocumentStore) -> DocumentStore:
    """Give a store with two documents."""
    put(empty_store, 0, "invoice", INVOICE)
    put(empty_store, 1, "leave", LEAVE)
    return empty_store


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """Give the embedder; its model is read once for all tests."""
    return open_embedder(RetrievalSettings())


@pytest.fixture
def service(
    settings: Settings,
    store: DocumentStore,
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
) -> Service:
    """Give retrieval for the store with two documents."""
    monkeypatch.setattr("streams.search.index_updates.open_embedder", lambda _settings: embedder)
    return Service(settings, store, embedder)
