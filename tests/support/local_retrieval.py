"""Retrieval for a store of documents, with a builder that needs no process of its own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from schemas import KnowledgeDocument
from streams.documents.store import DocumentStore
from streams.documents.versions import Change
from streams.retrieval import builder
from streams.retrieval.builder import Work, failed
from streams.retrieval.builder_process import BuilderFailed
from streams.retrieval.indexing import Workbench
from streams.retrieval.service import Retrieval, open_retrieval
from streams.settings import RetrievalSettings, Settings

T = TypeVar("T")

NOW = datetime(2026, 3, 2, tzinfo=UTC)
INVOICE = "Verstuur een factuur via **Facturatie / Facturen** en klik op **Versturen**."
LEAVE = "Vraag verlof aan via **Portaal / Verlof** en kies de dagen die je vrij wilt zijn."


class LocalBuilder:
    """Builds in the thread that asks for it; ``failing`` is raised by all work while it is set."""

    pids = ()

    def __init__(self, path: Path, settings: RetrievalSettings) -> None:
        self.starts = 0
        self.works: list[Work] = []
        self.failing: Exception | None = None
        self._arguments = path, settings
        self._workbench: Workbench | None = None

    @property
    def running(self) -> bool:
        return self._workbench is not None

    def start(self) -> dict[str, str]:
        self.starts += 1
        return self._reported(self._open)

    def do(self, work: Work) -> None:
        assert self._workbench
        self.works.append(work)
        self._reported(lambda: self._do(work))

    def kill(self) -> None:
        self._workbench = None

    def end(self) -> None:
        self.kill()

    def _open(self) -> dict[str, str]:
        path, settings = self._arguments
        self._workbench = Workbench(path, builder.open_embedder(settings), settings)
        return self._workbench.contents()

    def _do(self, work: Work) -> None:
        if self.failing:
            raise self.failing
        assert self._workbench
        builder.do(self._workbench, work)

    def _reported(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except Exception as error:
            told = failed(error)
            raise BuilderFailed(told.reason, damaged=told.damaged) from error


class Service:
    """Opens retrieval for a store, as often as asked, and keeps the builder of the last time at hand.

    ``failing`` is what a new builder begins with.
    """

    def __init__(self, settings: Settings, store: DocumentStore) -> None:
        self.settings = settings
        self.failures = 0
        self.failing: Exception | None = None
        self.builder: LocalBuilder
        self._store = store

    def open(self, **retrieval: object) -> AbstractAsyncContextManager[Retrieval]:
        changed = self.settings.retrieval.model_copy(update=retrieval)
        after = asyncio.Event()
        after.set()
        return open_retrieval(
            self.settings.model_copy(update={"retrieval": changed}),
            self._store,
            after,
            on_failure=self._fail,
            builder=self._build,
        )

    def _fail(self) -> None:
        self.failures += 1

    def _build(self, path: Path, settings: RetrievalSettings) -> LocalBuilder:
        self.builder = LocalBuilder(path, settings)
        self.builder.failing = self.failing
        return self.builder


def put(store: DocumentStore, offset: int, document_id: str, text: str | None) -> None:
    """Put a document into the store, or with None take it out."""
    document = KnowledgeDocument(document_id, "nl", document_id, text, NOW) if text else None
    store.apply([Change(document_id, document, 0, offset, offset)], {0: offset + 1})


def sqlite_error(name: str) -> sqlite3.Error:
    """Give the error of this name, as SQLite raises it."""
    error = sqlite3.OperationalError("what SQLite says, which may quote a question")
    error.sqlite_errorcode, error.sqlite_errorname = getattr(sqlite3, name), name
    return error
