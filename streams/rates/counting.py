"""The verdicts that a leader reads, counted: what is to be published of them, and what to show."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable

import structlog
from aiokafka import ConsumerRecord, TopicPartition

from schemas import Codec, DecodeError
from schemas.catalogue import VERDICT_OUTCOME
from streams.kafka.topic_identity import Origin
from streams.kafka.topic_reader import Offsets, place_of
from streams.rates.aggregator import RateAggregator, Taken
from streams.rates.outcomes import ClosedWindow, Outcome, outcome_of
from streams.rates.publication import Publication
from streams.rates.state import Lates, LeaderState, PartitionState, Resumption, records_of
from streams.rates.thresholds import ThresholdState, evaluate
from streams.rates.watermark import Watermarks
from streams.rates.windows import rate_rules
from streams.settings import Settings

log = structlog.get_logger(__name__)

#: The event loop fetches and sends too: counting keeps it for so long at most.
_SLICE_SECONDS = 0.005
_MS = 1_000

#: Told of each verdict that is new: its record, and what became of it; None for one that cannot be read.
OnVerdict = Callable[[ConsumerRecord, Taken | None], None]


class ReplayStarts:
    """Remembers of each horizon, of which there are few, the first offset in each partition.

    A horizon says how long a verdict matters: until the aggregator's ``kept_from`` has come to it.
    """

    def __init__(self) -> None:
        self._firsts: dict[int, dict[TopicPartition, int]] = {}

    def read(self, at: TopicPartition, offset: int, horizon: int) -> None:
        """Note a verdict; those of a partition come in the order of their offsets."""
        self._firsts.setdefault(horizon, {}).setdefault(at, offset)

    def since(self, kept_from: int, positions: Offsets) -> dict[TopicPartition, int]:
        """Give the offsets to replay from; the position itself where nothing before it matters any more.

        Horizons at or before ``kept_from`` are forgotten: it may only grow from call to call.
        """
        self._firsts = {horizon: firsts for horizon, firsts in self._firsts.items() if horizon > kept_from}
        return {
            at: min((firsts[at] for firsts in self._firsts.values() if at in firsts), default=position)
            for at, position in positions.items()
        }


class Counting:
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
        origins: tuple[Origin, ...],
        begin: Resumption,
        state: LeaderState | None,
        lates: Lates,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.origins = origins
        self.closed: tuple[ClosedWindow, ...] = ()
        self.threshold_states: tuple[ThresholdState, ...] = ()
        self._settings = settings
        self._codec = codec
        self._state = state
        self._longest = max(window.size_seconds for window in settings.rates.windows) * _MS
        self._aggregator = RateAggregator(rate_rules(settings.rates), begin.floor)
        places = state.places if state else {}
        self._watermarks = Watermarks(
            begin.positions,
            round(settings.rates.idle_after_seconds * _MS),
            self._longest,
            lambda: int(ticks() * _MS),
            state.boundaries.watermark if state else 0,
            {at: now.seen for at, now in places.items() if now.seen is not None},
        )
        self._starts = ReplayStarts()
        self._positions = dict(begin.positions)
        self._firing = state.firing if state else ()
        self._committed = None if state is None else self._positions
        self._lates = dict(lates)
        self._refused: set[str] = set()

    async def replay(self, records: Iterable[ConsumerRecord]) -> None:
        """Take in again what was counted before."""
        async for record in _in_slices(records):
            if outcome := await self._read(record):
                self._watermarks.appended(record.timestamp)
                self._add(record, outcome)

    def restore(self) -> None:
        """Go on as if never interrupted, once all is replayed."""
        if self._state:
            self._aggregator.restore(self._state.boundaries, self._lates)

    async def take(self, records: Iterable[ConsumerRecord], on_verdict: OnVerdict) -> None:
        """Take in what is new."""
        async for record in _in_slices(records):
            outcome = await self._read(record)
            taken = self._add(record, outcome) if outcome else None
            if outcome:
                self._watermarks.appended(record.timestamp)
                self._watermarks.seen(place_of(record), outcome.event_time)
            on_verdict(record, taken)

    def settle(self, positions: Offsets, at_end: Collection[TopicPartition]) -> None:
        """Note up to where all that was read is taken in, and which partitions have no more; move time on."""
        self._positions = dict(positions)
        for at in positions:
            self._watermarks.at_end(at, at in at_end)
        self._aggregator.advance(self._watermarks.value(), self._watermarks.of_events)

    def hurried(self) -> frozenset[TopicPartition]:
        """Give the partitions that are far ahead of others, which would fill the memory."""
        return frozenset(TopicPartition(*at) for at in self._watermarks.hurried(self._longest))

    def publication(self) -> Publication | None:
        """Give what is to be published, or None where nothing has come since the last one.

        It must be published before the next one, or nothing more: what changed is told once.
        """
        windows = self._aggregator.take_changes()
        self.closed = self._aggregator.closed_windows()
        evaluation = evaluate(self._settings.alerts.thresholds, self.closed, self._firing)
        self._firing, self.threshold_states = evaluation.firing, evaluation.states
        if not windows and not evaluation.changes and self._positions == self._committed:
            return None
        lates = self._aggregator.lates()
        records = tuple(records_of(self._leave(), lates, self._lates))
        self._committed, self._lates = self._positions, lates
        return Publication(windows, evaluation.changes, records)

    @property
    def watermark(self) -> int:
        """The time up to which windows are closed, in milliseconds since 1970; 0 before the first."""
        return self._aggregator.watermark

    async def _read(self, record: ConsumerRecord) -> Outcome | None:
        try:
            await self._codec.lookup(record.value)
            return outcome_of(self._codec.decode_part(record.value, VERDICT_OUTCOME), record.timestamp)
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

    def _add(self, record: ConsumerRecord, outcome: Outcome) -> Taken:
        # Also of one that is in no window: its id may be remembered.
        self._starts.read(place_of(record), record.offset, self._aggregator.horizon(outcome))
        return self._aggregator.add(outcome)

    def _leave(self) -> LeaderState:
        boundaries, seen = self._aggregator.boundaries(), self._watermarks.event_times
        since = self._starts.since(boundaries.kept_from, self._positions)
        partitions: dict[str, list[PartitionState]] = {}
        for at, position in sorted(self._positions.items()):
            left = PartitionState(at.partition, position, since[at], seen.get(at))
            partitions.setdefault(at.topic, []).append(left)
        return LeaderState(
            origins=self.origins, partitions=partitions, boundaries=boundaries, firing=self._firing
        )


async def _in_slices(records: Iterable[ConsumerRecord]) -> AsyncIterator[ConsumerRecord]:
    """Give the records one by one, and the event loop to others in between."""
    began = time.monotonic()
    for record in records:
        yield record
        if time.monotonic() - began > _SLICE_SECONDS:
            await asyncio.sleep(0)
            began = time.monotonic()
