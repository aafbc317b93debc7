"""Follows the topic `controls`: reads it to its end before the worker judges any answer, then keeps up."""

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

#: The topic has a few hundred short records at most: if reading takes longer, the broker cannot be reached.
_START_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.25
#: A topic that was deleted and created again is noticed after this time; its first records would be skipped.
_CHECK_SECONDS: Final = 10.0
#: A broker that has just started may not know a topic yet: so many checks in a row must miss it.
_MISSES: Final = 3

log = structlog.get_logger(__name__)


class PausesLost(InfrastructureFailure):
    """The pauses cannot be read, so the worker ends; its next start reads them or says why it cannot."""


class PauseFollower:
    """Keeps a pause state up to date with the topic.

    Args:
        pause_state: the state.
        topic: the full name.
        reader: a reader of the topic that nothing else uses.
        check_interval: seconds between checks of the topic's identity and partitions.
    """

    def __init__(
        self, pause_state: PauseState, topic: str, reader: TopicReader, check_interval: float = _CHECK_SECONDS
    ) -> None:
        self._state = pause_state
        self._topic = topic
        self._reader = reader
        self._check_interval = check_interval
        self._seen: TopicSnapshot | None = None
        self._added: TopicSnapshot | None = None
        self._known = True

    async def read_to_end(self) -> None:
        """Read the topic to its present end.

        Raises:
            PausesLost: the topic could not be read in time.
        """
        try:
            async with asyncio.timeout(_START_SECONDS):
                seen = await self._reader.snapshot()
                async for records in self._reader.read_between(seen.beginning_offsets, seen.end_offsets):
                    self._state.apply(records)
        except (KafkaError, ServiceUnreachable, TimeoutError) as error:
            raise self._lost(error) from error
        self._reader.read_from(seen.end_offsets)
        self._state.freshness.confirm(seen.taken_at)
        self._seen = seen
        for entry in self._state.active:
            _log_entry(entry)

    async def follow(self) -> None:
        """Apply new records until cancelled; to be called after :meth:`read_to_end`.

        Waits for brokers that cannot be reached: the state itself becomes unknown when it is too old.

        Raises:
            PausesLost: the topic can no longer be read.
        """
        try:
            while True:
                if added := self._added:
                    self._reader.read_from({**added.beginning_offsets, **self._reader.positions})
                    self._added = None
                records = await self._reader.poll(_POLL_SECONDS)
                for entry in self._state.apply(records):
                    _log_entry(entry)
                self._state.freshness.confirm(self._reader.caught_up_at())
                self._log_known_change()
        except (KafkaError, ServiceUnreachable) as error:
            raise self._lost(error) from error

    async def watch_topic(self) -> None:
        """Check at intervals that the topic is still the same one, until cancelled.

        Apart from :meth:`follow`, which must not wait for the replies to these requests.

        Raises:
            PausesLost: the topic was deleted, or created again.
        """
        misses, reachable = 0, True
        while True:
            await asyncio.sleep(self._check_interval)
            try:
                self._compare(await self._reader.snapshot())
                misses, reachable = 0, True
            except UnknownTopicOrPartitionError as error:
                misses += 1
                if misses >= _MISSES:
                    raise PausesLost(f"topic {self._topic} with the pauses was deleted") from error
            except (KafkaError, ServiceUnreachable) as error:
                if reachable:
                    log.warning("controls_topic_unreachable", error_type=type(error).__name__)
                reachable = False

    def _lost(self, error: Exception) -> PausesLost:
        # Of these messages only this one is known to contain nothing but addresses and names of settings.
        cause = str(error) if isinstance(error, ServiceUnreachable) else type(error).__name__
        return PausesLost(f"the pauses cannot be read from topic {self._topic}: {cause}")

    def _compare(self, seen: TopicSnapshot) -> None:
        assert self._seen is not None
        if not seen.is_same(self._seen.identities):
            raise PausesLost(f"topic {self._topic} was replaced by another of that name")
        if seen.end_offsets.keys() - self._reader.positions.keys():
            self._added = seen

    def _log_known_change(self) -> None:
        known = self._state.known
        if known and not self._known:
            log.info("pauses_known_again")
        elif self._known and not known:
            log.warning("pauses_unknown")
        self._known = known


def _log_entry(entry: PauseEntry) -> None:
    """Log a record without its reason: an operator's own words may quote a customer."""
    at, offset = entry.partition, entry.offset
    if entry.error:
        log.error("pause_unreadable", error_type=entry.error, partition=at, offset=offset)
        return
    if entry.record is None:
        log.warning("pause_removed", partition=at, offset=offset)
        return
    kind, language = scope_labels(pause_scope(entry.record))
    by = entry.record.by
    if entry.resumed:
        log.warning(
            "sending_resumed", message_type=kind, language=language, by=by, partition=at, offset=offset
        )
    else:
        log.warning(
            "sending_paused", message_type=kind, language=language, by=by, partition=at, offset=offset
        )


class PauseMetrics:
    """The metrics of pauses."""

    def __init__(self, instruments: Instruments) -> None:
        self._pauses = instruments.gauge(
            "truthgate.pauses",
            "1 for each pause in force, by operators or by the settings; the label `all` means any message "
            "type or language.",
            "`truthgate paused` shows who and why; `policy.pause`.",
            MetricLabel("message_type"),
            MetricLabel("language"),
            unit="{pause}",
        )
        self._known = instruments.gauge(
            "truthgate.pauses_known",
            "Whether the worker knows the pauses (1); if not (0), it sends nothing automatically.",
            "The log lines `pauses_unknown` and `pause_unreadable`; the brokers.",
        )

    def watch(self, policy: Policy, pause_state: PauseState) -> None:
        """Report the pauses of the policy and of operators."""

        def in_force() -> dict[LabelValues, float]:
            return {scope_labels(scope): 1 for scope in policy.paused_scopes | pause_state.pauses.scopes}

        self._pauses.set_labelled_function(in_force)
        self._known.set_function(lambda: pause_state.known)
