"""Follows the topic `controls`: reads it to its end before the worker judges any answer, then keeps up."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import structlog
from aiokafka import ConsumerRecord

from scoring.policy import Policy
from streams.kafka.topic_follower import TopicFollower, TopicLost
from streams.kafka.topic_reader import TopicReader
from streams.observability.failures import InfrastructureFailure
from streams.observability.instruments import Instruments, LabelValues, MetricLabel
from streams.pause.pause_state import PauseEntry, PauseState, pause_scope, scope_labels

#: The topic has a few hundred short records at most: if reading takes longer, the broker cannot be reached.
_START_SECONDS: Final = 30.0

log = structlog.get_logger(__name__)


class PausesLost(InfrastructureFailure):
    """The pauses cannot be read, so the worker ends; its next start reads them or says why it cannot."""


class PauseFollower:
    """Keeps a pause state up to date with the topic.

    Args:
        pause_state: the state.
        topic: the full name.
        reader: a reader of the topic that nothing else uses.
    """

    def __init__(self, pause_state: PauseState, topic: str, reader: TopicReader) -> None:
        self._follower = TopicFollower(_LoggedPauses(pause_state), "the pauses", topic, reader)

    async def read_to_end(self) -> None:
        """Read the topic to its present end; raises PausesLost if it could not be read in time."""
        with _pauses_lost():
            await self._follower.read_to_end(_START_SECONDS)

    async def run(self) -> None:
        """Apply new records until cancelled, after :meth:`read_to_end`.

        Waits for brokers that cannot be reached: the pauses become unknown when they are too old. Raises
        PausesLost if the topic can no longer be read, was deleted, or was created again.
        """
        with _pauses_lost():
            await self._follower.run()


@contextmanager
def _pauses_lost() -> Iterator[None]:
    try:
        yield
    except TopicLost as lost:
        raise PausesLost(str(lost)) from lost


class _LoggedPauses:
    """Pauses that log what comes; at the end of the first reading, only what is in force then."""

    def __init__(self, pause_state: PauseState) -> None:
        self.freshness = pause_state.freshness
        self._state = pause_state
        self._is_read = False
        self._known = True

    def apply(self, records: Iterable[ConsumerRecord]) -> None:
        entries = self._state.apply(records)
        if self._is_read:
            for entry in entries:
                _log_entry(entry)

    def on_poll(self) -> None:
        if not self._is_read:
            for entry in self._state.active:
                _log_entry(entry)
        self._is_read = True
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
