"""The leader: restores the state, reads verdicts, counts and publishes.

The worker that has the first partition of ``answers`` leads. Two may believe so for a moment: the later one
fences the earlier one's transactions, so only one of them publishes.
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
from streams.rates.rate_metrics import UNREADABLE, RateMetrics
from streams.rates.rate_publication import PublicationTraces, RatePublisher, open_rate_publisher
from streams.rates.verdict_counter import VerdictCounter
from streams.settings import KafkaSettings, Settings

log = structlog.get_logger(__name__)

_MS = 1_000


async def restore_counter(
    settings: Settings,
    codec: Codec,
    reader: TopicReader,
    should_continue: Callable[[], bool],
) -> VerdictCounter | None:
    """Make a counting that goes on where the last one was, and position the reader there.

    None when ``goes_on`` says no in between. To be called by the holder of the transactional id. Raises
    KafkaError, ServiceUnreachable, RegistryUnreachable.
    """
    records = await read_records(settings.kafka, Topics(settings.kafka.topic_prefix).rates_state)
    seen, lates = await reader.snapshot(), read_late_counts(records)
    state = _state(records, seen)
    begin = await _begin(settings, reader, seen, state)
    if begin.floor:
        log.warning("rates_begin_late", reason="verdicts are gone or too old", first_window=begin.floor)
    counting = VerdictCounter(settings, codec, seen.identities, begin, state, lates)
    async for batch in reader.read_between(begin.replay_from, begin.positions):
        await counting.replay(batch)
        if not should_continue():
            return None
    counting.restore()
    reader.read_from(begin.positions)
    return counting


async def read_records(settings: KafkaSettings, topic: str) -> StateRecords:
    """Read the last committed value of each key.

    To be called by the holder of the transactional id: what its predecessor did not commit is
    aborted by then. Raises KafkaError, ServiceUnreachable.
    """
    last = StateRecords()
    async with open_reader(settings, topic) as reader:
        seen = await reader.snapshot()
        async for records in reader.read_between(seen.beginning_offsets, seen.end_offsets):
            last |= {record.key or b"": record.value for record in records}
    return last


def _state(records: StateRecords, seen: TopicSnapshot) -> LeaderState | None:
    """Give the state to go on from, None to start over."""
    try:
        state = read_state(records)
        reason = restart_reason(state, seen)
    except InvalidState:
        reason = "state_unreadable"
    if reason is None:
        return state
    log.info("rates_start_over", reason=reason)
    return None


async def _begin(
    settings: Settings, reader: TopicReader, seen: TopicSnapshot, state: LeaderState | None
) -> ResumePoint:
    now = int(seen.taken_at * _MS)
    if state:
        return resume(state, seen, now)
    longest = max(window.size_seconds for window in settings.rates.windows)
    horizon = now - round((settings.rates.retention_seconds + longest) * _MS)
    return start_over(seen, await reader.offsets_since(horizon, seen), horizon)


_POLL_SECONDS = 0.2
#: How often it is looked at whether the topics are still the same, and verdicts arrive.
_LOOK_SECONDS = 60.0


class TopicsChanged(Exception):
    """A verdict topic has more partitions than before, or is another one."""


@dataclass(eq=False)
class LeaderTerm:
    """Reads on from where the reader stands.

    Args:
        counting: takes the verdicts in.
        reader: gives them.
        publisher: takes what comes of them.
        telemetry: is told what becomes of each.
        traces: is told whose verdicts are counted.
        clock: seconds since 1970.
    """

    counter: VerdictCounter
    reader: TopicReader
    publisher: RatePublisher
    telemetry: RateMetrics
    traces: PublicationTraces
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self._positions_at_look = dict(self.reader.positions)
        self._lag: int | None = None

    async def run(self, interval: float, should_continue: Callable[[], bool]) -> None:
        """Count, and publish every ``interval`` seconds, while ``goes_on`` says so.

        Raises TopicsChanged, KafkaError, RegistryUnreachable, ServiceUnreachable, TimeoutError.
        """
        self.telemetry.watch(self._watermark_age, lambda: self._lag)
        next_publication, next_look = 0.0, time.monotonic() + _LOOK_SECONDS
        while should_continue():
            await self._read(min(_POLL_SECONDS, interval))
            if time.monotonic() >= next_publication:
                await self.publish()
                next_publication = time.monotonic() + interval
            if time.monotonic() >= next_look:
                await self._look()
                next_look = time.monotonic() + _LOOK_SECONDS

    async def publish(self) -> None:
        """Publish what has changed, if anything has. Raises KafkaError, TimeoutError."""
        if publication := self.counter.take_publication():
            await self.publisher.publish(publication)
        self.telemetry.set_rates(self.counter.closed_windows)
        self.telemetry.set_alerts(self.counter.threshold_states)

    async def _read(self, wait: float) -> None:
        await self.counter.count(await self.reader.poll(wait), self._note)
        self.counter.advance(self.reader.positions, self.reader.partitions_at_end())
        self.reader.pause_only(self.counter.partitions_ahead())
        self._lag = self.reader.lag  # shown from other threads, which must not ask the consumer

    def _note(self, record: ConsumerRecord, taken: AddResult | None) -> None:
        self.telemetry.verdicts.add(taken.value if taken else UNREADABLE)
        if taken in (AddResult.COUNTED, AddResult.LATE):
            self.traces.add_source(tuple((name, value or b"") for name, value in record.headers))

    async def _look(self) -> None:
        seen = await self.reader.snapshot()
        positions = self.reader.positions
        if not seen.is_same(self.counter.identities) or seen.end_offsets.keys() != positions.keys():
            raise TopicsChanged
        if positions == self._positions_at_look and any(
            seen.end_offsets[at] > now for at, now in positions.items()
        ):
            raise TimeoutError(f"verdicts do not arrive within {_LOOK_SECONDS:g} s")
        self._positions_at_look = dict(positions)

    def _watermark_age(self) -> float | None:
        watermark = self.counter.watermark
        return self.clock() - watermark / _MS if watermark else None


#: How often it is looked at whether this worker leads.
_ELECTION_SECONDS = 0.25
#: A rebalance takes partitions away and gives them back; a leader goes on for so long meanwhile.
_GRACE_SECONDS = 2.0
#: How long the last publication of a worker that is asked to stop may take.
_FINAL_PUBLISH_SECONDS = 3.0
#: A fetch that finds nothing holds up a change of partitions for so long.
_FETCH_WAIT_MS = 200
#: A fetch waits that long for so much: one for each verdict would cost a millisecond an answer here, and
#: nearly as much in the broker. A rate that is published every few seconds loses nothing.
_FETCH_BYTES = 1_048_576
#: How long to wait after a failure; twice as long after each further one.
_FIRST_RETRY_SECONDS, _MAX_RETRY_SECONDS = 0.5, 30.0


@dataclass(eq=False)
class RateLeader:
    """Counts the verdicts of the deployment while this worker leads, and waits while it does not.

    Whatever fails ends one turn, not the worker: it is counted, logged, and followed by another turn.

    Args:
        settings: what is counted, and where.
        telemetry: what is told.
        tracing: what the publications are traced by.
        leads: says whether this worker has the first partition of ``answers`` now.
        stopping: set when the worker is to end, of the event loop that it runs in.
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
        """Take turn after turn until the worker stops."""
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
                await self._fail(
                    error, began
                )  # a client of Kafka let out what was meant for a task of its own
            except Exception as error:  # noqa: BLE001 - whatever it is, answers are judged all the same
                await self._fail(error, began)
            finally:
                self.telemetry.step_down()

    async def _fail(self, error: BaseException, began: float) -> None:
        """Tell of a turn's failure and rest, the longer the more turns in a row fail early."""
        if time.monotonic() - began > _MAX_RETRY_SECONDS:
            self._pause = _FIRST_RETRY_SECONDS
        if isinstance(error, TopicsChanged) or (isinstance(error, ProducerFenced) and not self.is_leader()):
            log.info("rates_turn_ends", error_type=type(error).__name__)
        else:
            self.telemetry.failures.add(type(error).__name__)
            # The text of an exception may quote a record: its class is enough.
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
        # One for each turn and event loop; a leader that lacks the registry fences nobody.
        codec = Codec(self.settings.encoding.schema_registry_url, self.settings.encoding.json_input)
        await codec.prepare(RateWindow, RateAlert)
        async with AsyncExitStack() as stack:
            # First of all: from here on the one before can commit nothing that is not read below.
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
            counting = await restore_counter(self.settings, codec, reader, self._should_continue)
            if counting is None:
                return
            log.info("rates_lead")
            turn = LeaderTerm(counting, reader, publisher, self.telemetry, traces, self.clock)
            await turn.run(self.settings.rates.publish_interval_seconds, self._should_continue)
            if self.stopping.is_set():
                async with asyncio.timeout(_FINAL_PUBLISH_SECONDS):
                    await turn.publish()

    def _should_continue(self) -> bool:
        """Say whether to go on; false when stopping, and some time after another worker leads."""
        if self.is_leader():
            self._led_at = time.monotonic()
        return not self.stopping.is_set() and time.monotonic() - self._led_at < _GRACE_SECONDS
