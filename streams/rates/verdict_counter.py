"""Counts the verdicts that a leader reads, and prepares publications."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable

import structlog
from aiokafka import ConsumerRecord, TopicPartition

from schemas import Codec, DecodeError
from schemas.catalogue import VERDICT_OUTCOME
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import Offsets, partition_of
from streams.rates.alert_thresholds import ThresholdState, evaluate_alerts
from streams.rates.leader_state import LateCounts, LeaderState, PartitionState, ResumePoint, state_records
from streams.rates.rate_aggregator import AddResult, RateAggregator
from streams.rates.rate_publication import Publication
from streams.rates.verdict_counts import ClosedWindow, VerdictEvent, verdict_event
from streams.rates.watermark import WatermarkTracker
from streams.rates.windows import window_config
from streams.settings import Settings

log = structlog.get_logger(__name__)

#: The event loop also fetches and sends: counting blocks it for this long at most.
_SLICE_SECONDS = 0.005
_MS = 1_000

#: Another release, or another configuration, can read these: whoever skipped them would count wrong.
_UNKNOWN_SCHEMA = frozenset(
    {
        "unknown_fingerprint",
        "unknown_schema_id",
        "incompatible_schema",
        "schema_registry_not_configured",
    }
)


class UnreadableVerdict(Exception):
    """A verdict with a schema that this worker cannot read; ``code`` is that of the DecodeError."""

    def __init__(self, code: str, record: ConsumerRecord) -> None:
        super().__init__(code)
        self.code = code
        self.topic, self.partition, self.offset = record.topic, record.partition, record.offset


#: Called for each new verdict with its record and the result; None for an unreadable one.
OnVerdict = Callable[[ConsumerRecord, AddResult | None], None]


class ReplayOffsets:
    """The first offset in each partition by horizon, of which there are few.

    A horizon is how long a verdict matters: until the aggregator's ``kept_from`` reaches it.
    """

    def __init__(self) -> None:
        self._firsts: dict[int, dict[TopicPartition, int]] = {}

    def note(self, at: TopicPartition, offset: int, horizon: int) -> None:
        """Add a verdict; those of a partition come in the order of their offsets."""
        self._firsts.setdefault(horizon, {}).setdefault(at, offset)

    def offsets(self, kept_from: int, positions: Offsets) -> dict[TopicPartition, int]:
        """Return the offsets to replay from; the position itself if no verdict before it matters.

        Horizons at or before ``kept_from`` are dropped: it may only grow from call to call.
        """
        self._firsts = {horizon: firsts for horizon, firsts in self._firsts.items() if horizon > kept_from}
        return {
            at: min((firsts[at] for firsts in self._firsts.values() if at in firsts), default=position)
            for at, position in positions.items()
        }


class VerdictCounter:
    """Counts verdicts, resuming where the last leader stopped, or from the beginning.

    Args:
        settings: windows and thresholds.
        codec: reads the values.
        identities: the topics that are read.
        resume_point: where to resume.
        state: that of the last leader; None to start over.
        late_counts: those in the state topic, also when starting over.
        ticks: monotonic seconds.

    Attributes:
        closed_windows: the newest closed windows at the last publication.
        threshold_states: the thresholds compared with them.
    """

    def __init__(
        self,
        settings: Settings,
        codec: Codec,
        identities: tuple[TopicIdentity, ...],
        resume_point: ResumePoint,
        state: LeaderState | None,
        late_counts: LateCounts,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.identities = identities
        self.closed_windows: tuple[ClosedWindow, ...] = ()
        self.threshold_states: tuple[ThresholdState, ...] = ()
        self._settings = settings
        self._codec = codec
        self._state = state
        self._longest_window = max(window.size_seconds for window in settings.rates.windows) * _MS
        self._aggregator = RateAggregator(window_config(settings.rates), resume_point.floor)
        partitions = state.by_partition if state else {}
        self._watermarks = WatermarkTracker(
            resume_point.positions,
            round(settings.rates.idle_after_seconds * _MS),
            self._longest_window,
            lambda: int(ticks() * _MS),
            state.aggregator.watermark if state else 0,
            {at: now.seen for at, now in partitions.items() if now.seen is not None},
        )
        self._replay_offsets = ReplayOffsets()
        self._positions = dict(resume_point.positions)
        self._firing = state.firing if state else ()
        self._committed = None if state is None else self._positions
        self._late_counts = dict(late_counts)
        self._logged_errors: set[str] = set()

    async def replay(self, records: Iterable[ConsumerRecord]) -> None:
        """Replay verdicts that were counted before; raises UnreadableVerdict."""
        async for record in _in_slices(records):
            if event := await self._read(record):
                self._watermarks.observe_append_time(record.timestamp)
                self._add(record, event)

    def restore(self) -> None:
        """Restore the state of the last leader, after the replay."""
        if self._state:
            self._aggregator.restore(self._state.aggregator, self._late_counts)

    async def count(self, records: Iterable[ConsumerRecord], on_verdict: OnVerdict) -> None:
        """Count new verdicts; raises UnreadableVerdict at one that another worker may be able to count."""
        async for record in _in_slices(records):
            event = await self._read(record)
            result = self._add(record, event) if event else None
            if event:
                self._watermarks.observe_append_time(record.timestamp)
                self._watermarks.observe(partition_of(record), event.event_time)
            on_verdict(record, result)

    def advance(self, positions: Offsets, at_end: Collection[TopicPartition]) -> None:
        """Set the positions and the partitions that are at their end, and advance the watermark."""
        self._positions = dict(positions)
        for at in positions:
            self._watermarks.set_at_end(at, at in at_end)
        self._aggregator.advance(self._watermarks.current(), self._watermarks.event_watermark)

    def partitions_ahead(self) -> frozenset[TopicPartition]:
        """Return the partitions that are far ahead of others; reading on would fill the memory."""
        return frozenset(
            TopicPartition(*at) for at in self._watermarks.partitions_ahead(self._longest_window)
        )

    def take_publication(self) -> Publication | None:
        """Return the next publication, or None if nothing has changed since the last one.

        It must be published before the next one is taken: each change is returned once.
        """
        windows = self._aggregator.take_changes()
        self.closed_windows = self._aggregator.closed_windows()
        evaluation = evaluate_alerts(self._settings.alerts.thresholds, self.closed_windows, self._firing)
        self._firing, self.threshold_states = evaluation.firing, evaluation.states
        if not windows and not evaluation.changes and self._positions == self._committed:
            return None
        late_counts = self._aggregator.late_counts()
        records = tuple(state_records(self._leader_state(), late_counts, self._late_counts))
        self._committed, self._late_counts = self._positions, late_counts
        return Publication(windows, evaluation.changes, records)

    @property
    def watermark(self) -> int:
        """The time up to which windows are closed, in milliseconds since 1970; 0 before the first."""
        return self._aggregator.watermark

    async def _read(self, record: ConsumerRecord) -> VerdictEvent | None:
        try:
            await self._codec.lookup(record.value)
            return verdict_event(
                self._codec.decode_projection(record.value, VERDICT_OUTCOME), record.timestamp
            )
        except DecodeError as error:
            if error.code in _UNKNOWN_SCHEMA:
                raise UnreadableVerdict(error.code, record) from error
            # Only the first of each kind: another writer may fill the topic.
            if error.code not in self._logged_errors:
                self._logged_errors.add(error.code)
                log.warning(
                    "unreadable_verdict",
                    error_type=error.code,
                    topic=record.topic,
                    partition=record.partition,
                    offset=record.offset,
                )
            return None

    def _add(self, record: ConsumerRecord, event: VerdictEvent) -> AddResult:
        # Also for a verdict outside all windows: its id may be remembered.
        self._replay_offsets.note(partition_of(record), record.offset, self._aggregator.horizon(event))
        return self._aggregator.add(event)

    def _leader_state(self) -> LeaderState:
        aggregator, event_times = self._aggregator.state(), self._watermarks.event_times
        replay_from = self._replay_offsets.offsets(aggregator.kept_from, self._positions)
        partitions: dict[str, list[PartitionState]] = {}
        for at, position in sorted(self._positions.items()):
            partition = PartitionState(at.partition, position, replay_from[at], event_times.get(at))
            partitions.setdefault(at.topic, []).append(partition)
        return LeaderState(
            origins=self.identities, partitions=partitions, aggregator=aggregator, firing=self._firing
        )


async def _in_slices(records: Iterable[ConsumerRecord]) -> AsyncIterator[ConsumerRecord]:
    """Yield the records, and yield to the event loop in between."""
    began = time.monotonic()
    for record in records:
        yield record
        if time.monotonic() - began > _SLICE_SECONDS:
            await asyncio.sleep(0)
            began = time.monotonic()
