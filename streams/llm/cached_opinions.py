"""Cached opinions: what was asked once is not asked, nor paid, again."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import structlog

from scoring.cache.cache_file import OPINION_CACHE_ID, CacheFile
from scoring.cache.single_flight import SingleFlight
from scoring.judges.opinion_json import OpinionUnreadable, read_opinion, write_opinion
from scoring.values.opinion import Opinion, UnsureReason
from streams.observability.instruments import ERROR_TYPE, OTHER, Instruments, MetricLabel


class LookupResult(StrEnum):
    """Where an opinion was found."""

    HIT = "hit"
    #: Another answer's asking for the same was under way.
    SHARED = "shared"
    MISS = "miss"


class OpinionCacheObserver:
    """Hears what happens, and ignores what no subclass of it makes use of; must return at once."""

    def looked_up(self, result: LookupResult) -> None:
        """An opinion was looked for."""

    def failed(self, error: str) -> None:
        """The file, or an opinion in it, could not be used; ``error`` is a name such as ``SQLITE_FULL``."""


#: The name of the file beside the documents, where the settings name none.
OPINIONS_NAME = "opinions.sqlite3"

AskOpinion = Callable[[], Awaitable[Opinion | None]]


class OpinionCache:
    """Opinions by their keys, in a file that holds no text and that several workers may share.

    Where the file fails, nothing is found or kept for a while, and asking goes on.

    Args:
        file: where they are; None keeps none.
        observer: hears what is found, and what fails.
    """

    def __init__(self, file: CacheFile | None, observer: OpinionCacheObserver | None = None) -> None:
        self._file = file
        self._observer = observer or OpinionCacheObserver()
        self._flights: SingleFlight[Opinion | None] = SingleFlight()
        self._report_failures()

    async def get_or_ask(self, key: str, answer: str, ask: AskOpinion) -> Opinion | None:
        """Return the opinion of a key, kept or else asked for; None where ``ask`` gives none.

        Who wants the same at the same time waits for one asking, and gets what it gives, with the time that
        the first of them had for it. Where no reply came it is not kept: the next time there may be one.

        Args:
            key: of :func:`scoring.judges.opinion_key`.
            answer: what the opinion is on; the wrong words are read from it.
            ask: asks for it, and counts what it costs. Cancelled when nobody waits any more.
        """
        if self._flights.is_running(key):
            self._observer.looked_up(LookupResult.SHARED)
        return await self._flights.run(key, lambda: self._look_up_or_ask(key, answer, ask))

    async def get(self, key: str, answer: str) -> Opinion | None:
        """Return the opinion of a key where it is kept."""
        # The disk may be slow, and others wait for this thread.
        found = await asyncio.to_thread(self._find, key, answer)
        self._report_failures()
        self._observer.looked_up(LookupResult.HIT if found else LookupResult.MISS)
        return found

    async def _look_up_or_ask(self, key: str, answer: str, ask: AskOpinion) -> Opinion | None:
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


#: How large the file may grow; an opinion takes about as much as its words.
_MAX_MIB = 64


@contextmanager
def open_opinion_cache(
    directory: Path, observer: OpinionCacheObserver | None = None
) -> Iterator[OpinionCache]:
    """Open the cache of opinions, whose file is in ``directory``."""
    file = CacheFile(directory / OPINIONS_NAME, OPINION_CACHE_ID, _MAX_MIB)
    try:
        yield OpinionCache(file, observer)
    finally:
        file.close()


log = structlog.get_logger(__name__)


class OpinionCacheMetrics(OpinionCacheObserver):
    """The instruments of kept opinions."""

    def __init__(self, instruments: Instruments) -> None:
        self._lookups = instruments.counter(
            "truthgate.kept_opinion_lookups",
            "Opinions that were looked for before asking, by where they were found: in the file (hit), in an "
            "asking for the same that was under way (shared), or nowhere (miss).",
            "hit: answers that are delivered again.",
            MetricLabel("result", tuple(LookupResult)),
            unit="{opinion}",
        )
        self._errors = instruments.counter(
            "truthgate.kept_opinion_errors",
            "Times that the file of opinions, or one of them, could not be used; it is asked for anew.",
            "The log line `kept_opinions_failed`; disk space and permissions at `documents.store`.",
            ERROR_TYPE,
            at_zero=[(OTHER,)],
        )

    def looked_up(self, result: LookupResult) -> None:
        """Count where it was found."""
        self._lookups.add(result)

    def failed(self, error: str) -> None:
        """Count the error, and log each kind of it once."""
        if self._errors.add_and_check_first(error):
            log.warning("kept_opinions_failed", error_type=error, setting="documents.store")
