"""The retriever of a worker and of the commands: searches the index in threads, within a time limit."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from math import inf

import structlog

from scoring.text.language_detection import LanguageDetector, language_code
from streams.observability.failures import InfrastructureFailure, loggable_reason
from streams.search.embedder import EmbeddingFailed
from streams.search.index import IndexFailed
from streams.search.search import Search
from streams.search.turns import BoundedExecutor, SearchNotStarted
from streams.search.types import RetrievalResult, RetrievalUnavailable

log = structlog.get_logger(__name__)

INDEX_INCOMPLETE = "index_incomplete"
INDEX_FAILED = "index_failed"
TIMEOUT = "timeout"

_THREADS = 2


class IndexRetriever:
    """Finds passages in an index that may be built and replaced meanwhile.

    Args:
        search: gives the search; it is opened in the thread that searches.
        detector: says which language a question is in that comes without.
        is_ready: whether the index may be searched yet.
        is_empty: whether there are no documents to search.
        is_behind: whether the index is known not to have all documents as they are now.
        on_index_failed: called when the index could not be read.
        time_limit: seconds that one search may take, once it has begun.
    """

    def __init__(
        self,
        search: Callable[[], Search],
        detector: Callable[[], LanguageDetector],
        is_ready: Callable[[], bool] = lambda: True,
        is_empty: Callable[[], bool] = lambda: False,
        is_behind: Callable[[], bool] = lambda: False,
        on_index_failed: Callable[[], None] = lambda: None,
        time_limit: float = inf,
    ) -> None:
        self._search = search
        self._detector = detector
        self._is_ready = is_ready
        self._is_empty = is_empty
        self._is_behind = is_behind
        self._on_index_failed = on_index_failed
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="retrieval")
        self._executor = BoundedExecutor(self._threads, _THREADS, time_limit)
        self._failure: str | None = None

    def close(self) -> None:
        """Begin no search any more; one that is running ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        """Find the passages for one question; ``seconds`` includes the wait for the questions before it.

        Raises:
            RetrievalUnavailable: ``index_incomplete``, ``index_failed`` or ``timeout``.
        """
        if not self._is_ready():
            raise RetrievalUnavailable(INDEX_INCOMPLETE)
        if self._is_empty():
            return RetrievalResult((), is_sufficient=False, is_outdated=self._is_behind())
        try:
            found = await self._executor.run(partial(self._retrieve, question, language), seconds)
        except (SearchNotStarted, TimeoutError):
            raise RetrievalUnavailable(TIMEOUT) from None
        except Exception as error:
            self._fail(error)
            raise RetrievalUnavailable(INDEX_FAILED) from error
        self._failure = None
        return replace(found, is_outdated=self._is_behind())

    def _retrieve(self, question: str, language: str | None) -> RetrievalResult:
        return self._search()(question, language_code(language) or self._detector().detect(question))

    def _fail(self, error: Exception) -> None:
        told = isinstance(error, EmbeddingFailed | IndexFailed | InfrastructureFailure)
        reason = str(error) if told else loggable_reason(error)
        if reason != self._failure:
            log.error("retrieval_failed", reason=reason)
        self._failure = reason
        if isinstance(error, IndexFailed):
            self._on_index_failed()
