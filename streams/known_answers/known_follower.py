"""Follows the topic `known-answers`; while it cannot be read, nothing is known."""

import asyncio
import time
from contextlib import aclosing
from typing import Final

import structlog
from aiokafka.errors import KafkaError

from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topic_reader import TopicReader, open_reader
from streams.known_answers.known_state import KnownAnswers
from streams.observability.instruments import Instruments, MetricLabel
from streams.settings import KafkaSettings

log = structlog.get_logger(__name__)

_POLL_SECONDS: Final = 0.25
_RETRY_SECONDS: Final = 2.0
#: A topic that was deleted and created again is noticed after this time.
_CHECK_SECONDS: Final = 10.0


class KnownAnswersFollower:
    """Keeps known answers up to date with the topic, without a consumer group.

    Args:
        known: what is kept up to date.
        kafka: of the cluster.
        topic: the full name.
    """

    def __init__(self, known: KnownAnswers, kafka: KafkaSettings, topic: str) -> None:
        self._known = known
        self._kafka = kafka
        self._topic = topic
        self._was_current: bool | None = None

    async def run(self) -> None:
        """Follow until cancelled; whatever Kafka does, the worker goes on without known answers."""
        while True:
            try:
                # An open transaction in the topic must not hide that an answer was ended.
                async with open_reader(
                    self._kafka, self._topic, isolation_level="read_uncommitted"
                ) as reader:
                    await self._follow(reader)
            except (KafkaError, ServiceUnreachable) as error:
                if self._was_current is not False:
                    log.warning("known_answers_unknown", error_type=type(error).__name__)
                self._was_current = False
            self._known.forget()
            await asyncio.sleep(_RETRY_SECONDS)

    async def _follow(self, reader: TopicReader) -> None:
        """Read from the beginning and go on, until the topic is another one."""
        seen = await reader.snapshot()
        async with aclosing(reader.read_between(seen.beginning_offsets, seen.end_offsets)) as batches:
            async for records in batches:
                self._known.apply(records)
        self._known.freshness.confirm(seen.taken_at)
        reader.read_from(seen.end_offsets)
        next_check = time.monotonic() + _CHECK_SECONDS
        while True:
            self._known.apply(await reader.poll(_POLL_SECONDS))
            self._known.freshness.confirm(reader.caught_up_at())
            self._log_change()
            if time.monotonic() >= next_check:
                now, next_check = await reader.snapshot(), time.monotonic() + _CHECK_SECONDS
                if not now.is_same(seen.identities) or now.end_offsets.keys() != seen.end_offsets.keys():
                    log.warning("known_answers_topic_replaced")
                    return

    def _log_change(self) -> None:
        current = self._known.freshness.is_current
        if current and not self._was_current:
            log.info("known_answers_read", answers=sum(self._known.counts().values()))
        elif not current and self._was_current:
            log.warning("known_answers_outdated")
        self._was_current = current


class KnownAnswerMetrics:
    """The metrics of known answers."""

    def __init__(self, instruments: Instruments) -> None:
        self._answers = instruments.gauge(
            "truthgate.known_answers",
            "Answers about which persons decided, by state; `unreadable` counts records since the start.",
            "`unreadable` above 0: the log line `known_answer_unreadable`, and who may write to the topic.",
            MetricLabel("state"),
            unit="{answer}",
        )
        self._current = instruments.gauge(
            "truthgate.known_answers_current",
            "Whether the worker has read the known answers to their end in the last ten seconds (1); if not "
            "(0), it uses none.",
            "The log lines `known_answers_unknown` and `known_answers_outdated`; the brokers.",
        )

    def watch(self, known: KnownAnswers) -> None:
        """Show what is known, whenever it is asked."""
        self._answers.set_labelled_function(
            lambda: {(state,): n for state, n in {**known.counts(), "unreadable": known.unreadable}.items()}
        )
        self._current.set_function(lambda: known.freshness.is_current)
