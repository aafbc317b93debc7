"""Follows the topic `controls`: to its end first, before any answer is judged."""

import asyncio
from typing import Final

import structlog
from aiokafka.errors import KafkaError, UnknownTopicOrPartitionError

from scoring.policy import Policy
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topic_reader import TopicReader, TopicSnapshot
from streams.observability.failures import InfrastructureFailure
from streams.observability.instruments import Instruments, LabelValues, MetricLabel
from streams.pause.pause_state import PauseEntry, PauseState, pause_scope, scope_labels

#: Hundreds of short records at most: who needs longer for them does not get through to the broker.
_START_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.25
#: Until it is noticed that the topic was made anew, whose first records would be passed over.
_LOOK_SECONDS: Final = 10.0
#: A broker that has just started may not know a topic yet: believed when seen so often.
_SIGHTINGS: Final = 3

log = structlog.get_logger(__name__)


class PausesLost(InfrastructureFailure):
    """The holds cannot be read, so nothing may be judged; a new start puts it right or says why not."""


class PauseFollower:
    """Keeps a board equal to the topic.

    Args:
        board: what it is written on.
        topic: the full name.
        reader: of the topic, used by this follower alone.
        look_interval: seconds between two looks at the topic's identity and partitions.
    """

    def __init__(
        self, pause_state: PauseState, topic: str, reader: TopicReader, look_interval: float = _LOOK_SECONDS
    ) -> None:
        self._board = pause_state
        self._topic = topic
        self._reader = reader
        self._look_interval = look_interval
        self._seen: TopicSnapshot | None = None
        self._added: TopicSnapshot | None = None
        self._known = True

    async def read_to_end(self) -> None:
        """Read all that the topic holds now.

        Raises:
            PausesLost: not all of it could be read in time.
        """
        try:
            async with asyncio.timeout(_START_SECONDS):
                seen = await self._reader.snapshot()
                async for records in self._reader.read_between(seen.beginning_offsets, seen.end_offsets):
                    self._board.apply(records)
        except (KafkaError, ServiceUnreachable, TimeoutError) as error:
            raise self._lost(error) from error
        self._reader.read_from(seen.end_offsets)
        self._board.confirm(seen.taken_at)
        self._seen = seen
        for entry in self._board.active:
            _log_entry(entry)

    async def follow(self) -> None:
        """Take in what comes, until cancelled; to be called after :meth:`read_to_end`.

        Brokers that are away are waited for: the board itself says when what it has is too old.

        Raises:
            PausesLost: the topic cannot be read any more.
        """
        try:
            while True:
                if added := self._added:
                    self._reader.read_from({**added.beginning_offsets, **self._reader.positions})
                    self._added = None
                records = await self._reader.poll(_POLL_SECONDS)
                for entry in self._board.apply(records):
                    _log_entry(entry)
                self._board.confirm(self._reader.caught_up_at())
                self._log_known_change()
        except (KafkaError, ServiceUnreachable) as error:
            raise self._lost(error) from error

    async def watch_topic(self) -> None:
        """Look again and again whether it is still the same topic, until cancelled.

        It is no part of :meth:`follow`, which must not wait for an answer to a question like this.

        Raises:
            PausesLost: it is another one, or gone.
        """
        times_gone, answered = 0, True
        while True:
            await asyncio.sleep(self._look_interval)
            try:
                self._compare(await self._reader.snapshot())
                times_gone, answered = 0, True
            except UnknownTopicOrPartitionError as error:
                times_gone += 1
                if times_gone >= _SIGHTINGS:
                    raise PausesLost(f"the holds on sending are gone with topic {self._topic}") from error
            except (KafkaError, ServiceUnreachable) as error:
                if answered:
                    log.warning("holds_topic_unreachable", error_type=type(error).__name__)
                answered = False

    def _lost(self, error: Exception) -> PausesLost:
        # Only this message is known to hold nothing but addresses and the names of settings.
        told = str(error) if isinstance(error, ServiceUnreachable) else type(error).__name__
        return PausesLost(f"the holds on sending cannot be read from topic {self._topic}: {told}")

    def _compare(self, seen: TopicSnapshot) -> None:
        assert self._seen is not None
        if not seen.is_same(self._seen.identities):
            raise PausesLost(f"topic {self._topic} was replaced by another of that name")
        if seen.end_offsets.keys() - self._reader.positions.keys():
            self._added = seen

    def _log_known_change(self) -> None:
        known = self._board.known
        if known and not self._known:
            log.info("holds_known_again")
        elif self._known and not known:
            log.warning("holds_unknown")
        self._known = known


def _log_entry(entry: PauseEntry) -> None:
    """Log what a record says, without its reason: an operator's own words may quote a customer."""
    at, offset = entry.partition, entry.offset
    if entry.error:
        log.error("hold_unreadable", error_type=entry.error, partition=at, offset=offset)
        return
    if entry.record is None:
        log.warning("hold_removed", partition=at, offset=offset)
        return
    kind, language = scope_labels(pause_scope(entry.record))
    by = entry.record.by
    if entry.resumed:
        log.warning(
            "sending_resumed", message_type=kind, language=language, by=by, partition=at, offset=offset
        )
    else:
        log.warning("sending_held", message_type=kind, language=language, by=by, partition=at, offset=offset)


class PauseMetrics:
    """The instruments of the holds."""

    def __init__(self, instruments: Instruments) -> None:
        self._holds = instruments.gauge(
            "truthgate.holds",
            "Holds on sending that are in force, of operators and of the settings: always 1; `all` is any "
            "message type or language.",
            "`truthgate holds` says who and why; `policy.hold`.",
            MetricLabel("message_type"),
            MetricLabel("language"),
            unit="{hold}",
        )
        self._known = instruments.gauge(
            "truthgate.holds_known",
            "Whether it is known what is held (1); where it is not (0), nothing is sent by itself.",
            "The log lines `holds_unknown` and `hold_unreadable`; the brokers.",
        )

    def watch(self, policy: Policy, pause_state: PauseState) -> None:
        """Show what is held by the policy itself and by what is on the board."""

        def held() -> dict[LabelValues, float]:
            return {scope_labels(scope): 1 for scope in policy.paused_scopes | pause_state.pauses.scopes}

        self._holds.set_labelled_function(held)
        self._known.set_function(lambda: pause_state.known)
