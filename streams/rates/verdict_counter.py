"""The verdicts that a leader reads, counted: what is to be published of them, and what to show."""

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

#: The event loop fetches and sends too: counting keeps it for so long at most.
_SLICE_SECONDS = 0.005
_MS = 1_000

#: Told of each verdict that is new: its record, and what became of it; None for one that cannot be read.
OnVerdict = Callable[[ConsumerRecord, AddResult | None], None]


class ReplayOffsets:
    """Remembers of each horizon, of which there are few, the first offset in each partition.

    A horizon says how long a verdict matters: until the aggregator's ``kept_from`` has come to it.
    """

    def __init__(self) -> None:
        self._firsts: dict[int, dict[TopicPartition, int]] = {}

    def note(self, at: TopicPartition, offset: int, horizon: int) -> None:
        """Note a verdict; those of a partition come in the order of their offsets."""
        self._firsts.setdefault(horizon, {}).setdefault(at, offset)

    def offsets(self, kept_from: int, positions: Offsets) -> dict[TopicPartition, int]:
        """Give the offsets to replay from; the position itself where nothing before it matters any more.

        Horizons at or before ``kept_from`` are forgotten: it may only grow from call to call.
        """
        self._firsts = {horizon: firsts for horizon, firsts in self._firsts.items() if horizon > kept_from}
        return {
            at: min((firsts[at] for firsts in self._firsts.values() if at in firsts), default=position)
            for at, position in positions.items()
        }


class VerdictCounter:
    """Counts verdicts on from where another one was, or from the beginning.

    Args:
        settings: windows and thresholds.
        codec: reads the values.
        origins: which topics are read.
        begin: where to go on.
        state: what was left; None to start over.
        lates: what the state topic has of them, whatever becomes of it.
        ticks: seconds that only go forward.

    Attributes:
        closed: the newest closed windows when something was last to be published.
        threshold_states: how the thresholds stood to them.
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
        self._longest = max(window.size_seconds for window in settings.rates.windows) * _MS
        self._aggregator = RateAggregator(window_config(settings.rates), resume_point.floor)
        places = state.by_partition if state else {}
        self._watermarks = WatermarkTracker(
            resume_point.positions,
            round(settings.rates.idle_after_seconds * _MS),
            self._longest,
            lambda: int(ticks() * _MS),
            state.boundaries.watermark if state else 0,
            {at: now.seen for at, now in places.items() if now.seen is not None},
        )
        self._starts = ReplayOffsets()
        self._positions = dict(resume_point.positions)
        self._firing = state.firing if state else ()
        self._committed = None if state is None else self._positions
        self._lates = dict(late_counts)
        self._refused: set[str] = set()

    async def replay(self, records: Iterable[ConsumerRecord]) -> None:
        """Take in again what was counted before."""
        async for record in _in_slices(records):
            if outcome := await self._read(record):
                self._watermarks.observe_append_time(record.timestamp)
                self._add(record, outcome)

    def restore(self) -> None:
        """Go on as if never interrupted, once all is replayed."""
        if self._state:
            self._aggregator.restore(self._state.boundaries, self._lates)

    async def count(self, records: Iterable[ConsumerRecord], on_verdict: OnVerdict) -> None:
        """Take in what is new."""
        async for record in _in_slices(records):
            outcome = await self._read(record)
            taken = self._add(record, outcome) if outcome else None
            if outcome:
                self._watermarks.observe_append_time(record.timestamp)
                self._watermarks.observe(partition_of(record), outcome.event_time)
            on_verdict(record, taken)

    def advance(self, positions: Offsets, at_end: Collection[TopicPartition]) -> None:
        """Note up to where all that was read is taken in, and which partitions have no more; move time on."""
        self._positions = dict(positions)
        for at in positions:
            self._watermarks.set_at_end(at, at in at_end)
        self._aggregator.advance(self._watermarks.current(), self._watermarks.event_watermark)

    def partitions_ahead(self) -> frozenset[TopicPartition]:
        """Give the partitions that are far ahead of others, which would fill the memory."""
        return frozenset(TopicPartition(*at) for at in self._watermarks.partitions_ahead(self._longest))

    def take_publication(self) -> Publication | None:
        """Give what is to be published, or None where nothing has come since the last one.

        It must be published before the next one, or nothing more: what changed is told once.
        """
        windows = self._aggregator.take_changes()
        self.closed_windows = self._aggregator.closed_windows()
        evaluation = evaluate_alerts(self._settings.alerts.thresholds, self.closed_windows, self._firing)
        self._firing, self.threshold_states = evaluation.firing, evaluation.states
        if not windows and not evaluation.changes and self._positions == self._committed:
            return None
        lates = self._aggregator.late_counts()
        records = tuple(state_records(self._leader_state(), lates, self._lates))
        self._committed, self._lates = self._positions, lates
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
            # The first of each kind alone: somebody else writes into the topic, perhaps a lot.
            if error.code not in self._refused:
                self._refused.add(error.code)
                log.warning(
                    "unreadable_verdict",
                    error_type=error.code,
                    topic=record.topic,
                    partition=record.partition,
                    offset=record.offset,
                )
            return None

    def _add(self, record: ConsumerRecord, outcome: VerdictEvent) -> AddResult:
        # Also of one that is in no window: its id may be remembered.
        self._starts.note(partition_of(record), record.offset, self._aggregator.horizon(outcome))
        return self._aggregator.add(outcome)

    def _leader_state(self) -> LeaderState:
        boundaries, seen = self._aggregator.boundaries(), self._watermarks.event_times
        since = self._starts.offsets(boundaries.kept_from, self._positions)
        partitions: dict[str, list[PartitionState]] = {}
        for at, position in sorted(self._positions.items()):
            left = PartitionState(at.partition, position, since[at], seen.get(at))
            partitions.setdefault(at.topic, []).append(left)
        return LeaderState(
            origins=self.identities, partitions=partitions, boundaries=boundaries, firing=self._firing
        )


async def _in_slices(records: Iterable[ConsumerRecord]) -> AsyncIterator[ConsumerRecord]:
    """Give the records one by one, and the event loop to others in between."""
    began = time.monotonic()
    for record in records:
        yield record
        if time.monotonic() - began > _SLICE_SECONDS:
            await asyncio.sleep(0)
            began = time.monotonic()
