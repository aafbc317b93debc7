"""The follower of the documents topic: it updates the local store and lets answers wait for a document."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Final

import structlog
from aiokafka import ConsumerRecord
from aiokafka.errors import KafkaError, UnknownTopicOrPartitionError

from schemas import Codec, KnowledgeDocument, RegistryUnreachable
from streams.documents.page_folder import is_language_tag
from streams.documents.store import DocumentStore, rebuild_reason
from streams.documents.versions import BadDocument, VersionedDocument, read_changes
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topic_reader import Offsets, TopicReader, TopicSnapshot, open_reader
from streams.kafka.topics import Topics
from streams.observability.failures import InfrastructureFailure, exit_code, loggable_reason
from streams.settings import Settings

_ABSENT_SECONDS: Final = 60.0
_MAX_ABSENT: Final = 10_000


class DocumentWaiters:
    """Answers that wait for documents. For one event loop, not for threads.

    A document that did not arrive while an answer waited is remembered as absent for a minute, unless it
    arrives: the next answers do not wait for it. So many answers with a wrong id do not slow down the others.

    Args:
        most: how many answers may wait at once; further ones do not wait.
    """

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._waits = 0
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._absent: dict[str, float] = {}  # until when, oldest first

    def __len__(self) -> int:
        return len(self._waiting)

    async def wait(self, document_ids: Iterable[str], seconds: float) -> None:
        """Return when all of the documents have arrived, or after a timeout in ``seconds``."""
        loop = asyncio.get_running_loop()
        expected = [each for each in dict.fromkeys(document_ids) if self._absent.get(each, 0) <= loop.time()]
        if not expected or self._waits >= self._most:
            return
        futures = {document_id: loop.create_future() for document_id in expected}
        for document_id, future in futures.items():
            self._waiting.setdefault(document_id, set()).add(future)
        self._waits += 1
        try:
            _, late = await asyncio.wait(futures.values(), timeout=seconds)
            for document_id, future in futures.items():
                if future in late:
                    self._remember_absent(document_id, loop.time() + _ABSENT_SECONDS)
        finally:
            self._waits -= 1
            for document_id, future in futures.items():
                self._waiting[document_id].discard(future)
                if not self._waiting[document_id]:
                    del self._waiting[document_id]

    def notify(self, document_ids: Iterable[str]) -> None:
        """Wake the waiters of these documents."""
        for document_id in document_ids:
            self._absent.pop(document_id, None)
            for future in self._waiting.get(document_id, ()):
                if not future.done():
                    future.set_result(None)

    def _remember_absent(self, document_id: str, until: float) -> None:
        self._absent.pop(document_id, None)
        if len(self._absent) >= _MAX_ABSENT:
            del self._absent[next(iter(self._absent))]
        self._absent[document_id] = until


POLL_SECONDS = 0.25
BATCH = 500  # records in one transaction: tens of milliseconds of work
PRUNE_BATCH = 500  # superseded versions deleted in one transaction
#: The minimum time for which a superseded version is stored, for answers from before it was superseded; at
#: least the retention of answers.
HISTORY_DAYS = 30
#: An older store is rebuilt: the topic keeps tombstones (delete.retention.ms) for four hours longer, so a
#: younger store misses none.
MAX_STORE_AGE_SECONDS = 20 * 3_600.0
CHECK_INTERVAL_SECONDS = 60.0  # the delay until added partitions or a replaced topic are detected
MAX_FAILED_CHECKS = 3  # consecutive checks that find the topic unknown, or records that do not arrive

OnBadDocument = Callable[[BadDocument], Awaitable[None]]

log = structlog.get_logger(__name__)


class DocumentsLost(InfrastructureFailure):
    """The documents topic cannot be followed; a restart repairs it or reports the reason."""


class DocumentFollower:
    """Keeps a store equal to the documents topic, with its own consumer and no consumer group.

    Every worker reads all partitions, from the offsets in the store, or from the beginning if
    :func:`rebuild_reason` returns a reason.

    Args:
        store: used by this follower alone; it stays open when the follower stops.
        codec: decodes the values.
        settings: ``kafka`` for the connection, ``documents`` for the limits.
        on_bad_document: awaited for each record without a usable document before its offset is stored, so it
            may be called again for the same record; its failure ends the follower.
        clock: seconds since 1970.
        check_interval: seconds between two checks of the topic's identity, partitions and end offsets.

    Attributes:
        caught_up: set when everything that the topic had at the start is in the store.
        records_read: the number of records read since the start.
        bad_documents: the number of those without a usable document.
    """

    def __init__(
        self,
        store: DocumentStore,
        codec: Codec,
        settings: Settings,
        *,
        on_bad_document: OnBadDocument | None = None,
        clock: Callable[[], float] = time.time,
        check_interval: float = CHECK_INTERVAL_SECONDS,
    ) -> None:
        self.caught_up = asyncio.Event()
        self.records_read = 0
        self.bad_documents = 0
        self._store = store
        self._codec = codec
        self._settings = settings
        self._topic = Topics(settings.kafka.topic_prefix).documents
        self._max_age = MAX_STORE_AGE_SECONDS
        self._history = max(HISTORY_DAYS, settings.topics.retention_days) * 86_400
        self._on_bad_document = on_bad_document
        self._clock = clock
        self._check_interval = check_interval
        self._waiters = DocumentWaiters(max(1, settings.flow.max_in_flight // 4))  # the others go on
        self._reader: TopicReader | None = None
        self._connections = AsyncExitStack()
        self._task: asyncio.Task[None] | None = None
        self._failure: asyncio.Queue[InfrastructureFailure] = asyncio.Queue(maxsize=1)
        self._positions: Offsets = {}
        self._positions_at_check: Offsets = {}
        self._target: TopicSnapshot | None = None
        self._failed_checks = 0

    async def start(self) -> None:
        """Connect, choose the offsets to read from, and start following.

        Raises:
            ServiceUnreachable: no broker answers within ``kafka.connect_timeout_seconds``.
            DocumentsLost: a broker answers, but the topic cannot be read.
            StoreFailed: the store cannot be written.
        """
        async with AsyncExitStack() as stack:
            reader = await stack.enter_async_context(
                open_reader(self._settings.kafka, self._topic, clock=self._clock)
            )
            try:
                seen = await reader.snapshot()
            except (KafkaError, ServiceUnreachable) as error:
                raise DocumentsLost(_unreadable(self._topic, error)) from error
            await self._resume(reader, seen)
            self._reader = reader
            self._task = asyncio.create_task(self._run(reader), name="documents-follower")
            self._connections = stack.pop_all()

    async def stop(self) -> None:
        """Stop following; the store keeps its documents. May be called twice, or before a start."""
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._reader = None
        await self._connections.aclose()

    async def wait_failed(self) -> InfrastructureFailure:
        """Wait until following fails, and return the failure. It does not restart."""
        failure = await self._failure.get()
        self._failure.put_nowait(failure)  # for the next caller
        return failure

    async def wait_for(
        self, document_ids: Collection[str], produced_at: datetime, seconds: float
    ) -> Mapping[str, VersionedDocument]:
        """Return the documents that are available within ``seconds``, by id.

        Each is the version in force at ``produced_at``, or the oldest stored one if none is that old. A
        document that was deleted by then is missing, and is waited for only while unread records may restore
        it; one that others waited for in vain, or when too many wait, is not waited for.
        """
        found = self._look_up(document_ids, produced_at)
        missing = [document_id for document_id in document_ids if document_id not in found]
        if not self.lag:
            missing = [each for each in missing if not self._store.was_deleted(each, produced_at)]
        if not missing:
            return found
        await self._waiters.wait(missing, seconds)
        return found | self._look_up(missing, produced_at)

    def get_version(self, document_id: str, version: str, produced_at: datetime) -> KnowledgeDocument | None:
        """Return a version of a document if it is current, or was in force at ``produced_at``."""
        current = self._store.get(document_id)
        if current and current.version == version:
            return current.document
        in_force = self._store.version_at(document_id, produced_at)
        return in_force.document if in_force and in_force.version == version else None

    def current(self, document_id: str) -> VersionedDocument | None:
        """Return the current version of a document, or None if there is none."""
        return self._store.get(document_id)

    @property
    def documents(self) -> int:
        """The number of documents in the store."""
        return len(self._store)

    @property
    def is_stale(self) -> bool:
        """Whether the copy was last complete longer than ``documents.stale_after_seconds`` ago.

        Each check that finds nothing unread confirms it, so an idle topic does not make the copy stale. It is
        stale before ``caught_up``.
        """
        # A clock that went back proves nothing about the age.
        fresh = 0 <= self._store.age <= self._settings.documents.stale_after_seconds
        return not (self.caught_up.is_set() and fresh)

    @property
    def lag(self) -> int:
        """The number of unread offsets, as far as the brokers have reported."""
        known = self._reader.known_end_offsets() if self._reader else {}
        ends = {**(self._target.end_offsets if self._target else {}), **known}
        return sum(max(0, end - self._positions.get(at, 0)) for at, end in ends.items())

    def _look_up(self, document_ids: Collection[str], produced_at: datetime) -> dict[str, VersionedDocument]:
        stored = ((key, self._store.version_at(key, produced_at)) for key in document_ids)
        return {key: found for key, found in stored if found}

    async def _resume(self, reader: TopicReader, seen: TopicSnapshot) -> None:
        if reason := rebuild_reason(self._store, seen, self._max_age, self._codec.reader_id):
            log.info("documents_store_rebuilt", reason=reason, topic=self._topic)
            await asyncio.to_thread(self._store.reset, seen.identities[0])
        self._target = seen
        self._resume_reading(reader, seen)

    def _resume_reading(self, reader: TopicReader, seen: TopicSnapshot) -> None:
        left = self._store.next_offsets
        self._positions = {at: left.get(at.partition, begin) for at, begin in seen.beginning_offsets.items()}
        reader.read_from(self._positions)

    async def _run(self, reader: TopicReader) -> None:
        try:
            await self._follow(reader)
        except InfrastructureFailure as failure:
            self._fail(failure)
        except RegistryUnreachable as error:
            self._fail(DocumentsLost(str(error)))
        except (KafkaError, ServiceUnreachable) as error:
            self._fail(DocumentsLost(_unreadable(self._topic, error)))
        except Exception as error:  # noqa: BLE001 - any failure must reach the worker
            lost = DocumentsLost(f"following {self._topic} ended: {loggable_reason(error)}", exit_code(error))
            lost.__cause__ = error
            self._fail(lost)

    def _fail(self, failure: InfrastructureFailure) -> None:
        log.error("documents_follower_failed", reason=str(failure))
        self._failure.put_nowait(failure)

    async def _follow(self, reader: TopicReader) -> None:
        next_check = time.monotonic() + self._check_interval
        pruning = True
        while True:
            records = await reader.poll(POLL_SECONDS, BATCH)
            if reader.positions != self._positions:
                await self._apply(records, reader.positions)
            if self._target and self._target.is_reached_by(self._positions):
                await asyncio.to_thread(self._store.mark_complete, self._target.taken_at)
                self._target = None
                self.caught_up.set()
            # At most one pruned batch between two batches of records, so neither delays the other for long.
            pruning = (
                pruning
                and await asyncio.to_thread(self._store.prune, self._history, PRUNE_BATCH) == PRUNE_BATCH
            )
            if time.monotonic() >= next_check:
                await self._check_topic(reader)
                next_check, pruning = time.monotonic() + self._check_interval, True

    async def _apply(self, records: Sequence[ConsumerRecord], positions: Offsets) -> None:
        for record in records:
            await self._codec.lookup(record.value)
        # In a thread: a slow disk must not block the event loop.
        changes, bad = await asyncio.to_thread(read_changes, records, self._codec)
        for change in changes:
            if change.document and not is_language_tag(change.document.language):
                # It counts as a document of unknown language, which no search prefers.
                log.warning("document_language_unknown", partition=change.partition, offset=change.offset)
        # Concurrently, and all to completion: none is left running when one fails.
        reports = await asyncio.gather(*map(self._report, bad), return_exceptions=True)
        for failure in filter(None, reports):
            raise failure
        offsets = {at.partition: offset for at, offset in positions.items()}
        arrived = await asyncio.to_thread(self._store.apply, changes, offsets)
        self._positions = positions
        self.records_read += len(records)
        self._waiters.notify(arrived)

    async def _report(self, bad: BadDocument) -> None:
        self.bad_documents += 1
        # The key may hold anything that a publisher put there by mistake: the position is enough to find the
        # record.
        at = bad.received
        log.warning(
            "bad_document", error_type=bad.reason.error_class, partition=at.partition, offset=at.offset
        )
        if self._on_bad_document:
            await self._on_bad_document(bad)

    async def _check_topic(self, reader: TopicReader) -> None:
        try:
            seen = await reader.snapshot()
        except UnknownTopicOrPartitionError:
            self._count_failed_check("is unknown to the cluster")
        except (KafkaError, ServiceUnreachable) as error:
            self._tolerate_outage(error)
        else:
            self._compare(reader, seen)

    def _tolerate_outage(self, error: Exception) -> None:
        """Tolerate an outage until tombstones may be missed. aiokafka reconnects by itself."""
        if isinstance(error, KafkaError) and not error.retriable:
            raise error
        log.warning("documents_topic_unreachable", topic=self._topic, error_type=type(error).__name__)
        if self._store.age > self._max_age:
            raise DocumentsLost(
                f"topic {self._topic} was unreachable for {MAX_STORE_AGE_SECONDS / 3600:g} hours"
            )

    def _compare(self, reader: TopicReader, seen: TopicSnapshot) -> None:
        origin = self._store.origin
        if not (origin and seen.is_same((origin,))):
            raise DocumentsLost(f"topic {self._topic} was replaced by another of that name")
        if self._target and self._positions == self._positions_at_check:
            self._count_failed_check("has records that do not arrive")
        else:
            self._failed_checks = 0
        self._positions_at_check = self._positions
        self._target = self._target or seen
        if seen.end_offsets.keys() - self._positions.keys():
            self._resume_reading(reader, seen)

    def _count_failed_check(self, problem: str) -> None:
        self._failed_checks += 1
        if self._failed_checks >= MAX_FAILED_CHECKS:
            raise DocumentsLost(f"topic {self._topic} {problem}")


def _unreadable(topic: str, error: Exception) -> str:
    if isinstance(error, UnknownTopicOrPartitionError):
        return f"topic {topic} does not exist; `truthgate topics create` creates it"
    return f"topic {topic} cannot be read: {type(error).__name__}"
