"""The retriever of a worker and of the commands: searches the index in threads, within a time limit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf

import structlog

from scoring.language import LanguageDetector, stated_language
from streams.retrieval.faults import Fault, described, fault_of
from streams.retrieval.search import Search
from streams.retrieval.turns import NoTurn, Turns
from streams.retrieval.types import RetrievalUnavailable, Retrieved

log = structlog.get_logger(__name__)

INDEX_INCOMPLETE = "index_incomplete"
INDEX_FAILED = "index_failed"
TIMEOUT = "timeout"

_THREADS = 2
#: One may have read a file that was just replaced; so many in a row have not.
_DAMAGES = 3
_WARMING = "?"
_WARMING_SECONDS = 30.0


class IndexRetriever:
    """Finds passages in an index that may be built and replaced meanwhile.

    Args:
        open_search: opens the index and what it is searched with; called again after every failure.
        detector: says which language a question is in that comes without.
        is_ready: whether the index may be searched yet.
        is_empty: whether there are no documents to search.
        is_behind: whether the index is known not to have all documents as they are now.
        on_damaged: called after some searches in a row that opened the index anew and found it damaged.
        time_limit: seconds that one search may take, once it has begun.
    """

    def __init__(
        self,
        open_search: Callable[[], Search],
        detector: Callable[[], LanguageDetector],
        is_ready: Callable[[], bool] = lambda: True,
        is_empty: Callable[[], bool] = lambda: False,
        is_behind: Callable[[], bool] = lambda: False,
        on_damaged: Callable[[], None] = lambda: None,
        time_limit: float = inf,
    ) -> None:
        self._open_search = open_search
        self._detector = detector
        self._is_ready = is_ready
        self._is_empty = is_empty
        self._is_behind = is_behind
        self._on_damaged = on_damaged
        self._search: Search | None = None
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="retrieval")
        self._turns = Turns(self._threads, _THREADS, time_limit)
        self._failure: str | None = None
        self._damages = 0

    def close(self) -> None:
        """Begin no search any more; one that is running ends within its time limit."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def forget(self) -> None:
        """Open the index anew at the next search."""
        self._search = None

    async def renew(self) -> None:
        """Open the index anew, because it was replaced, and search it once: no question waits for that.

        The first time it reads the model too, which takes seconds. Where it fails, the next search tells.
        """
        self.forget()
        with suppress(Exception):
            await self._turns.run(partial(self._retrieve, _WARMING, None), _WARMING_SECONDS, _WARMING_SECONDS)

    async def retrieve(self, question: str, language: str | None, seconds: float) -> Retrieved:
        """Find the passages for one question; ``seconds`` includes the wait for the questions before it.

        Raises:
            RetrievalUnavailable: ``index_incomplete``, ``index_failed`` or ``timeout``.
        """
        if not self._is_ready():
            raise RetrievalUnavailable(INDEX_INCOMPLETE)
        if self._is_empty():
            return Retrieved((), sufficient=False, behind=self._is_behind())
        try:
            found = await self._turns.run(partial(self._retrieve, question, language), seconds)
        except (NoTurn, TimeoutError):
            raise RetrievalUnavailable(TIMEOUT) from None
        except _SearchFailed as failed:
            if failed.fault is Fault.SLOW:
                raise RetrievalUnavailable(TIMEOUT) from failed
            self._fail(failed)
            raise RetrievalUnavailable(INDEX_FAILED) from failed
        self._failure, self._damages = None, 0
        return replace(found, behind=self._is_behind())

    def _retrieve(self, question: str, language: str | None, seconds: float) -> Retrieved:
        try:
            if (search := self._search) is None:
                search = self._search = self._open_search()
            return search(question, stated_language(language) or self._detector().identify(question), seconds)
        except Exception as error:
            raise _SearchFailed(error) from error

    def _fail(self, failed: _SearchFailed) -> None:
        self.forget()
        reason = str(failed)
        if reason != self._failure:
            log.error("retrieval_failed", reason=reason)
        self._failure = reason
        self._damages = self._damages + 1 if failed.fault is Fault.DAMAGE else 0
        if self._damages == _DAMAGES:
            self._damages = 0
            self._on_damaged()


class _SearchFailed(Exception):
    """A search that failed, what that proves, and as message what may be logged of it."""

    def __init__(self, error: Exception) -> None:
        super().__init__(described(error))
        self.fault = fault_of(error)
