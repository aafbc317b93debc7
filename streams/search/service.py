"""Retrieval in a worker: the index of its documents, kept up to date, and the retriever."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from math import inf
from typing import NamedTuple, TypeVar

import structlog

from streams.documents.store import DocumentStore
from streams.search.embedders import EmbeddingProcesses
from streams.search.index_updates import IndexUpdater
from streams.search.search import Search
from streams.search.types import IndexFailed, RetrievalResult, RetrievalUnavailable, failure_reason
from streams.settings import RetrievalSettings, Settings

log = structlog.get_logger(__name__)

_THREADS = 2

T = TypeVar("T")


class SearchThreads:
    """Runs searches in threads; others wait in a queue while searches finish.

    The time limit of a search begins with the search: of many answers at once, as after an outage, the last
    ones wait long and are searched for all the same. Where searches hang, a question waits no longer than one
    search may take.

    Args:
        threads: how many searches run at once.
        time_limit: seconds that one search may take.
    """

    def __init__(self, threads: int, time_limit: float) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="retrieval")
        self._free = asyncio.Semaphore(threads)
        self._time_limit = time_limit
        #: The waiting questions' timeouts, with the deadline of each.
        self._waiting: dict[asyncio.Timeout, float] = {}

    def close(self) -> None:
        """Start no more searches; those that run end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, search: Callable[[], T], seconds: float) -> T:
        """Wait for a thread and search, all within ``seconds``.

        Raises:
            TimeoutError: the search did not start, or took too long; its thread may still run it.
            Exception: what ``search`` raises.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        async with asyncio.timeout_at(self._limited(deadline)) as timeout:
            self._waiting[timeout] = deadline
            try:
                await self._free.acquire()
            finally:
                del self._waiting[timeout]
            timeout.reschedule(self._limited(deadline))
            try:
                running = loop.run_in_executor(self._threads, search)
            except RuntimeError:  # the threads are closed
                self._free.release()
                raise
            running.add_done_callback(self._finish)
            return await asyncio.shield(running)

    def _limited(self, deadline: float) -> float:
        return min(deadline, asyncio.get_running_loop().time() + self._time_limit)

    def _finish(self, running: asyncio.Future[T]) -> None:
        # Not earlier: a search that was started while a thread hangs would wait for it unseen.
        self._free.release()
        # Retrieve the exception in any case: the caller may be gone.
        if running.cancelled() or running.exception() is not None:
            return
        for waiting, deadline in self._waiting.items():
            if not waiting.expired():
                waiting.reschedule(self._limited(deadline))


class IndexRetriever:
    """Finds passages in an index that may be built and replaced meanwhile.

    Args:
        open_search: returns the search; called in the thread that searches.
        updater: updates the index; None where it is complete.
        time_limit: seconds that one search may take, once it has started.
    """

    def __init__(
        self, open_search: Callable[[], Search], updater: IndexUpdater | None = None, time_limit: float = inf
    ) -> None:
        self._open_search = open_search
        self._updater = updater
        self._threads = SearchThreads(_THREADS, time_limit)
        self._failure: str | None = None

    def close(self) -> None:
        """Start no more searches; those that run end by themselves."""
        self._threads.close()

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        """Find the passages for one question; ``seconds`` include the wait for the questions before it.

        Raises:
            RetrievalUnavailable: ``index_incomplete``, ``index_failed`` or ``timeout``.
        """
        if not (updater := self._updater):
            return await self._search(question, language, seconds)
        index = updater.index
        if not updater.is_ready:
            raise RetrievalUnavailable("index_incomplete")
        found = RetrievalResult((), is_sufficient=False)
        if not updater.is_empty:
            found = await self._search(question, language, seconds)
            # Built anew meanwhile: what was searched may have been empty.
            if updater.index is not index or not updater.is_ready:
                raise RetrievalUnavailable("index_incomplete")
        return replace(found, is_outdated=updater.is_outdated)

    async def _search(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        try:
            found = await self._threads.run(lambda: self._open_search()(question, language), seconds)
        except TimeoutError:
            raise RetrievalUnavailable("timeout") from None
        except Exception as error:
            self._report(error)
            raise RetrievalUnavailable("index_failed") from error
        self._failure = None
        return found

    def _report(self, error: Exception) -> None:
        reason = failure_reason(error)
        if reason != self._failure:
            log.error("retrieval_failed", reason=reason)
        self._failure = reason
        if self._updater and isinstance(error, IndexFailed):
            self._updater.request_reopen()


class Retrieval(NamedTuple):
    """What a worker opens: the retriever, and what keeps its index up to date."""

    retriever: IndexRetriever
    index_updater: IndexUpdater


@asynccontextmanager
async def open_retrieval(
    settings: Settings,
    store: DocumentStore,
    start_after: asyncio.Event,
    *,
    on_failure: Callable[[], None] = lambda: None,
    on_indexed: Callable[[int], None] = lambda _documents: None,
    make_processes: Callable[[RetrievalSettings], EmbeddingProcesses] = EmbeddingProcesses,
) -> AsyncIterator[Retrieval]:
    """Search the documents of a store, and index them in the background; see :class:`IndexUpdater`."""
    processes = make_processes(settings.retrieval)
    updater = IndexUpdater(
        settings, store, processes, start_after, on_failure=on_failure, on_indexed=on_indexed
    )

    @cache
    def open_search() -> Search:
        return Search(lambda: updater.snapshot, store.get_version, updater.embedder, settings)

    retriever = IndexRetriever(open_search, updater, settings.documents.wait_timeout_seconds)
    try:
        async with updater.run():
            yield Retrieval(retriever, updater)
    finally:
        retriever.close()
