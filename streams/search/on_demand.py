"""A retriever for the documents of a file that is opened when the first question comes."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager

from schemas import KnowledgeDocument
from streams.observability.failures import (
    EXIT_SOFTWARE,
    EXIT_UNREACHABLE,
    InfrastructureFailure,
    loggable_reason,
)
from streams.search.embedder import EmbeddingFailed
from streams.search.index import IndexFailed
from streams.search.types import RetrievalResult, Retriever
from streams.settings import InvalidSettings, Settings

OnIndexed = Callable[[int, int], None]

_NOT_INSTALLED = "embedder_not_installed"


class OnDemandRetriever:
    """Indexes the documents when their retriever is first asked for.

    A file in which every answer brings its context along needs no index. Building one takes as long as
    it takes, so it is apart from searching, which has a time limit.

    Args:
        documents: what is searched.
        settings: ``retrieval``.
        stack: closes what was opened.
        on_indexed: called with how many documents are indexed and how many there are.
        passages: how many are found for a question at most; None: as many as a worker finds.
    """

    def __init__(
        self,
        documents: Collection[KnowledgeDocument],
        settings: Settings,
        stack: AsyncExitStack,
        on_indexed: OnIndexed,
        passages: int | None = None,
    ) -> None:
        self._documents = documents
        self._settings = settings
        self._stack = stack
        self._on_indexed = on_indexed
        self._passages = passages
        self._opening: asyncio.Task[Retriever] | None = None
        self._closed = threading.Event()

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        """Return the passages for one question; whoever asks first waits for the index, others with them.

        Raises:
            RetrievalUnavailable: nothing was found within ``seconds`` of searching.
            InfrastructureFailure: the documents cannot be indexed.
            InvalidSettings: nor can they be with these settings.
        """
        return await (await self.open()).retrieve(question, language, seconds)

    async def open(self) -> Retriever:
        """Return the retriever once the documents are indexed; raises as :meth:`retrieve` does."""
        # One task, so that what fails fails once for all who wait; an index is not tried in vain again.
        self._opening = self._opening or asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def close(self) -> None:
        """End the building of an index that nobody waits for any more, after the batch in work."""
        self._closed.set()
        if self._opening:
            self._opening.cancel()
            await asyncio.wait([self._opening])

    async def _open(self) -> Retriever:
        from streams.search.files import index_folder, open_file_retriever  # noqa: PLC0415 - most files need none
        from streams.search.search import Ranking  # noqa: PLC0415

        usual = Ranking()
        passages = self._passages or usual.passages
        opened = open_file_retriever(
            self._documents,
            self._settings,
            on_indexed=self._report_progress,
            ranking=Ranking(passages, max(passages, usual.candidates)),
        )
        try:
            return await self._stack.enter_async_context(opened)
        except EmbeddingFailed as error:
            raise _embedding_error(str(error), self._settings) from error
        except (IndexFailed, OSError, RuntimeError, ValueError) as error:
            told = str(error) if isinstance(error, IndexFailed) else getattr(error, "strerror", None)
            reason = told or loggable_reason(error)
            raise InfrastructureFailure(
                f"the documents cannot be indexed in {index_folder()}: {reason}", EXIT_SOFTWARE
            ) from error

    def _report_progress(self, done: int, total: int) -> None:
        # Called by the thread that builds: nothing else ends it, and the command would wait for it.
        if self._closed.is_set():
            raise _IndexingCancelled
        self._on_indexed(done, total)


class _IndexingCancelled(Exception):
    """Nobody wants the index any more."""


def _embedding_error(code: str, settings: Settings) -> Exception:
    embedder = settings.retrieval.embedder
    if code == _NOT_INSTALLED:
        return InvalidSettings(f"retrieval.embedder {embedder}: its package is not installed")
    return InfrastructureFailure(f"the documents cannot be indexed: {embedder}: {code}", EXIT_UNREACHABLE)


@asynccontextmanager
async def open_on_demand_retriever(
    documents: Collection[KnowledgeDocument],
    settings: Settings,
    on_indexed: OnIndexed = lambda _done, _all: None,
    passages: int | None = None,
) -> AsyncIterator[OnDemandRetriever | None]:
    """Give a retriever for ``documents``, or None where there are none or retrieval is off.

    ``passages`` are found for a question at most; None: as many as a worker finds.
    """
    if not (documents and settings.retrieval.is_enabled):
        yield None
        return
    async with AsyncExitStack() as stack:
        on_demand = OnDemandRetriever(documents, settings, stack, on_indexed, passages)
        stack.push_async_callback(on_demand.close)
        yield on_demand
