"""The cache of opinions, so that no opinion is requested and paid for twice."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path

import structlog

from scoring.cache.cache_file import OPINION_CACHE_ID, CacheFile
from scoring.cache.call_guards import SingleFlight
from scoring.judges.opinion_json import OpinionUnreadable, read_opinion, write_opinion
from scoring.values.opinion import Opinion, UnsureReason
from streams.observability.instruments import ERROR_TYPE, OTHER, Instruments, MetricLabel

log = structlog.get_logger(__name__)

#: The name of the file, in the directory of the documents.
OPINION_CACHE_NAME = "opinions.sqlite3"
#: How large the file may grow; an opinion takes about as much as its words.
_MAX_MIB = 64


class OpinionLookup(StrEnum):
    """Where an opinion was found."""

    HIT = "hit"
    #: Another answer is asking for the same opinion.
    SHARED = "shared"
    MISS = "miss"


class OpinionCacheObserver:
    """Callbacks of the cache, which do nothing unless a subclass overrides them; they must not block."""

    def looked_up(self, result: OpinionLookup) -> None:
        """An opinion was looked up."""

    def failed(self, error: str) -> None:
        """The file, or an opinion in it, could not be used; ``error`` is a name such as ``SQLITE_FULL``."""


class OpinionCache:
    """Opinions by their keys, in a file without any text that several workers may share.

    After a failure of the file, nothing is found or cached for a while, and judges are asked.

    Args:
        file: None caches nothing.
        observer: called with lookups and failures.
    """

    def __init__(self, file: CacheFile | None, observer: OpinionCacheObserver | None = None) -> None:
        self._file = file
        self._observer = observer or OpinionCacheObserver()
        self._flights: SingleFlight[Opinion | None] = SingleFlight()
        self._report_failures()

    async def get_or_ask(
        self, key: str, answer: str, ask: Callable[[], Awaitable[Opinion | None]]
    ) -> Opinion | None:
        """Return the opinion of a key from the cache, or else what ``ask`` returns.

        Concurrent calls for a key share one ``ask``, with the deadline of the first. An opinion without a
        reply is not cached: the next time there may be one.

        Args:
            key: of :func:`scoring.judges.opinion_key`.
            answer: what the opinion is on; the wrong words are read from it.
            ask: cancelled when no caller waits any more.
        """
        if self._flights.is_running(key):
            self._observer.looked_up(OpinionLookup.SHARED)
        return await self._flights.run(key, partial(self._look_up_or_ask, key, answer, ask))

    async def get(self, key: str, answer: str) -> Opinion | None:
        """Return the opinion of a key if it is cached."""
        # The disk may be slow, and others wait for this thread.
        found = await asyncio.to_thread(self._find, key, answer)
        self._report_failures()
        self._observer.looked_up(OpinionLookup.HIT if found else OpinionLookup.MISS)
        return found

    async def _look_up_or_ask(
        self, key: str, answer: str, ask: Callable[[], Awaitable[Opinion | None]]
    ) -> Opinion | None:
        if found := await self.get(key, answer):
            return found
        opinion = await ask()
        if opinion is not None and opinion.unsure is not UnsureReason.NO_REPLY:
            await asyncio.to_thread(self._put, key, opinion)
            self._report_failures()
        return opinion

    def _find(self, key: str, answer: str) -> Opinion | None:
        if self._file is None:
            return None
        name = key.encode()
        content = self._file.find([name]).get(name)
        try:
            return None if content is None else read_opinion(content, answer)
        except OpinionUnreadable:
            self._file.record_failure("UNREADABLE")
            return None

    def _put(self, key: str, opinion: Opinion) -> None:
        if self._file is None:
            return
        try:
            content = write_opinion(opinion)
        except ValueError:
            self._file.record_failure("UNWRITABLE")
        else:
            self._file.put({key.encode(): content.encode()})

    def _report_failures(self) -> None:
        for failure in self._file.take_failures() if self._file else ():
            self._observer.failed(failure)


@contextmanager
def open_opinion_cache(
    directory: Path, observer: OpinionCacheObserver | None = None
) -> Iterator[OpinionCache]:
    """Open the cache of opinions, with its file in ``directory``."""
    file = CacheFile(directory / OPINION_CACHE_NAME, OPINION_CACHE_ID, _MAX_MIB)
    try:
        yield OpinionCache(file, observer)
    finally:
        file.close()


class OpinionCacheMetrics(OpinionCacheObserver):
    """The instruments of the cache of opinions."""

    def __init__(self, instruments: Instruments) -> None:
        self._lookups = instruments.counter(
            "truthgate.opinion_cache_lookups",
            "Opinions looked up before judges are asked. hit: found in the file; shared: another answer is "
            "asking for the same opinion; miss: not found.",
            "hit: answers that were delivered again.",
            MetricLabel("result", tuple(OpinionLookup)),
            unit="{opinion}",
        )
        self._errors = instruments.counter(
            "truthgate.opinion_cache_errors",
            "Failures to use the cache of opinions or one of its entries; judges are asked instead.",
            "The log line `opinion_cache_failed`; disk space and permissions at `documents.store`.",
            ERROR_TYPE,
            at_zero=[(OTHER,)],
        )

    def looked_up(self, result: OpinionLookup) -> None:
        """Count the lookup."""
        self._lookups.add(result)

    def failed(self, error: str) -> None:
        """Count the error, and log each kind once."""
        if self._errors.add_and_check_first(error):
            log.warning("opinion_cache_failed", error_type=error, setting="documents.store")
