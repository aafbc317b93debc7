"""The leader: restores the state, reads and counts verdicts, and publishes the rates.

The worker with the first partition of ``answers`` leads. For a moment two may believe so: the later one
fences the transactions of the earlier one, so only one of them publishes.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

import structlog
from aiokafka import ConsumerRecord
from aiokafka.errors import ProducerFenced

from schemas import Codec, RateAlert, RateWindow
from streams.kafka.schema_topic import create_codec
from streams.kafka.topic_reader import TopicReader, TopicSnapshot, open_reader
from streams.kafka.topics import Topics
from streams.observability.tracing import Tracing
from streams.rates.leader_state import (
    InvalidState,
    LeaderState,
    ResumePoint,
    StateRecords,
    read_late_counts,
    read_state,
    restart_reason,
    resume,
    start_over,
)
from streams.rates.rate_aggregator import AddResult
from streams.rates.rate_metrics import STEPPED_DOWN, UNREADABLE, RateMetrics
from streams.rates.rate_publication import PublicationTraces, RatePublisher, open_rate_publisher
from streams.rates.verdict_counter import UnreadableVerdict, VerdictCounter
from streams.settings import KafkaSettings, Settings

log = structlog.get_logger(__name__)

_MS = 1_000


async def restore_counter(
    settings: Settings,
    codec: Codec,
    reader: TopicReader,
    should_continue: Callable[[], bool],
) -> VerdictCounter | None:
    """Return a counter that resumes where the last leader stopped, and position the reader there.

    None if ``should_continue`` returns False meanwhile. Requires the transactional id. Raises
    KafkaError, ServiceUnreachable, RegistryUnreachable, UnreadableVerdict.
    """
    records = await read_records(settings.kafka, Topics(settings.kafka.topic_prefix).rates_state)
    snapshot, late_counts = await reader.snapshot(), read_late_counts(records)
    state = _state(records, snapshot)
    resume_point = await _resume_point(settings, reader, snapshot, state)
    if resume_point.floor:
        log.warning(
            "rates_begin_late", reason="verdicts are gone or too old", first_window=resume_point.floor
        )
    counter = VerdictCounter(settings, codec, snapshot.identities, resume_point, state, late_counts)
    async for batch in reader.read_between(resume_point.replay_from, resume_point.positions):
        await counter.replay(batch)
        if not should_continue():
            return None
    counter.restore()
    reader.read_from(resume_point.positions)
    return counter


async def read_records(settings: KafkaSettings, topic: str) -> StateRecords:
    """Read the last committed value of each key.

    Requires the transactional id: the uncommitted records of the last leader are aborted by then.
    Raises KafkaError, ServiceUnreachable.
    """
    last = StateRecords()
    async with open_reader(settings, topic) as reader:
        seen = await reader.snapshot()
        async for records in reader.read_between(seen.beginning_offsets, seen.end_offsets):
            last |= {record.key or b"": record.value for record in records}
    return last


def _state(records: StateRecords, snapshot: TopicSnapshot) -> LeaderState | None:
    """Return the state to resume from, None to start over."""
    try:
        state = read_state(records)
        reason = restart_reason(state, snapshot)
    except InvalidState:
        reason = "state_unreadable"
    if reason is None:
        return state
    log.info("rates_start_over", reason=reason)
    return None


async def _resume_point(
    settings: Settings, reader: TopicReader, snapshot: TopicSnapshot, state: LeaderState | None
) -> ResumePoint:
    now = int(snapshot.taken_at * _MS)
    if state:
        return resume(state, snapshot, now)
    longest = max(window.size_seconds for window in settings.rates.windows)
    horizon = now - round((settings.rates.retention_seconds + longest) * _MS)
    return start_over(snapshot, await reader.offsets_since(horizon, snapshot), horizon)


_POLL_SECONDS = 0.2
#: How often the leader checks that the topics are the same, and that verdicts arrive.
_CHECK_SECONDS = 60.0


class TopicsChanged(Exception):
    """A verdict topic has new partitions, or was created again."""


@dataclass(eq=False)
class LeaderTerm:
    """One term of leadership: reads verdicts from the reader's position, counts and publishes.

    Args:
        counter: counts the verdicts.
        reader: reads them.
        publisher: publishes the rates.
        telemetry: the metrics of the rates.
        traces: links publications to the traces of their verdicts.
        clock: seconds since 1970.
    """

    counter: VerdictCounter
    reader: TopicReader
    publisher: RatePublisher
    telemetry: RateMetrics
    traces: PublicationTraces
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self._checked_positions = dict(self.reader.positions)
        self._lag: int | None = None

    async def run(self, interval: float, should_continue: Callable[[], bool]) -> None:
        """Count, and publish every ``interval`` seconds, while ``should_continue`` returns True.

        Raises TopicsChanged, UnreadableVerdict, KafkaError, RegistryUnreachable, ServiceUnreachable,
        TimeoutError.
        """
        self.telemetry.watch(self._watermark_age, lambda: self._lag)
        next_publication, next_check = 0.0, time.monotonic() + _CHECK_SECONDS
        while should_continue():
            await self._read(min(_POLL_SECONDS, interval))
            if time.monotonic() >= next_publication:
                await self.publish()
                next_publication = time.monotonic() + interval
            if time.monotonic() >= next_check:
                await self._check()
                next_check = time.monotonic() + _CHECK_SECONDS

    async def publish(self) -> None:
        """Publish the changes, if any. Raises KafkaError, TimeoutError."""
        if publication := self.counter.take_publication():
            await self.publisher.publish(publication)
        self.telemetry.set_rates(self.counter.closed_windows)
        self.telemetry.set_alerts(self.counter.threshold_states)

    async def _read(self, wait: float) -> None:
        await self.counter.count(await self.reader.poll(wait), self._on_verdict)
        self.counter.advance(self.reader.positions, self.reader.partitions_at_end())
        self.reader.pause_only(self.counter.partitions_ahead())
        self._lag = self.reader.lag  # metrics are read from other threads, which must not use the consumer

    def _on_verdict(self, record: ConsumerRecord, result: AddResult | None) -> None:
        self.telemetry.verdicts.add(result.value if result else UNREADABLE)
        if result in (AddResult.COUNTED, AddResult.LATE):
            self.traces.add_source(tuple((name, value or b"") for name, value in record.headers))

    async def _check(self) -> None:
        seen = await self.reader.snapshot()
        positions = self.reader.positions
        if not seen.is_same(self.counter.identities) or seen.end_offsets.keys() != positions.keys():
            raise TopicsChanged
        if positions == self._checked_positions and any(
            seen.end_offsets[at] > now for at, now in positions.items()
        ):
            raise TimeoutError(f"verdicts do not arrive within {_CHECK_SECONDS:g} s")
        self._checked_positions = dict(positions)

    def _watermark_age(self) -> float | None:
        watermark = self.counter.watermark
        return self.clock() - watermark / _MS if watermark else None


#: How often a worker that does not lead checks whether it does now.
_ELECTION_SECONDS = 0.25
#: A rebalance may revoke partitions and assign them again; the leader continues for this long meanwhile.
_GRACE_SECONDS = 2.0
#: How long the last publication of a stopping worker may take.
_FINAL_PUBLISH_SECONDS = 3.0
#: How long a fetch without records delays a change of partitions.
_FETCH_WAIT_MS = 200
#: A fetch waits that long for this many bytes: one fetch a verdict would cost a millisecond here, and nearly
#: as much in the broker. Rates that are published every few seconds lose nothing by it.
_FETCH_BYTES = 1_048_576
#: The wait after a failure; it doubles with each further one.
_FIRST_RETRY_SECONDS, _MAX_RETRY_SECONDS = 0.5, 30.0


@dataclass(eq=False)
class RateLeader:
    """Counts the verdicts of the deployment while this worker leads.

    A failure ends a term, not the worker: it is counted and logged, and another term follows. So does a
    verdict whose schema is unknown: it is not skipped, and nothing is counted until it can be read.

    Args:
        settings: windows, alerts and Kafka.
        telemetry: the metrics of the rates.
        tracing: traces the publications.
        is_leader: returns whether this worker has the first partition of ``answers`` now.
        stopping: set when the worker stops; an event of the loop that this runs in.
        clock: seconds since 1970.
    """

    settings: Settings
    telemetry: RateMetrics
    tracing: Tracing
    is_leader: Callable[[], bool]
    stopping: asyncio.Event
    clock: Callable[[], float] = time.time
    _led_at: float = field(default=0.0, init=False)
    _pause: float = field(default=_FIRST_RETRY_SECONDS, init=False)

    async def run(self) -> None:
        """Run term after term until the worker stops."""
        self.telemetry.step_down()
        while not self.stopping.is_set():
            if not self.is_leader():
                await self._wait(_ELECTION_SECONDS)
                continue
            began = time.monotonic()
            try:
                await self._lead()
            except asyncio.CancelledError as error:
                if (task := asyncio.current_task()) and task.cancelling():
                    raise
                await self._fail(error, began)  # a Kafka client leaked the cancellation of its own task
            except Exception as error:  # noqa: BLE001 - the worker keeps judging
                await self._fail(error, began)
            finally:
                self.telemetry.step_down()

    async def _fail(self, error: BaseException, began: float) -> None:
        """Report the failure of a term, and wait longer the more terms in a row fail early."""
        if time.monotonic() - began > _MAX_RETRY_SECONDS:
            self._pause = _FIRST_RETRY_SECONDS
        if isinstance(error, TopicsChanged) or (isinstance(error, ProducerFenced) and not self.is_leader()):
            log.info("rates_term_ends", error_type=type(error).__name__)
        elif isinstance(error, UnreadableVerdict):
            self.telemetry.failures.add(STEPPED_DOWN)
            log.error(
                "rates_stepped_down",
                error_type=error.code,
                topic=error.topic,
                partition=error.partition,
                offset=error.offset,
                retry_in=self._pause,
            )
        else:
            self.telemetry.failures.add(type(error).__name__)
            # The message of an exception may quote a record: its class is enough.
            log.warning("rates_failed", error_type=type(error).__name__, retry_in=self._pause)
        self.telemetry.step_down()
        await self._wait(self._pause)
        self._pause = min(2 * self._pause, _MAX_RETRY_SECONDS)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.stopping.wait()

    async def _lead(self) -> None:
        self._led_at = time.monotonic()
        kafka, traces = self.settings.kafka, PublicationTraces(self.settings.kafka, self.tracing)
        # One codec for each term and event loop; without the registry this leader fences nobody.
        codec = create_codec(self.settings)
        await codec.prepare(RateWindow, RateAlert)
        async with AsyncExitStack() as stack:
            # First: from here on the last leader can commit nothing that is not read below.
            opened = open_rate_publisher(self.settings, codec, traces)
            publisher = await stack.enter_async_context(opened)
            verdicts = open_reader(
                kafka,
                *Topics(kafka.topic_prefix).outputs,
                clock=self.clock,
                fetch_min_bytes=_FETCH_BYTES,
                fetch_max_wait_ms=_FETCH_WAIT_MS,
            )
            reader = await stack.enter_async_context(verdicts)
            self.telemetry.leader.set(1)
            counter = await restore_counter(self.settings, codec, reader, self._should_continue)
            if counter is None:
                return
            log.info("rates_term_begins")
            term = LeaderTerm(counter, reader, publisher, self.telemetry, traces, self.clock)
            await term.run(self.settings.rates.publish_interval_seconds, self._should_continue)
            if self.stopping.is_set():
                async with asyncio.timeout(_FINAL_PUBLISH_SECONDS):
                    await term.publish()
            log.info("rates_term_ends", error_type=None)

    def _should_continue(self) -> bool:
        """Return whether to continue; False when stopping, and some time after leadership is lost."""
        if self.is_leader():
            self._led_at = time.monotonic()
        return not self.stopping.is_set() and time.monotonic() - self._led_at < _GRACE_SECONDS
