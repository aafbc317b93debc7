"""Keeps the index equal to the current documents of the store, in the background."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Self

import structlog

from streams.documents.store import DocumentStore, Snapshot
from streams.failures import InfrastructureFailure
from streams.retrieval.builder import Work
from streams.retrieval.builder_process import BuilderFailed, BuilderProcesses
from streams.retrieval.faults import Fault, described, fault_of
from streams.retrieval.index_file import IndexFile, NoIndex, remove
from streams.retrieval.indexed import IndexedDocument, batches
from streams.retrieval.patience import Patience
from streams.settings import RetrievalSettings

log = structlog.get_logger(__name__)

#: An index that the builder finds damaged so often in a row is deleted and built anew.
_DAMAGES_BEFORE_ANEW = 2
#: A builder takes hundreds of megabytes and seconds to start: it waits so long for more to do.
_IDLE_SECONDS = 60.0
_PROGRESS_SECONDS = 60.0
_FINISH_SECONDS = 5.0


class IndexUpkeep:
    """Puts what changed in the store into the index, for as long as it is entered.

    The work is done by processes of their own, started when there is something to do, and ended when there
    was nothing for a while.

    A failure is logged (once for the same reason), counted, and tried again after an interval; what is
    in the index stays and can be searched. Only an index whose files are missing or damaged is deleted
    and built anew, after ever longer waits. Nothing of this ends the worker: what is not indexed is only
    not found, and until all was indexed once :attr:`complete` is not set.

    Args:
        store: the documents.
        index: what is kept up to date.
        builder: builds it.
        settings: how often it is looked at.
        after: begin when this is set.
        on_replaced: awaited when the index was opened or made anew, before it counts as complete.
        on_failure: called after each update that failed.
        on_indexed: called with how many documents were put in, after each time that some were.
        idle_seconds: how long the process is kept that has nothing to do.

    Attributes:
        settled: set once the first update is over, with or without success.
        complete: set while the index is known to have had all documents, at least once.
        indexed: how many documents it has.
        to_do: how many are to be put in or taken out, as far as is known.
    """

    def __init__(
        self,
        store: DocumentStore,
        index: IndexFile,
        builder: BuilderProcesses,
        settings: RetrievalSettings,
        after: asyncio.Event,
        *,
        on_replaced: Callable[[], Awaitable[None]],
        on_failure: Callable[[], None] = lambda: None,
        on_indexed: Callable[[int], None] = lambda _documents: None,
        idle_seconds: float = _IDLE_SECONDS,
    ) -> None:
        self.settled = asyncio.Event()
        self.complete = asyncio.Event()
        self.indexed = 0
        self.to_do = 0
        self._store = store
        self._index = index
        self._settings = settings
        self._after = after
        self._on_replaced = on_replaced
        self._on_failure = on_failure
        self._on_indexed = on_indexed
        self._idle_seconds = idle_seconds
        self._builder = builder
        self._patience = Patience(settings.retry_interval_seconds)
        self._contents: dict[str, str] | None = None
        self._seen: object = None
        self._busy_at = self._told_at = time.monotonic()
        self._failure: str | None = None
        self._damages = 0
        self._distrusted = False
        self._ending = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin, in the background."""
        self._task = asyncio.create_task(self._run(), name="retrieval-index")
        return self

    async def __aexit__(self, *_: object) -> None:
        """End; what the builder has in work is given up."""
        self._ending = True
        await asyncio.to_thread(self._builder.end)
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_FINISH_SECONDS)

    @property
    def builder_pids(self) -> Sequence[int]:
        """Of the processes that build, as far as they run."""
        return self._builder.pids

    @property
    def failure(self) -> str | None:
        """Why the last update failed, and of which file; None when it did not."""
        return f"{self._failure} ({self._index.path})" if self._failure else None

    @property
    def is_empty(self) -> bool:
        """Whether the index has, and needs, no document; there may be no files of it then."""
        return self.complete.is_set() and not self.indexed

    @property
    def is_behind(self) -> bool:
        """Whether the documents are known, or believed, to differ from what the index has."""
        return bool(self._failure or self.to_do) or self._seen != self._store.next_offsets

    def distrust(self) -> None:
        """Note that searches find the index damaged; it is built anew.

        Of one that is still being built that says nothing: there may have been no files of it yet.
        """
        if self.complete.is_set():
            self._distrusted = True

    async def _run(self) -> None:
        await self._after.wait()
        while not self._ending:
            ok = await self._updated()
            interval = self._settings.update_interval_seconds if ok else self._settings.retry_interval_seconds
            await asyncio.sleep(interval)

    async def _updated(self) -> bool:
        try:
            if await asyncio.to_thread(self._update):
                await self._on_replaced()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the worker goes on
            if not self._ending:
                # In a thread: it waits for the builder's end.
                await asyncio.to_thread(self._fail, error)
            self.settled.set()
            return False
        if self._failure:
            log.info("retrieval_index_works_again")
        self._failure, self._damages = None, 0
        self._patience.is_whole()
        self.complete.set()
        self.settled.set()
        return True

    def _update(self) -> bool:
        """Take in what changed; return whether the index was opened or made anew."""
        if self._distrusted:
            self._set_aside("index_damaged")
        if self._contents and not self._index.path.exists():
            self._set_aside("index_gone")
        seen = self._store.next_offsets
        if seen == self._seen and self._contents is not None:
            self._rest()
            return False
        opened = self._contents is None
        contents = self._contents = self._known()
        self._show(contents, 0)
        with self._store.snapshot() as documents:
            current = {key: version.name for key, version in documents.versions().items()}
            if contents != current:
                opened |= not self._builder.running
                self._take_in_changes(documents, current, self._started(contents))
        self._seen = seen
        return opened

    def _known(self) -> dict[str, str]:
        """Return what the index has: nothing, where there is none of this kind yet."""
        if self._contents is not None:
            return self._contents
        try:
            contents = self._index.contents()
        except NoIndex:
            contents = {}
            self.complete.clear()
        return contents

    def _started(self, contents: dict[str, str]) -> dict[str, str]:
        self._busy_at = time.monotonic()
        if self._builder.running:
            return contents
        contents = self._contents = self._builder.start()
        self._distrusted = False  # said of the file as it was before, such as none
        if not contents:
            self.complete.clear()  # it was made just now
        return contents

    def _rest(self) -> None:
        if self._builder.running and time.monotonic() - self._busy_at > self._idle_seconds:
            self._builder.kill()

    def _take_in_changes(
        self, documents: Snapshot, current: Mapping[str, str], contents: dict[str, str]
    ) -> None:
        gone = [key for key in contents if key not in current]
        changed = [key for key, version in current.items() if contents.get(key) != version]
        self._show(contents, len(gone) + len(changed))
        for batch in batches([*gone, *changed], self._settings.embedding_processes):
            stored = [found for key in batch if (found := documents.get(key))]
            indexed = [IndexedDocument.of(one.document, one.version) for one in stored]
            self._builder.do(Work(indexed, [key for key in batch if key not in current]))
            if indexed:
                self._on_indexed(len(indexed))
            for key in batch:
                contents.pop(key, None)
            contents.update({one.document_id: one.version for one in indexed})
            self._show(contents, self.to_do - len(batch))
        self._busy_at = time.monotonic()

    def _show(self, contents: Mapping[str, str], to_do: int) -> None:
        self.indexed, self.to_do = len(contents), to_do
        now = time.monotonic()
        if not to_do:
            self._told_at = now
        elif now - self._told_at > _PROGRESS_SECONDS:
            self._told_at = now
            log.info("retrieval_index_progress", indexed=self.indexed, to_do=to_do)

    def _fail(self, error: Exception) -> None:
        told = isinstance(error, BuilderFailed | InfrastructureFailure)
        reason = str(error) if told else described(error)
        if reason != self._failure:
            log.error("retrieval_index_failed", reason=reason, path=str(self._index.path))
        self._failure = reason
        self._contents = None  # what it has is asked again
        self._builder.kill()
        self._on_failure()
        self._damages += (
            error.damaged if isinstance(error, BuilderFailed) else fault_of(error) is Fault.DAMAGE
        )
        if self._damages >= _DAMAGES_BEFORE_ANEW:
            self._distrusted = True

    def _set_aside(self, reason: str) -> None:
        """Delete the index, so that it is built anew, unless that was done too lately."""
        if not self._patience.allows:
            return
        self._patience.began()
        log.warning("retrieval_index_built_anew", reason=reason)
        self._distrusted, self._damages, self._contents = False, 0, None
        self.complete.clear()
        self._builder.kill()
        with suppress(OSError):  # the next update tells
            remove(self._index.path)
